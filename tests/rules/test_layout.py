"""Rules as arrays, the paths of trees, the rows that rules answer, and rules as sentences."""

import pickle
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import rules as naive
from strategies import examples, interpreted_only

from dtnumba import DecisionListClassifier, DecisionTreeClassifier, ID3Classifier, RuleSetClassifier, export
from dtnumba.rules import layout
from dtnumba.rules.layout import LEVELS, OUTSIDE, RANGE, Condition, body_of, check, merged, pack_rules
from dtnumba.rules.matching import answers_of, blocks_of
from dtnumba.tables.table import read_table

pytestmark = pytest.mark.small

BOUNDS = [-np.inf, -1.0, 0.0, 0.5, 2.0, np.inf]


def random_body(rng, n_features):
    """Draw tests: of numbers on the even columns, of levels on the odd ones."""
    body = []
    for j in rng.integers(0, n_features, rng.integers(0, 4)).tolist():
        missing = bool(rng.random() < 0.3)
        if j % 2:
            levels = tuple(np.flatnonzero(rng.random(70) < 0.5).tolist())
            body.append(Condition(j, LEVELS, levels=levels, missing=missing))
            continue
        low, high = (BOUNDS[i] for i in rng.integers(0, len(BOUNDS), 2))
        low = np.nan if rng.random() < 0.3 else low
        kind = OUTSIDE if rng.random() < 0.2 and low <= high else RANGE
        body.append(Condition(j, kind, low, high, missing=missing))
    return body


def random_rules(rng, n_rules, n_features=4, n_classes=3):
    bodies = [random_body(rng, n_features) for _ in range(n_rules)]
    label, ones = rng.integers(0, n_classes, n_rules), np.ones(n_rules)
    numbers = {"covered": ones, "correct": ones, "confidence": rng.random(n_rules), "lift": ones}
    numbers |= {"decided": np.ones((n_rules + 1, n_classes)), "prior": np.ones(n_classes) / n_classes}
    return bodies, check(pack_rules(bodies, label, 1, numbers), n_features)


def random_rows(rng, n_rows):
    X = rng.choice([*BOUNDS, np.nan, -0.5, 1.0], (n_rows, 4))
    X[:, 1::2] = rng.choice([*range(72), np.nan], (n_rows, 2))
    return X


@given(st.integers(0, 2**32 - 1))
@examples(40)
def test_rows_are_answered_as_by_asking_the_rules_one_by_one(seed):
    rng = np.random.default_rng(seed)
    bodies, rules = random_rules(rng, int(rng.choice([0, 1, 7, 64, 65])))
    X = random_rows(rng, 30)
    table = read_table(X, "rows")
    answer, totals = answers_of(table, rules, blocks_of(rules), 1, votes=True)
    alone, _ = answers_of(table, rules, blocks_of(rules), 2)
    assert answer.tolist() == alone.tolist() == [naive.answer(bodies, row) for row in X]
    expected = [naive.votes(bodies, rules.label, rules.confidence, row, 3) for row in X]
    assert totals == pytest.approx(np.array(expected))


def test_more_rules_than_a_block_are_asked_in_order():
    rng = np.random.default_rng(0)
    bodies, rules = random_rules(rng, 1100)
    bodies = [[Condition(0, RANGE, np.inf, -np.inf)] if r < 1090 else body for r, body in enumerate(bodies)]
    rules = pack_rules(
        bodies, rules.label.astype(np.int64), 1, {name: getattr(rules, name) for name in rules._fields[3:-2]}
    )
    X = random_rows(rng, 50)
    answer, _ = answers_of(read_table(X, "rows"), rules, blocks_of(rules), 1)
    assert answer.tolist() == [naive.answer(bodies, row) for row in X]
    assert answer.max() > 1090


@given(st.integers(0, 2**32 - 1))
@examples(60)
def test_merged_tests_hold_where_all_of_them_do(seed):
    rng = np.random.default_rng(seed)
    body, rows = random_body(rng, 4), random_rows(rng, 20)
    short = merged(body)
    assert len(short) <= len(body)
    for row in rows:
        assert naive.answer([body], row) == naive.answer([short], row)
        assert all(layout.holds(one, row[[one.feature]])[0] == naive.passes(one, row[one.feature]) for one in body)


def sample(seed, n=60):
    rng = np.random.default_rng(seed)
    X = np.stack([rng.normal(size=n).round(1), rng.integers(0, 5, n), rng.normal(size=n), rng.integers(0, 2, n)], 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[rng.random(X.shape) < 0.02] = np.inf
    return X, rng.integers(0, 3, n)


GROWN = [
    {"missing": "majority"},
    {"missing": "branch", "categorical_split": "multiway"},
    {"categorical_split": "one_vs_rest"},
    {"numeric_split": "interval", "missing": "majority"},
    {"numeric_split": "multiway", "missing": "majority"},
    {"missing": "surrogate", "max_surrogates": 0, "use_surrogate": 0},
    {"max_leaf_nodes": 1 + 1},
]


@pytest.mark.parametrize("options", [{}, *(pytest.param(one, marks=interpreted_only) for one in GROWN)], ids=str)
def test_rules_of_a_tree_say_what_it_says_of_every_row(options):
    X, y = sample(0)
    tree = DecisionTreeClassifier(categorical_features=[1], max_depth=6, **options).fit(X, y)
    others = sample(1, 200)[0]
    others[::7, 1] = 9.0  # a level not seen
    rules = tree.to_rules()
    assert rules.n_rules_ >= tree.n_leaves_
    for rows in (X, others):
        assert rules.predict(rows).tolist() == tree.predict(rows).tolist()
        assert rules.predict_proba(rows) == pytest.approx(tree.predict_proba(rows))


@given(st.integers(0, 2**32 - 1))
@examples(15)
def test_rules_of_any_unpruned_tree_say_what_it_says(seed):
    X, y = sample(seed)
    tree = DecisionTreeClassifier(categorical_features=[1]).fit(X, y)
    rows = sample(seed + 1, 100)[0]
    assert tree.to_rules().predict(rows).tolist() == tree.predict(rows).tolist()


@interpreted_only
def test_rules_of_a_fractional_tree_say_what_it_says_of_whole_rows():
    X, y = sample(3)
    tree = DecisionTreeClassifier(categorical_features=[1], missing="fractional", categorical_split="multiway").fit(
        X, y
    )
    whole = ~np.isnan(X).any(axis=1)
    assert tree.to_rules().predict(X[whole]).tolist() == tree.predict(X[whole]).tolist()


@interpreted_only
def test_a_tree_of_costs_says_its_cheapest_class():
    X, y = sample(4)
    costs = [[0, 1, 1], [9, 0, 9], [1, 1, 0]]
    tree = DecisionTreeClassifier(max_depth=2, costs=costs).fit(X, y)
    assert tree.to_rules().predict(X).tolist() == tree.predict(X).tolist()


def test_a_list_made_of_rules_says_what_they_say():
    X, y = sample(5)
    tree = DecisionTreeClassifier(max_depth=4, categorical_features=[1]).fit(X, y)
    made = DecisionListClassifier.from_rules(tree.to_rules())
    assert made.predict(X).tolist() == tree.predict(X).tolist()
    assert 1 <= made.max_tests <= 4


# Sentences


@interpreted_only
def test_rules_are_sentences():
    X = [["sun", 1.0], ["rain", 2.0], ["fog", 3.0], ["rain", 9.0]]
    tree = DecisionTreeClassifier(categorical_split="one_vs_rest", missing="fractional").fit(
        X, ["go", "stay", "go", "stay"]
    )
    assert export.rules(tree) == tree.to_rules().to_text()
    assert str(tree.to_rules().rules_).splitlines() == [
        "if x0 is rain then stay [covers 2, correct 2, confidence 0.5, lift 1]",
        "if x0 is not rain then go [covers 2, correct 2, confidence 0.5, lift 1]",
        "otherwise go",
    ]


def test_a_rule_carries_what_it_is_worth():
    X, y = sample(6)
    made = RuleSetClassifier(select=None).from_tree(
        DecisionTreeClassifier(max_depth=2, categorical_features=[1]).fit(X, y), X, y
    )
    rule = made.rules_[0]
    is_in = made.apply(X) == 0
    assert rule.covered == is_in.sum()
    assert rule.correct == (is_in & (y == rule.label)).sum()
    assert rule.lift == pytest.approx(rule.confidence / np.mean(y == rule.label))
    assert 0 < rule.confidence < rule.correct / rule.covered
    assert [str(one) for one in made.rules_] == made.to_text().splitlines()[:-1]
    assert made.rules_[-1] == made.rules_[len(made.rules_) - 1]
    with pytest.raises(IndexError, match="there is no rule 99"):
        made.rules_[99]


NAMES = ["age", "petal width (cm)", "is", "kind"]
LEVELS_OF = {"kind": ["a", "b b", 'c"d', "3", "and"], "petal width (cm)": [1.5, 2.0]}


def said(test):
    """Return a test as its sentence says it: of no value but missing ones, whatever its upper end."""
    return test._replace(high=-np.inf) if test.kind == RANGE and test.low == np.inf and test.missing else test


@given(st.integers(0, 2**32 - 1))
@examples(60)
def test_a_text_read_again_is_the_same_text(seed):
    rng = np.random.default_rng(seed)
    bodies, rules = random_rules(rng, 5)
    whole = RuleSetClassifier.from_text(
        "otherwise 0\n", feature_names=NAMES, classes=[0, "no", 1.5], categories=LEVELS_OF
    )
    bodies = [
        [one._replace(levels=tuple(k for k in one.levels if k < len(whole.categories_[one.feature]))) for one in body]
        if all(one.kind == LEVELS for one in body) or all(one.feature % 2 == 0 for one in body)
        else [one for one in body if one.feature % 2 == 0]
        for body in bodies
    ]
    numbers = {name: getattr(rules, name) for name in rules._fields[3:-2]}
    packed = pack_rules(bodies, rules.label.astype(np.int64), 1, numbers)
    view = type(whole.rules_)(packed, np.array(NAMES, object), whole.categories_, whole.classes_, 4)
    text = "\n".join(view.lines(digits=None))
    again = whole.from_text(text)
    assert again.to_text(None).splitlines() == text.splitlines()
    for r in range(packed.n_rules):
        assert str(body_of(again.rules_.arrays, r)) == str([said(one) for one in body_of(packed, r)])
    assert again.rules_.arrays.confidence.tolist() == packed.confidence.tolist()


@interpreted_only
def test_a_text_may_be_edited():
    X = [[0.0, 5.0], [0.0, 6.0], [1.0, 5.0], [1.0, 6.0]]
    made = RuleSetClassifier(select=None).fit(X * 3, ["no", "no", "no", "yes"] * 3)
    assert made.predict([[1.0, 5.0]]).tolist() == ["no"]
    made.from_text("# mine\n\nif x1 > 5.1 and x0 > 0.5 then yes\notherwise no")
    assert made.predict([[1.0, 5.2], [0.0, 5.2]]).tolist() == ["yes", "no"]
    assert made.predict_proba([[1.0, 5.2]]).tolist() == [[0.0, 1.0]]


def test_all_levels_of_a_column_are_what_is_known():
    """A rule of every level says so in words, and is read again as levels, or as bounds where these are used."""
    X = np.array([["a"], ["b"], ["c"], [None]] * 5, object)
    tree = DecisionTreeClassifier(max_depth=1).fit(X, ["yes", "yes", "yes", "no"] * 5)
    made = tree.to_rules()
    text = made.to_text(None)
    assert text.startswith("if x0 is known then yes [")
    assert made.from_text(text).to_text(None) == text
    assert made.predict([["b"], [None], ["c"]]).tolist() == ["yes", "no", "yes"]
    mixed = "if x0 is known and x0 <= b then no\nif x0 is missing then yes\notherwise yes"
    made.from_text(mixed)
    assert made.predict(X[:4]).tolist() == ["no", "no", "yes", "yes"]
    made.from_text("if x0 is known and x0 in {a, b} then no\nif x0 is missing then yes\notherwise yes")
    assert made.predict(X[:4]).tolist() == ["no", "no", "yes", "yes"]


def test_a_text_alone_is_a_model():
    pd = pytest.importorskip("pandas")
    text = 'if "a b" in {x, y} and n <= 2 then True\nif n is missing then False\notherwise False'
    levels = {"a b": ["x", "y", "z"]}
    made = RuleSetClassifier.from_text(text, feature_names=["a b", "n"], categories=levels)
    assert made.classes_.tolist() == [False, True]
    rows = pd.DataFrame({"a b": ["x", "z", "y"], "n": [1.0, 1.0, None]})
    assert made.predict(rows).tolist() == [True, False, False]
    assert made.apply(rows).tolist() == [0, 2, 1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no line says what answers"),
        ("if x0 <= 1 then a", "no line says what answers"),
        ("wenn x0 <= 1 then a\notherwise a", "line 1, 'wenn x0 <= 1 then a': 'if' should stand where 'wenn' does"),
        ("otherwise a\nif x0 <= 1 then b", "line 2, .*after 'otherwise'"),
        ("if x9 <= 1 then a\notherwise a", "there is no column 'x9'; the columns are 'x0', 'x1'"),
        ("if x0 <= much then a\notherwise a", "much is no number to compare 'x0' with"),
        ("if x0 <= nan then a\notherwise a", "nan is no number"),
        ("if x0 = 1 then a\notherwise a", "'= 1 then a' cannot be read"),
        ("if x0 is red then a\notherwise a", "'x0' is a column of numbers"),
        ("if x1 is blue then a\notherwise a", "blue is no level of 'x1'; its levels are red, green"),
        ("if x1 in {red green} then a\notherwise a", "',' should stand where 'green' does"),
        ("if x0 <= 1 a\notherwise a", "'then' should stand"),
        ("if x0 <= 1 then c\notherwise a", "c is none of the classes a, b"),
        ("if x0 <= 1 then\notherwise a", "it ends too early"),
        ("if x0 then a\notherwise a", "'then' after 'x0' is no test"),
        ("if x0 <= 1 then a b\notherwise a", "'b' is one word too many"),
        ("if x0 <= 1 then a [confidence 2]\notherwise a", "confidence 2 is not what brackets hold"),
        ("if x0 <= 1 then a [weight 2]\notherwise a", "weight 2 is not what brackets hold"),
        ("if x1 is red then a\nif x1 <= 1 then b\notherwise a", "'x1' is compared with bounds in one rule"),
        (7, "text=7: must be a str"),
        (r'if "\q" is red then a' + "\notherwise a", r'line 1, .*"\\q" is no text in quotes'),
        ("if x0 <= 1 then a [covers 1e308]\notherwise a", "covers 1e308 is not what brackets hold"),
    ],
)
def test_nonsense_is_told_apart_by_line_and_reason(text, said):
    made = RuleSetClassifier.from_text(
        "otherwise a", feature_names=2, classes=["a", "b"], categories={"x1": ["red", "green"]}
    )
    with pytest.raises((ValueError, TypeError), match=said):
        made.from_text(text)
    assert made.to_text() == "otherwise a\n"


def test_a_text_needs_columns():
    with pytest.raises(ValueError, match="feature_names=None: a text does not say"):
        RuleSetClassifier.from_text("otherwise a")
    with pytest.raises(ValueError, match="feature_names=0: a table has at least one column"):
        RuleSetClassifier.from_text("otherwise a", feature_names=0)
    with pytest.raises(ValueError, match="must be different names"):
        RuleSetClassifier.from_text("otherwise a", feature_names=["a", "a"])
    with pytest.raises(ValueError, match="'z' is none of the columns"):
        RuleSetClassifier.from_text("otherwise a", feature_names=1, categories={"z": [1]})
    with pytest.raises(TypeError, match=r"categories=.*must be a dict"):
        RuleSetClassifier.from_text("otherwise a", feature_names=1, categories=["x0"])
    with pytest.raises(TypeError, match="classes=3: must be the labels"):
        RuleSetClassifier.from_text("otherwise a", feature_names=1, classes=3)
    with pytest.raises(ValueError, match="written alike"):
        RuleSetClassifier.from_text("otherwise a", feature_names=1, classes=[date(2020, 1, 1), "2020-01-01"])


def test_a_model_is_small_and_pickles():
    X, y = sample(7)
    made = DecisionTreeClassifier(categorical_features=[1]).fit(X, y).to_rules()
    twin = pickle.loads(pickle.dumps(made))  # noqa: S301  our own bytes
    assert twin.predict(X).tolist() == made.predict(X).tolist()
    assert len(pickle.dumps(made)) < 6000 + 150 * len(made.rules_.arrays.tests.feature)
    assert "_blocks" not in str(twin.rules_.__reduce__())


@interpreted_only
def test_trees_of_other_kinds_are_refused():
    X, y = sample(8)
    with pytest.raises(ValueError, match="2 outputs"):
        DecisionTreeClassifier().fit(X, np.stack([y, y], axis=1)).to_rules()
    with pytest.raises(ValueError, match="compact"):
        DecisionTreeClassifier().fit(X, y).compact().to_rules()
    with pytest.raises(TypeError, match="must be a fitted tree that says classes"):
        export.rules(3)
    with pytest.raises(TypeError, match="must be a fitted RuleSetClassifier"):
        DecisionListClassifier.from_rules(DecisionTreeClassifier().fit(X, y))


def test_rows_that_end_above_the_leaves_are_counted_once():
    X = np.array([["a", "p"], ["a", "q"], ["b", "p"]], object)
    tree = ID3Classifier().fit(X, [0, 1, 1])
    made = tree.to_rules()
    assert made.n_rules_ > tree.n_leaves_  # missing values end at inner nodes
    assert sum(rule.covered for rule in made.rules_) == 3
    assert {rule.covered for rule in made.rules_ if "missing" in rule.text} == {0.0}
    rows = [["a", None], [None, None], ["b", "q"]]
    np.testing.assert_allclose(made.predict_proba(rows), tree.predict_proba(rows))


def test_a_leaf_without_rows_says_the_same_as_a_rule():
    X = np.array([["a", "p"], ["a", "q"], ["a", "q"], ["b", "r"], ["b", "p"]], object)
    tree = ID3Classifier(require_gain=False).fit(X, [0, 1, 1, 0, 1])
    rows = [[first, second] for first in "ab" for second in "pqr"]
    np.testing.assert_allclose(tree.to_rules().predict_proba(rows), tree.predict_proba(rows))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"select": "chi2"}, "select says how to simplify rules"),
        ({"min_significance": 0.1}, "min_significance says"),
        ({"X": [[0.0], [1.0]]}, "pass both X and y"),
        ({"sample_weight": [1.0, 1.0]}, "pass both X and y"),
    ],
)
def test_what_rules_as_they_are_would_ignore_is_an_error(given, said):
    tree = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match=said):
        tree.to_rules(**given)
