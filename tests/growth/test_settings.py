"""Parameters of growth together: what is legal equals the definition at every node, the others are a clear error."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import multiway as naive_general
from naive.binary import CLASS_CRITERIA, NUMBER_CRITERIA, Limits
from strategies import interpreted_only

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestClassifier, RandomForestRegressor
from dtnumba.growth.settings import CATEGORICAL_SPLITS, MISSING_POLICIES, NUMERIC_SPLITS, Options
from dtnumba.trees.check import check

# Each combination is a kernel of its own, which takes up to a minute to compile; other tests show one a mechanism.
pytestmark = [pytest.mark.small, interpreted_only]
NAN = math.nan


@st.composite
def combinations(draw):
    """Parameters of growth, legal or not, and a table of categories and numbers."""
    criterion = draw(st.sampled_from(sorted(CLASS_CRITERIA | NUMBER_CRITERIA)))
    options = {
        "missing": draw(st.sampled_from(sorted(MISSING_POLICIES))),
        "categorical_split": draw(st.sampled_from(sorted(CATEGORICAL_SPLITS))),
        "numeric_split": draw(st.sampled_from(sorted(NUMERIC_SPLITS))),
    }
    growth = {
        "max_bins": draw(st.sampled_from([None, 255])),
        "max_leaf_nodes": draw(st.sampled_from([None, 1000])),  # best first, with room for every leaf
        "min_samples_leaf": draw(st.sampled_from([1, 1, 2])),
    }
    asked = draw(st.sampled_from([{}, {}, {}, {"splitter": "random"}, {"monotonic_cst": [0, 1]}, "groups"]))
    growth |= {"interaction_cst": [[0], [1]]} if asked == "groups" else asked
    is_forest = draw(st.booleans()) and "splitter" not in growth
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    n, holes = int(rng.integers(4, 20)), rng.choice([0.0, 0.25])
    X = rng.integers(0, 5, (n, 2)).astype(float)
    X[rng.random(X.shape) < holes] = NAN
    known = ~np.isnan(X[:, 0])
    X[known, 0] = np.unique(X[known, 0], return_inverse=True)[1]
    y = rng.integers(0, 2 if "monotonic_cst" in growth else 3, n).astype(float)
    y[:2] = 0, 1
    return criterion, options, growth, is_forest, X, y, rng.choice([1.0, 2.0], n)


def objections(criterion, options, growth, X):
    """What an error may say of the combination; nothing where it is legal."""
    is_plain, several = Options(**options).are_plain, "multiway" in options.values()
    if not is_plain and growth.keys() & {"monotonic_cst", "interaction_cst"}:
        yield "is kept by growth in two-way tests"
    if not is_plain and "splitter" in growth:
        yield "splitter='random' draws thresholds"
    if not is_plain and criterion == "absolute_error":
        yield "looks at the order of the targets"
    if options["missing"] == "surrogate" and several:
        yield "stands in for a test of two children"
    if options["numeric_split"] == "multiway" and criterion in NUMBER_CRITERIA:
        yield "makes ranges by the description length"
    if options["missing"] == "error" and np.isnan(X).any():
        yield "missing='error': row"


@settings(max_examples=120)
@given(combinations())
def test_a_combination_equals_the_definition_or_is_refused(given_fit):
    criterion, options, growth, is_forest, X, y, weight = given_fit
    classes = criterion in CLASS_CRITERIA
    if is_forest:
        grow = RandomForestClassifier if classes else RandomForestRegressor
        growth = growth | {"n_estimators": 1, "bootstrap": False, "max_features": None}
    else:
        grow = DecisionTreeClassifier if classes else DecisionTreeRegressor
    model = grow(criterion=criterion, categorical_features=[0], n_jobs=1, random_state=0, **options, **growth)
    said = list(objections(criterion, options, growth, X))
    if said:
        with pytest.raises(ValueError, match="|".join(said)):
            model.fit(X, y, sample_weight=weight)
        return
    trees = check(model.fit(X, y, sample_weight=weight).trees_, 2)
    if criterion == "mdl" or growth.keys() & {"splitter", "monotonic_cst", "interaction_cst"}:
        return  # held against definitions of their own, in other tests
    own = np.unique(y, return_inverse=True)[1] if classes else y
    n_classes, least = (len(np.unique(y)),) if classes else (), growth["min_samples_leaf"]
    # The order of categories holds the best subset where nothing forbids it.
    best = least == 1 or options["categorical_split"] != "subset"
    # The cut of rows that have a value is chosen before the others become a child: with these two that is a choice.
    best &= options["missing"] != "branch" or criterion not in {"twoing", "chi2"}
    bounds, asked = Limits(min_samples_split=max(2, 2 * least), min_samples_leaf=least), options | SURROGATES
    nominal = np.array([True, False])
    naive_general.audit(trees, criterion, X, own[:, None], weight, n_classes, asked, nominal, bounds, best=best)


SURROGATES = {name: getattr(Options, name) for name in ("use_surrogate", "surrogate_style", "max_surrogates")}
