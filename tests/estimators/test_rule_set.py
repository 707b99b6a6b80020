"""Rule sets: what the original program answered, each step against its definition, and bad input."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import rules as naive
from strategies import examples, interpreted_only

from dtnumba import DecisionListClassifier, DecisionTreeClassifier, NotFittedError, RuleSetClassifier
from dtnumba.estimators.bases import fit
from dtnumba.rules.exact_test import chi2_tail, fisher_tail
from dtnumba.rules.layout import LEVELS, Condition
from dtnumba.rules.order import Answers, TrainingRows, by_class, default_class, without_harm
from dtnumba.rules.row_bits import deletions_of, row_bits, unpacked_rows
from dtnumba.rules.select_subset import covers_of, shortest_subsets
from dtnumba.rules.simplify import Sample, rule_bits
from dtnumba.tables import binned_table, table
from dtnumba.tables.table import read_table

pytestmark = pytest.mark.small
GOLF = """s85,85,f,N s80,90,t,N o83,78,f,P r70,96,f,P r68,80,f,P r65,70,t,N o64,65,t,P s72,95,f,N s69,70,f,P r75,80,f,P
s75,70,t,P o72,90,t,P o81,75,f,P r71,80,t,N"""


def golf():
    """Quinlan's golf table; classes 0 (play) and 1, as his files order them."""
    rows = [entry.split(",") for entry in GOLF.split()]
    outlook = {"s": "sunny", "o": "overcast", "r": "rain"}
    X = np.array([[outlook[a[0]], float(a[1:]), float(b), c] for a, b, c, _ in rows], object)
    return X, [int(row[3] == "N") for row in rows]


def disjunction():
    X = np.array(list(itertools.product((0, 1), repeat=4)))
    return X, (X[:, 0] & X[:, 1]) | (X[:, 2] & X[:, 3])


def percents(model):
    return (100 * model.rules_.arrays.confidence).round(1).tolist()


@interpreted_only
def test_golf_has_the_rules_of_c45():
    X, y = golf()
    made = RuleSetClassifier(random_state=0).fit(X, y)
    assert [line.partition(" [")[0] for line in made.rules_.lines()] == [
        "if x0 is overcast then 0",
        "if x0 is rain and x3 is f then 0",
        "if x0 is sunny and x2 > 75.0 then 1",
        "if x0 is rain and x3 is t then 1",
        "otherwise 0",
    ]
    assert percents(made) == [70.7, 63.0, 63.0, 50.0]
    assert made.score(X, y) == 1.0


@interpreted_only
def test_iris_has_the_rules_of_c45():
    datasets = pytest.importorskip("sklearn.datasets")
    X, y = datasets.load_iris(return_X_y=True)
    made = RuleSetClassifier(random_state=0).fit(X, y)
    arrays = made.rules_.arrays
    assert [rule.label for rule in made.rules_] == [0, 1, 2, 2]
    assert percents(made) == [97.3, 94.6, 94.4, 91.8]
    assert arrays.covered.tolist() == [50, 48, 46, 46]
    assert made.rules_.default == 0
    assert (made.predict(X) != y).sum() == 4


def test_the_replicated_subtree_is_cured():
    """x1 x2 or x3 x4 needs six tests as a tree and two rules of two."""
    X, y = disjunction()
    tree = DecisionTreeClassifier(criterion="gain_ratio").fit(X, y)
    assert RuleSetClassifier().from_tree(tree, X, y).n_rules_ == 6
    made = tree.to_rules(X, y, min_significance=0.1)
    assert [line.partition(" [")[0] for line in made.rules_.lines()] == [
        "if x2 > 0.5 and x3 > 0.5 then 1",
        "if x0 > 0.5 and x1 > 0.5 then 1",
        "otherwise 0",
    ]
    assert made.score(X, y) == 1.0


def test_tails_of_two_by_two_tables():
    assert fisher_tail([2, 1], [2, 9], [2, 11], [0, 3]) == pytest.approx([0.4, 0.0013797], rel=1e-4)
    assert fisher_tail([0, 5, 0], [0, 0, 3], [0, 0, 4], [0, 7, 1]) == pytest.approx([1.0, 1.0, 5 / 70])
    assert chi2_tail(10, 90, 110, 30) == pytest.approx(math.erfc(math.sqrt(109.7143 / 2)), rel=1e-3)
    assert chi2_tail([30, 2], [10, 2], [20, 2], [40, 0]) == pytest.approx([1.0, 0.4])


@given(st.integers(0, 2**32 - 1))
@examples(40)
def test_fisher_sums_the_chances_of_tables_as_extreme(seed):
    a, b, c, d = np.random.default_rng(seed).integers(0, 9, 4).tolist()
    ways = [math.comb(a + b, k) * math.comb(c + d, a + c - k) for k in range(min(a, a + c) + 1) if a + c - k <= c + d]
    assert fisher_tail(a, b, c, d) == pytest.approx(sum(ways) / math.comb(a + b + c + d, a + c))


def random_problem(seed, n_rules, n=40, k=3):
    rng = np.random.default_rng(seed)
    X, code = rng.integers(0, 3, (n, 4)).astype(float), rng.integers(0, k, n)
    X[rng.random(X.shape) < 0.1] = np.nan
    tests = [Condition(j, 0, low, high) for j in range(4) for low, high in ((np.nan, 0.5), (0.5, 1.5), (1.5, np.inf))]
    bodies = [tuple(rng.choice(len(tests), rng.integers(1, 4), replace=False).tolist()) for _ in range(n_rules)]
    return X, code, tests, bodies, np.sort(rng.integers(0, k, n_rules))


@given(st.integers(0, 2**32 - 1), st.booleans())
@examples(25)
def test_a_pass_counts_what_each_deletion_would_cover(seed, has_weights):
    X, code, tests, bodies, label = random_problem(seed, 6, n=70)
    weight = np.random.default_rng(seed).integers(0, 3, len(X)).astype(float) if has_weights else None
    counted = np.ones(len(X)) if weight is None else weight
    bits = row_bits(read_table(X, "rows"), tests, code, 3, weight)
    start = np.cumsum([0, *map(len, bodies)])
    found = deletions_of(bits, start, np.concatenate(bodies), label, 2)
    for r, body in enumerate(bodies):
        for i in range(-1, len(body)):
            rest = [t for at, t in enumerate(body) if at != i]
            is_in = np.array([all(naive.passes(tests[t], row[tests[t].feature]) for t in rest) for row in X])
            wrong = is_in & (code != label[r])
            more = (found.more[start[r] + i], found.more_wrong[start[r] + i]) if i >= 0 else (0.0, 0.0)
            assert found.covered[r] + more[0] == counted[is_in].sum()
            assert found.wrong[r] + more[1] == counted[wrong].sum()


def covers_by_definition(X, tests, bodies):
    return np.array(
        [[all(naive.passes(tests[t], row[tests[t].feature]) for t in body) for row in X] for body in bodies]
    ).reshape(len(bodies), len(X))


@given(st.integers(0, 2**32 - 1))
@examples(15)
def test_of_few_rules_the_subset_of_fewest_bits_is_kept(seed):
    X, code, tests, bodies, label = random_problem(seed, 10)
    is_in = covers_by_definition(X, tests, bodies)
    bits = np.random.default_rng(seed).random(10) * 8
    covers = covers_of([np.flatnonzero(row) for row in is_in], label, code, np.ones(len(X)), 3)
    kept = shortest_subsets(covers, bits, seed, 1)
    for k in range(3):
        own = np.flatnonzero(label == k)
        chosen = [at for at, r in enumerate(own) if kept[r]]
        found = naive.subset_bits(is_in[own], bits[own], code == k, chosen)
        assert found == pytest.approx(naive.shortest_subset(is_in[own], bits[own], code == k), abs=1e-6)


def test_of_many_rules_no_single_change_saves_bits():
    X, code, tests, bodies, label = random_problem(1, 40, n=90, k=2)
    is_in, bits = covers_by_definition(X, tests, bodies), np.random.default_rng(1).random(40) * 4
    covers = covers_of([np.flatnonzero(row) for row in is_in], label, code, np.ones(len(X)), 2)
    kept = shortest_subsets(covers, bits, 7, 2)
    assert kept.tolist() == shortest_subsets(covers, bits, 7, 1).tolist()
    for k in range(2):
        own = np.flatnonzero(label == k)
        assert len(own) > 10
        chosen = {at for at, r in enumerate(own) if kept[r]}
        now = naive.subset_bits(is_in[own], bits[own], code == k, sorted(chosen))
        for r in range(len(own)):
            assert naive.subset_bits(is_in[own], bits[own], code == k, sorted(chosen ^ {r})) >= now - 1e-6


def test_bits_of_a_rule():
    X = np.array([["a", 1.0], ["a", 2.0], ["b", 3.0], ["c", 4.0]], object)
    read = RuleSetClassifier.from_text("otherwise 0", feature_names=2, categories={"x0": ["a", "b", "c"]})
    table = read_table(X, "rows", None)
    assert read.n_features_in_ == table.n_features
    tests = [Condition(0, LEVELS, levels=(0,)), Condition(0, LEVELS, levels=(0, 1)), Condition(1, 0, 1.5)]
    found = rule_bits([(0,), (1,), (0, 2)], tests, Sample(table, np.zeros(4, int), None, 1))
    entropy, number = 1.5, 1 + 0.5 * math.log2(4)
    share = entropy / (entropy + number)
    column = -(share * math.log2(share) + (1 - share) * math.log2(1 - share))
    assert found == pytest.approx([column + entropy, column + 3, 2 * column + entropy + number])


def test_classes_come_by_false_positives_and_rules_by_error():
    code = np.array([0, 0, 1, 1, 1, 2])
    known = TrainingRows(code, np.ones(6), 3)
    covered = [np.array([0, 1, 2]), np.array([2, 3]), np.array([2, 4, 5]), np.array([5])]
    label, error = np.array([0, 1, 1, 2]), np.array([0.3, 0.2, 0.1, 0.1])
    assert by_class(covered, label, error, known).tolist() == [3, 2, 1, 0]
    assert default_class(covered[1:], known) == 0
    assert default_class(covered, known) == 1  # none is left: the commonest


@given(st.integers(0, 2**32 - 1), st.booleans())
@examples(25)
def test_rules_that_harm_go_one_at_a_time(seed, keeps_ties):
    X, code, tests, bodies, label = random_problem(seed, 8)
    is_in = covers_by_definition(X, tests, bodies)
    covered = [np.flatnonzero(row) for row in is_in]
    kept = without_harm(covered, label, 0, TrainingRows(code, np.ones(len(X)), 3), keeps_ties=keeps_ties)

    def right(rules):
        first = [next((label[r] for r in rules if is_in[r, row]), 0) for row in range(len(X))]
        return sum(first == code)

    rules = list(range(8))
    while rules:
        gains = [right([s for s in rules if s != r]) - right(rules) for r in rules]
        if max(gains) < 0 or (keeps_ties and max(gains) <= 0):
            break
        at = gains.index(max(gains)) if keeps_ties else len(gains) - 1 - gains[::-1].index(max(gains))
        del rules[at]
    assert kept.tolist() == rules


def test_who_answers_when_a_rule_is_gone():
    answers = Answers([np.array([0, 2]), np.array([0, 1]), np.array([0])], 4)
    assert answers.first.tolist() == [0, 1, 0, 3]
    assert answers.second.tolist() == [1, 3, 3, 3]
    answers.drop(1)
    assert answers.first.tolist() == [0, 3, 0, 3]
    assert answers.second.tolist() == [2, 3, 3, 3]


def noisy(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    y = np.where(X[:, 0] > 0, "a", np.where(X[:, 1] > 0.3, "b", "c"))
    y[rng.random(n) < 0.1] = "c"
    X[rng.random(X.shape) < 0.03] = np.nan
    return X, y


@pytest.mark.parametrize("select", ["mdl", "chi2", "fisher", None])
@pytest.mark.parametrize("resolve", ["order", "confidence"])
def test_every_way_of_making_rules_learns(select, resolve):
    X, y = noisy()
    model = RuleSetClassifier(select=select, resolve=resolve, random_state=1)
    tree = DecisionTreeClassifier(min_samples_leaf=2).fit(X, y)
    assert model.from_tree(tree, X, y) is model
    test_X, test_y = noisy(seed=1)
    assert model.score(test_X, test_y) > 0.75
    shares = model.predict_proba(test_X)
    assert shares.sum(axis=1) == pytest.approx(np.ones(300))
    assert (shares >= 0).all()
    if resolve == "confidence":
        is_answered = model.apply(test_X) < model.n_rules_
        assert (model.classes_[shares.argmax(axis=1)] == model.predict(test_X))[is_answered].all()
    if select is not None:
        assert model.n_rules_ < tree.to_rules().n_rules_ / 2
    assert np.isnan(X).any()


def test_the_same_seed_and_any_threads_give_the_same_rules():
    X, y = noisy()
    tree = DecisionTreeClassifier(min_samples_leaf=2).fit(X, y)
    texts = {RuleSetClassifier(random_state=5, n_jobs=n).from_tree(tree, X, y).to_text(None) for n in (1, 2)}
    assert len(texts) == 1


@interpreted_only
def noisy_rows():
    rng = np.random.default_rng(5)
    X = rng.integers(0, 4, (120, 4)).astype(float)
    y = np.where(rng.random(120) < 0.15, rng.integers(0, 3, 120), (X[:, 0] > 1) + (X[:, 1] > 2))
    return X, y, rng.choice([1.0, 2.0, 1.5], 120)


RULES_OF_WEIGHTED_ROWS = {
    "mdl": lambda X, y, w: RuleSetClassifier(random_state=0).fit(X, y, w),
    "chi2": lambda X, y, w: RuleSetClassifier(select="chi2").fit(X, y, w),
    "paths": lambda X, y, w: RuleSetClassifier(select=None).fit(X, y, w),
    "to_rules": lambda X, y, w: DecisionTreeClassifier(max_depth=4).fit(X, y, w).to_rules(),
    "simplified": lambda X, y, w: DecisionTreeClassifier().fit(X, y, w).to_rules(X, y, w, random_state=0),
    "list": lambda X, y, w: DecisionListClassifier(max_tests=1).fit(X, y, w),
}


@interpreted_only
@pytest.mark.parametrize("way", RULES_OF_WEIGHTED_ROWS)
@pytest.mark.parametrize("unit", [1e-2, 0.1, 7.3, 1e40])
def test_rules_do_not_hang_on_the_unit_of_weights(way, unit):
    """Weights that are no whole numbers tell how rows compare; a tenth is no tenth of a row."""
    X, y, weight = noisy_rows()
    make = RULES_OF_WEIGHTED_ROWS[way]
    made, other = make(X, y, weight), make(X, y, weight * unit)
    digits = 3 if way == "to_rules" else None  # the weights of a tree's nodes are rounded, as fine as their sum allows
    assert made.n_rules_ > 0
    assert other.to_text(digits) == made.to_text(digits)
    assert other.from_text(other.to_text(None)).to_text(None) == other.to_text(None)
    assert make(X[::-1], y[::-1], weight[::-1] * unit).to_text(digits) == made.to_text(digits)


@interpreted_only
@pytest.mark.parametrize("way", RULES_OF_WEIGHTED_ROWS)
def test_equal_weights_are_none_and_whole_ones_are_rows(way):
    X, y, _ = noisy_rows()
    make = RULES_OF_WEIGHTED_ROWS[way]
    plain = make(X, y, None).to_text(None)
    assert make(X, y, np.full(len(X), 0.1)).to_text(3) == make(X, y, None).to_text(3)
    assert make(X, y, np.ones(len(X))).to_text(None) == plain
    twice = make(np.repeat(X, 2, axis=0), np.repeat(y, 2), None).to_text(None)
    assert make(X, y, np.full(len(X), 2.0)).to_text(None) == twice


@interpreted_only
def test_rules_of_less_than_a_row_are_read_back():
    X = np.arange(40.0)[:, None]
    y = np.arange(40) // 4 % 2
    weight = np.where(np.arange(40) < 20, 1e-3, 1.9)
    made = DecisionTreeClassifier(max_leaf_nodes=8).fit(X, y, weight).to_rules()
    assert made.rules_.arrays.confidence.min() >= 0.0
    assert made.from_text(made.to_text(None)).to_text(None) == made.to_text(None)


def test_rows_of_weight_two_count_as_two_and_of_none_not_at_all():
    X, y = noisy(120)
    weight = np.random.default_rng(2).integers(0, 3, len(X))
    tree = DecisionTreeClassifier(min_samples_leaf=3).fit(X, y)
    rows = np.repeat(np.arange(len(X)), weight)
    made = tree.to_rules(X, y, weight, random_state=0)
    # the distinct values of a column, which a rule's bits read, are those of rows that count
    twin = tree.to_rules(X[rows], y[rows], random_state=0)
    assert made.to_text() == twin.to_text()


@interpreted_only
@pytest.mark.parametrize(("fitted", "asked"), [("f8", "f4"), ("f4", "f8"), ("f8", "f2"), ("f8 f8", "f8 f4")])
def test_rows_of_another_float_are_answered_alike(fitted, asked):
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 5, (300, 2)).round(1)
    y = (X[:, 0] > 2.3) & (X[:, 1] > 3.7)

    def typed(types):
        if " " not in types:
            return X.astype(types)
        pd = pytest.importorskip("pandas")
        return pd.DataFrame({name: x.astype(each) for name, x, each in zip("ab", X.T, types.split(), strict=True)})

    model = RuleSetClassifier().fit(typed(fitted), y)
    assert model.score(typed(fitted), y) == model.score(typed(asked), y) == 1.0


@interpreted_only
def test_one_class_is_a_rule_for_everything():
    made = RuleSetClassifier().fit([[1.0], [2.0], [3.0]], ["only"] * 3)
    assert made.to_text() == "otherwise only\n"
    assert made.predict([[9.0]]).tolist() == ["only"]
    assert made.predict_proba([[9.0]]).tolist() == [[1.0]]


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"confidence": 0}, "'confidence' parameter of RuleSetClassifier must be a float in the range"),
        ({"select": "bic"}, "'select' parameter of RuleSetClassifier must be a str among"),
        ({"resolve": "vote"}, "'resolve' parameter of RuleSetClassifier must be a str among"),
        ({"min_significance": 1.0}, "'min_significance' parameter"),
    ],
)
def test_parameters_are_checked(parameters, said):
    with pytest.raises(ValueError, match=said):
        RuleSetClassifier(**parameters).fit(*disjunction())


def test_bad_input_leaves_a_model_as_it_was():
    X, y = disjunction()
    tree = DecisionTreeClassifier().fit(X, y)
    made = tree.to_rules(X, y)
    before = made.to_text()
    with pytest.raises(ValueError, match="2 outputs"):
        made.from_tree(tree, X, np.stack([y, y], axis=1))
    with pytest.raises(ValueError, match="labels that the model has not seen"):
        made.from_tree(tree, X, y + 1)
    with pytest.raises(ValueError, match="expecting 4 features"):
        made.from_tree(tree, X[:, :2], y)
    with pytest.raises(TypeError, match="must be a fitted classifier of one tree"):
        made.from_tree(3, X, y)
    with pytest.raises(NotFittedError):
        RuleSetClassifier().from_tree(DecisionTreeClassifier(), X, y)
    with pytest.raises(ValueError, match="outputs"):
        made.fit(X, np.stack([y, y], axis=1))
    assert made.to_text() == before


def test_bits_come_back_as_rows():
    X, code, tests, _, _ = random_problem(0, 2, n=65)
    bits = row_bits(read_table(X, "rows"), tests, code, 3, None)
    rows = unpacked_rows(bits.tests, 65)
    assert rows.tolist() == [[naive.passes(test, row[test.feature]) for row in X] for test in tests]
    assert unpacked_rows(bits.classes, 65).sum() == 65


@pytest.mark.parametrize("model", [RuleSetClassifier, DecisionListClassifier])
def test_a_table_is_read_once(model, monkeypatch):
    X, y = golf()
    read, calls = table.read_table, []

    def counted(*args, **kwargs):
        calls.append(args)
        return read(*args, **kwargs)

    for module in (binned_table, fit, table):
        monkeypatch.setattr(module, "read_table", counted)
    model().fit(X, y)
    assert len(calls) == 1
