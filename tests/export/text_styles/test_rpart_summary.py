"""What R 4 prints by summary() of its tree of kyphosis, but for the call, competing splits and counts of no value."""

import re

import numpy as np
import pytest
from public_data import NAMES, as_rpart, kyphosis

from dtnumba import DecisionTreeRegressor, RandomForestClassifier, export
from dtnumba.pruners import CostComplexity

HEAD = """\
  n= 81 

          CP nsplit rel error
1 0.17647059      0 1.0000000
2 0.01960784      1 0.8235294
3 0.01000000      4 0.7647059

Variable importance
 Start    Age Number 
    64     24     12 

Node number 1: 81 observations,    complexity param=0.1764706
  predicted class=absent   expected loss=0.2098765  P(node) =1
    class counts:    64    17
   probabilities: 0.790 0.210 
  left son=2 (62 obs) right son=3 (19 obs)
  Primary splits:
      Start < 8.5  to the right, improve=6.76233
  Surrogate splits:
      Number < 6.5  to the left,  agree=0.802, adj=0.158

Node number 2: 62 observations,    complexity param=0.01960784
  predicted class=absent   expected loss=0.09677419  P(node) =0.7654321
    class counts:    56     6
   probabilities: 0.903 0.097 
  left son=4 (29 obs) right son=5 (33 obs)
  Primary splits:
      Start < 14.5 to the right, improve=1.020528
  Surrogate splits:
      Number < 3.5  to the left,  agree=0.645, adj=0.241
      Age    < 16   to the left,  agree=0.597, adj=0.138

Node number 3: 19 observations
  predicted class=present  expected loss=0.4210526  P(node) =0.2345679
    class counts:     8    11
   probabilities: 0.421 0.579 

"""  # noqa: W291  as R has it


def test_it_is_what_r_prints():
    assert as_rpart().summary(feature_names=NAMES).startswith(HEAD)


def test_errors_of_held_out_rows_stand_beside_the_subtrees():
    X, y = kyphosis()
    model = as_rpart()
    table = CostComplexity(cp="cv", cv=np.arange(81) % 10).table(model, X, y)
    lines = model.summary(table=table).splitlines()
    assert lines[2] == "          CP nsplit rel error   xerror      xstd"
    assert lines[4] == "2 0.01960784      1 0.8235294 1.058824 0.2200975"


def test_numbers_and_levels():
    X = np.array([[level, k] for k, level in enumerate("aabbccddee")], object)
    model = DecisionTreeRegressor(max_depth=1, categorical_features=[0]).fit(X, [1, 1, 9, 9, 1, 1, 9, 9, 1, 1.0])
    text = model.summary()
    assert "  mean=4.2, MSE=15.36 \n" in text
    assert "      x0 splits as  LRLRL, improve=1\n" in text


COMPETING = """\
  Primary splits:
      Start  < 8.5  to the right, improve=6.762330, (0 missing)
      Number < 5.5  to the left,  improve=2.866795, (0 missing)
      Age    < 39.5 to the left,  improve=2.250212, (0 missing)
  Surrogate splits:
      Number < 6.5  to the left,  agree=0.802, adj=0.158, (0 split)
"""


def test_splits_that_competed_are_found_again():
    X, y = kyphosis()
    assert COMPETING in as_rpart().summary(X, y, feature_names=NAMES)
    own = export.splits(as_rpart(), X, y)
    assert own[own.number == 1].kind.tolist() == ["primary", "competing", "competing", "surrogate"]
    costly = as_rpart(priors=[0.65, 0.35], criterion="entropy")
    rivals = export.splits(costly, X, y)
    assert np.allclose(rivals.improve[rivals.kind == "competing"][:1], 6.0352549)


def test_rows_without_a_value_are_counted():
    X, y = kyphosis()
    X[::7, 2] = np.nan
    model = as_rpart().fit(X, y)
    found = export.splits(model, X, y)
    own = found[found.number == 1]
    placed = own["count"][own.kind == "surrogate"]
    assert own["count"][own["var"] == "x2"].max() == 12
    assert 0 <= placed.sum() <= 12
    text = model.summary(X, y)
    assert "(12 missing)" in text


def test_levels_that_a_node_did_not_meet_are_told():
    rng = np.random.default_rng(0)
    X = np.empty((120, 2), object)
    X[:, 0], X[:, 1] = rng.integers(0, 9, 120), rng.choice(list("abcd"), 120)
    y = X[:, 0].astype(float) + (X[:, 1] == "a") * 3.0
    model = DecisionTreeRegressor(max_depth=2, categorical_features=[1], n_jobs=1).fit(X, y)
    text = model.summary(X, y)
    assert re.search(r"x1 +splits as +[LR-]{4}, +improve=", text)


def test_rows_are_those_of_fit():
    X, y = kyphosis()
    with pytest.raises(ValueError, match="grown on 81 rows, and X has 80"):
        as_rpart().summary(X[1:], y[1:])
    with pytest.raises(ValueError, match="both X and y"):
        as_rpart().summary(X)
    with pytest.raises(export.ExportError, match="leave out X and y"):
        RandomForestClassifier(n_estimators=2, random_state=0).fit(X, y).summary(X, y)
