"""Both searches find what looking at all trees finds, and a tree that loses so much."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import optimal as naive
from strategies import compiled_where, interpreted_only

from dtnumba.growth.optimal.bits.job import bit_job, bit_kernels
from dtnumba.growth.optimal.known_sets import always_lost
from dtnumba.growth.optimal.losses import absolute
from dtnumba.growth.optimal.losses.absolute import AbsoluteLost
from dtnumba.growth.optimal.losses.labels import LabelCosts, ManyErrors, TwoErrors
from dtnumba.growth.optimal.losses.message import MessageLength
from dtnumba.growth.optimal.losses.spreads import EntropyLost, ManyGini, SquaresLost, TwoGini, WideGini
from dtnumba.growth.optimal.ordered.job import sorted_job, sorted_kernels
from dtnumba.growth.optimal.ordered.two_levels import TWO_COLUMN
from dtnumba.growth.optimal.rule import ALL_TESTS, ENDED, GO_ON, S_BEST, S_BOUND, TreeRule
from dtnumba.runtime.addresses import call_entry, entry_of
from dtnumba.runtime.kernels import COMPILED

NONE = np.zeros(0)
FAR = 1 << 58


@st.composite
def problems(draw, most_code):
    """Draw codes, classes, weights and a rule, small enough to look at all trees."""
    n, p = draw(st.integers(1, 14)), draw(st.integers(1, 3))
    n_classes = draw(st.integers(2, 2 if COMPILED else 4))  # more are kernels of their own
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    codes = rng.integers(0, draw(st.integers(1, most_code)) + 1, (n, p))
    y, weight = rng.integers(0, n_classes, n), rng.integers(1, draw(st.sampled_from([2, 5])), n)
    depth = draw(st.integers(0, 3))
    most = draw(st.one_of(st.just((1 << depth) - 1), st.integers(0, (1 << depth) - 1)))
    least, price = draw(st.sampled_from([1, 1, 2, 3])), draw(st.sampled_from([0, 0, 1, 2]))
    return codes, y, weight, n_classes, TreeRule(depth, most, least, price, 0.0, NONE), rng


def loss_kind(kind, y, weight, n_classes, rng):
    """Return the kernels' loss, its units, what rows add, and the naive one."""
    values = np.zeros((len(y), n_classes), np.int64)
    values[np.arange(len(y)), y] = weight
    if kind == "error":
        loss = TwoErrors(1.0) if n_classes == 2 else ManyErrors(1.0)
        return loss, 1.0, values, naive.class_loss(y, weight, n_classes, "error")
    if kind == "costs":
        costs = rng.integers(0, 4, (n_classes, n_classes)) * (1 - np.eye(n_classes, dtype=np.int64))
        return LabelCosts(1.0), 1.0, costs[y] * weight[:, None], naive.class_loss(y, weight, n_classes, "error", costs)
    unit = 2.0**-30
    if kind == "gini":
        gini = TwoGini if n_classes == 2 else ManyGini
        return gini(unit, 1.0), unit, values, naive.class_loss(y, weight, n_classes, kind)
    if kind == "entropy":
        table = tabled(lambda x: x * np.log2(max(x, 1)), weight.sum(), unit)
        loss = EntropyLost(unit, 1.0, table, table, n_classes)
        return loss, unit, values, naive.class_loss(y, weight, n_classes, kind)
    target = rng.integers(-9, 10, len(y))
    values = np.stack([weight, weight * target, weight * target**2], axis=1).astype(np.int64)
    return SquaresLost(unit, 1.0, 1.0, 1.0), unit, values, naive.number_loss(target, weight, "squared_error")


def distances(weight, rng):
    """Return distances from medians, what rows add, the naive loss, what they lose at most, and their targets."""
    target, label = np.unique(rng.integers(-9, 10, len(weight)), return_inverse=True)
    slow = naive.number_loss(target[label], weight, "absolute_error")
    values = np.stack([weight, 0 * weight, 0 * weight], axis=1).astype(np.int64)
    worst = weight * np.maximum(target[label] - target[0], target[-1] - target[label])
    return AbsoluteLost(1.0, target), values, slow, worst, label


def ready(job, kernels):
    """Return a job that knows where the solver of two levels is, and its search."""
    two, search = kernels(job)
    job = job._replace(two_at=entry_of(two))
    return job, search._replace(record=job)


def tabled(f, most, unit):
    return np.array([round(f(x) / unit) for x in range(int(most) + 1)], np.int64)


KINDS = ["error", "costs", "gini", "entropy", "squared_error"]
UNCOMPILED = [("gini", True), ("entropy", True), *((kind, False) for kind in KINDS)]
EXAMPLES = settings(max_examples=60, deadline=None)


def assert_best(codes, rule, job, unit, slow, price, tests):
    """The search finds what looking at all trees finds, and a tree that loses so much."""
    job, code = ready(job, sorted_kernels)
    call_entry(code, FAR, ALL_TESTS, FAR)
    expected = naive.best_loss(np.ones(len(codes), bool), tests, slow, rule.depth, rule.most, rule.least, price)
    assert abs(int(job.levels.state[0, S_BEST]) * unit - expected) < 1e-6
    if callable(price):  # of a column and a code, in place of a test's number
        numbers = [(j, c) for j in range(codes.shape[1]) for c in np.unique(codes[:, j])[:-1]]
        of_number, columns = price, codes.T

        def price(test, rows, spent):
            wanted = columns[test[0]] > test[1]
            k = next(k for k, (j, c) in enumerate(numbers) if j == test[0] and (wanted == (columns[j] > c)).all())
            return of_number(k, rows, spent)

    found, sizes = naive.loss_of_tree(job.levels.best[0].tolist(), codes, slow, price)
    assert abs(found - expected) < 1e-6
    assert len(sizes) - 1 <= rule.most
    assert len(sizes) == 1 or min(sizes) >= rule.least


@pytest.mark.parametrize("kind", compiled_where(KINDS, ("error",)))
@EXAMPLES
@given(problem=problems(4), wide=st.booleans())
def test_sorted_columns(kind, problem, wide):
    codes, y, weight, n_classes, rule, rng = problem
    loss, unit, values, slow = loss_kind(kind, y, weight, n_classes, rng)
    worst = weight if kind == "error" else NONE
    wide = wide and not COMPILED  # kernels of their own, which take seconds each
    if wide and kind in {"error", "costs"}:  # sums of 64 bits
        unit, values, worst = 2.0**-40, values << 40, np.asarray(worst, np.int64) << 40
    elif wide and kind in {"gini", "entropy"}:  # sums that are no small whole numbers
        none = np.zeros(0, np.int64)
        values, weight = values << 32, 2.0**-32
        many = TwoGini(unit, weight) if n_classes == 2 else WideGini(unit, weight)
        loss = many if kind == "gini" else EntropyLost(unit, weight, none, none, n_classes)
    scaled = rule._replace(price=round(rule.price / unit))
    job = sorted_job(np.ascontiguousarray(codes.T).astype(np.int32), values, loss, scaled, worst)
    assert_best(codes, rule, job, unit, slow, rule.price, naive.divisions_of_codes(codes))


@interpreted_only
@EXAMPLES
@given(problem=problems(4))
def test_distances_from_the_median(problem):
    codes, _, weight, _, rule, rng = problem
    loss, values, slow, worst, label = distances(weight, rng)
    columns = np.ascontiguousarray(codes.T).astype(np.int32)
    job = sorted_job(columns, values, loss, rule, worst, label)
    assert_best(codes, rule, job, 1.0, slow, rule.price, naive.divisions_of_codes(codes))


@interpreted_only
@pytest.mark.parametrize("whole", [True, False])
@EXAMPLES
@given(problem=problems(4))
def test_bits_of_a_message(whole, problem):
    """Prices of tests differ by column and by what is spent above; leaves are told by tables, or one by one."""
    codes, y, weight, n_classes, rule, rng = problem
    unit, p, none = 2.0**-30, codes.shape[1], np.zeros(0, np.int64)
    cuts = np.maximum(np.array([len(np.unique(column)) - 1 for column in codes.T]), 1)
    levels = np.where(rng.random(p) < 0.3, cuts + 1, 0)
    bits = 1 + np.log2(np.maximum(p - np.arange(4), 1))[:, None] + np.where(levels, 0, np.log2(cuts))
    factorials = np.concatenate([[0], np.cumsum(np.log2(np.arange(1, weight.sum() + 1)))])
    of_class = np.rint(factorials / unit).astype(np.int64)
    x = np.arange(weight.sum() + 1)
    of_size = of_class + np.rint((2 + np.log2((x + 1) // 2 + 1)) / unit).astype(np.int64)
    if not whole:
        of_class = none
    if not whole or n_classes > 2:
        of_size = none
    single = ((cuts == 1) & (levels == 0)).astype(np.int64)
    price = np.rint(bits / unit).astype(np.int64)
    loss = MessageLength(unit, 1.0, of_size, of_class, n_classes, price, levels.astype(np.int64), single)
    values = np.column_stack([(y[:, None] == np.arange(n_classes)) * weight[:, None], np.ones(len(y), np.int64)])
    job = sorted_job(
        np.ascontiguousarray(codes.T).astype(np.int32), values, loss, rule._replace(price=int(price.min())), NONE, y
    )
    column = [j for j in range(p) for _ in np.unique(codes[:, j])[:-1]]
    slow = naive.class_loss(y, weight, n_classes, "mdl")
    prices = naive.price_of_test(column, cuts.tolist(), levels.tolist(), p)
    assert_best(codes, rule, job, unit, slow, prices, naive.divisions_of_codes(codes))


@pytest.mark.parametrize(
    ("kind", "counted"),
    [("error", True), *(pytest.param(*one, marks=interpreted_only) for one in UNCOMPILED)],
)
@EXAMPLES
@given(problem=problems(1))
def test_bits(kind, counted, problem):
    codes, y, weight, n_classes, rule, rng = problem
    loss, unit, values, slow = loss_kind(kind, y, weight, n_classes, rng)
    rows, tests = np.ones(len(codes), bool), naive.divisions_of_codes(codes)
    expected = naive.best_loss(rows, tests, slow, rule.depth, rule.most, rule.least, rule.price)
    groups, worst = None, NONE
    if counted:
        group = y * 5 + weight
        groups = group, np.arange(n_classes * 5) // 5, np.arange(n_classes * 5) % 5
        worst = groups[2] if kind == "error" and rule.least == 1 else NONE
    ones = codes.sum(axis=0)
    kept = np.flatnonzero((ones >= rule.least) & (len(codes) - ones >= rule.least))
    scaled = rule._replace(price=int(rule.price / unit))
    job = bit_job(codes[:, kept].T.astype(np.uint8), groups, values, loss, scaled, worst, 64)
    job, code = ready(job, bit_kernels)
    upper = FAR
    for budget in (0, 1, ALL_TESTS):
        with np.errstate(over="ignore"):  # as kernels do
            call_entry(code, upper, budget, FAR)
        upper = min(upper, int(job.frames.state[0, S_BEST]))
        if upper == job.frames.state[0, S_BEST]:
            tree = job.frames.best[0].tolist()
    assert abs(upper * unit - expected) < 1e-6
    tree = [(int(kept[k]) if k >= 0 else -1, 0) for k in tree]
    found, sizes = naive.loss_of_tree(tree, codes, slow, rule.price)
    assert abs(found - expected) < 1e-6
    assert len(sizes) - 1 <= rule.most
    assert len(sizes) == 1 or min(sizes) >= rule.least


@interpreted_only  # compiled kernels take arrays alone, and no flag that counts
@pytest.mark.parametrize("kind", ["bits", "error", "distances"])
@settings(max_examples=40, deadline=None)
@given(problem=problems(3), after=st.integers(0, 60))
def test_a_halted_search_has_a_tree_and_a_bound(kind, problem, after):
    """A search that is halted anywhere: its tree loses what it says, and the bound is not above the best."""
    codes, y, weight, n_classes, rule, rng = problem
    bits, codes = kind == "bits", np.minimum(codes, 1) if kind == "bits" else codes
    loss, _, values, slow = loss_kind("error", y, weight, n_classes, rng)
    worst, label = weight, None
    if kind == "distances":
        loss, values, slow, worst, label = distances(weight, rng)
    rows, tests = np.ones(len(codes), bool), naive.divisions_of_codes(codes)
    expected = naive.best_loss(rows, tests, slow, rule.depth, rule.most, rule.least, rule.price)

    class Halt:
        """A flag that is set after so many looks."""

        looks = 0

        def __getitem__(self, k):
            self.looks += 1
            return int(self.looks > after)

    kept = np.arange(codes.shape[1])
    if bits:
        ones = codes.sum(axis=0)
        kept = np.flatnonzero((ones >= rule.least) & (len(codes) - ones >= rule.least))
        job, code = ready(bit_job(codes[:, kept].T.astype(np.uint8), None, values, loss, rule, NONE, 64), bit_kernels)
        state, best = job.frames.state, job.frames.best
    else:
        job, code = ready(sorted_job(codes.T.astype(np.int32), values, loss, rule, worst, label), sorted_kernels)
        state, best = job.levels.state, job.levels.best
    job = job._replace(halt=Halt())
    if not bits:
        job = job._replace(lanes=job.lanes._replace(halt=job.halt))
    with np.errstate(over="ignore"):
        status = code.function(job, FAR, ALL_TESTS, FAR)
    upper = int(state[0, S_BEST])
    if upper < FAR:
        tree = [(int(kept[k]) if k >= 0 else -1, 0) for k in best[0]] if bits else best[0].tolist()
        found, _ = naive.loss_of_tree(tree, codes, slow, rule.price)
        assert abs(found - upper) < 1e-6
    if status == 0:
        assert upper == expected
    elif min(rule.depth, rule.most) > 2:
        assert state[0, S_BOUND] <= expected


@interpreted_only
@pytest.mark.parametrize("halted_at", [1, 2, 9, 30, 70, 150, 400, 700])
@pytest.mark.parametrize("budget", [0, ALL_TESTS])
@pytest.mark.parametrize("depth", [2, 3, 4])
def test_a_halted_search_follows_medians_no_further(monkeypatch, depth, budget, halted_at):
    """Each pass along the rows may take long: at most those of one cut follow, and those of what is to be written."""
    rng = np.random.default_rng(depth)
    codes, weight = rng.integers(0, 20, (60, 8)), np.ones(60, np.int64)
    loss, values, _, worst, label = distances(weight, rng)
    rule = TreeRule(depth, (1 << depth) - 1, 1, 0, 0.0, NONE)
    follow, followed = absolute._follow, 0
    job, code = ready(sorted_job(codes.T.astype(np.int32), values, loss, rule, worst, label), sorted_kernels)

    def count(*given):
        nonlocal followed
        followed += 1
        if followed >= halted_at:
            job.halt[0] = 1
        return follow(*given)

    monkeypatch.setattr(absolute, "_follow", count)
    call_entry(code, FAR, budget, FAR)
    is_written = depth == 2 and job.levels.two[TWO_COLUMN] >= 0
    assert job.halt[0] == 1
    assert followed <= halted_at + 6 + is_written * (3 + 2 * 4 * codes.shape[1])


@interpreted_only
@pytest.mark.parametrize("bits", [True, False])
@settings(max_examples=40, deadline=None)
@given(problem=problems(3), each=st.integers(1, 9))
def test_a_search_goes_on_where_it_ended(bits, problem, each):
    """A search that ends after every few sets of rows finds in the end what one in one go finds."""
    codes, y, weight, n_classes, rule, rng = problem
    codes = np.minimum(codes, 1) if bits else codes
    loss, _, values, slow = loss_kind("error", y, weight, n_classes, rng)
    rows, tests = np.ones(len(codes), bool), naive.divisions_of_codes(codes)
    expected = naive.best_loss(rows, tests, slow, rule.depth, rule.most, rule.least, rule.price)
    if min(rule.depth, rule.most) <= 2:
        return  # two levels are solved in one go
    if bits:
        ones = codes.sum(axis=0)
        kept = np.flatnonzero((ones >= rule.least) & (len(codes) - ones >= rule.least))
        job, code = ready(bit_job(codes[:, kept].T.astype(np.uint8), None, values, loss, rule, NONE, 64), bit_kernels)
        state, explored = job.frames.state, job.frames.explored
    else:
        job, code = ready(sorted_job(codes.T.astype(np.int32), values, loss, rule, weight), sorted_kernels)
        state, explored = job.levels.state, job.levels.explored
    best, budget = FAR, ALL_TESTS
    while True:
        with np.errstate(over="ignore"):
            ended = call_entry(code, best, budget, int(explored[0]) + each) == ENDED
        best, budget = min(best, int(state[0, S_BEST])), GO_ON
        if ended:
            break
        assert state[0, S_BOUND] <= expected <= best
    assert best == expected


@interpreted_only
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**31), each=st.integers(1, 9), least=st.sampled_from([1, 2]))
def test_a_deep_search_goes_on_where_it_ended(seed, each, least):
    """Ended within a test of the root, it goes on with the sides of that test, whatever was looked at for a bound."""
    rng = np.random.default_rng(seed)
    codes, y = rng.integers(0, 2, (25, 5)), rng.integers(0, 2, 25)
    rule = TreeRule(4, 15, least, 0, 0.0, NONE)
    ones = codes.sum(axis=0)
    kept = np.flatnonzero((ones >= least) & (25 - ones >= least))
    group = y, np.arange(2), np.ones(2, np.int64)
    values, worst = np.eye(2, dtype=np.int64)[y], np.ones(2, np.int64) if least == 1 else NONE
    columns, found = codes[:, kept].T.astype(np.uint8), []
    for more in (FAR, each):
        job, code = ready(bit_job(columns, group, values, TwoErrors(1.0), rule, worst, 64), bit_kernels)
        best, budget, tree, is_over = FAR, ALL_TESTS, [], False
        while not is_over:
            with np.errstate(over="ignore"):
                is_over = call_entry(code, best, budget, int(job.frames.explored[0]) + more) == ENDED
            if job.frames.state[0, S_BEST] < best:
                best, tree = int(job.frames.state[0, S_BEST]), job.frames.best[0].tolist()
            found.append(best if is_over else int(job.frames.state[0, S_BOUND]))
            budget = GO_ON
        lost, sizes = naive.loss_of_tree(
            [(int(kept[k]) if k >= 0 else -1, 0) for k in tree], codes, naive.class_loss(y, np.ones(25), 2, "error")
        )
        assert lost == best
        assert min(sizes) >= least
    assert found[0] == found[-1] == max(found)


@settings(max_examples=40, deadline=None)
@given(problem=problems(1), kind=st.sampled_from(["error", "costs", "gini", "squared_error"]))
def test_rows_that_no_test_parts_bound_what_a_set_loses(problem, kind):
    codes, y, weight, n_classes, rule, rng = problem
    loss, unit, values, slow = loss_kind(kind, y, weight, n_classes, rng)
    group = (y * 5 + weight, np.arange(n_classes * 5) // 5, np.arange(n_classes * 5) % 5) if kind == "error" else None
    deep = rule._replace(depth=3, most=7, least=1)
    job = bit_job(codes.T.astype(np.uint8), group, values, loss, deep, NONE, 64)
    alike = {mask.tobytes(): mask for mask in ((codes == row).all(axis=1) for row in codes)}
    expected = sum(slow(mask) for mask in alike.values())
    found = always_lost(job.known, job.rows.valid[0]) if len(job.known.alike) else 0
    assert abs(found * unit - expected) < 1e-6


@interpreted_only
@settings(max_examples=60, deadline=None)
@given(problem=problems(3), kind=st.sampled_from(KINDS), sets=st.integers(0, 20))
def test_a_halted_sorted_search_knows_of_rows_that_no_test_parts(problem, kind, sets):
    codes, y, weight, n_classes, rule, rng = problem
    loss, unit, values, slow = loss_kind(kind, y, weight, n_classes, rng)
    deep = rule._replace(depth=3, most=7, price=0)
    job = sorted_job(codes.T.astype(np.int32), values, loss, deep, weight if kind == "error" else NONE)
    alike = {mask.tobytes(): mask for mask in ((codes == row).all(axis=1) for row in codes)}
    lost = sum(slow(mask) for mask in alike.values())
    assert abs(job.rows.lost.sum() * unit - lost) < 1e-6
    job, code = ready(job, sorted_kernels)
    call_entry(code, FAR, ALL_TESTS, sets)
    expected = naive.best_loss(np.ones(len(codes), bool), naive.divisions_of_codes(codes), slow, 3, 7, deep.least)
    low, high = int(job.levels.state[0, S_BOUND]) * unit, int(job.levels.state[0, S_BEST]) * unit
    assert min(lost, high) - 1e-6 <= low or sets > job.levels.explored[0]
    assert low <= expected + 1e-6
