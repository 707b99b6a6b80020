"""Lines of rpart: what R 4 prints of its own trees, and what its numbering cannot say."""

import numpy as np
import pytest
from public_data import NAMES, as_rpart

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, export
from dtnumba.export.reading import read
from dtnumba.export.text_styles.printed import Printed
from dtnumba.export.text_styles.rpart import RpartFrame

# print(rpart(Kyphosis ~ Age + Number + Start, data = kyphosis)), and with parms = list(prior = c(.65, .35),
# split = "information")
PLAIN = """\
n= 81 

node), split, n, loss, yval, (yprob)
      * denotes terminal node

 1) root 81 17 absent (0.79012346 0.20987654)  
   2) Start>=8.5 62  6 absent (0.90322581 0.09677419)  
     4) Start>=14.5 29  0 absent (1.00000000 0.00000000) *
     5) Start< 14.5 33  6 absent (0.81818182 0.18181818)  
      10) Age< 55 12  0 absent (1.00000000 0.00000000) *
      11) Age>=55 21  6 absent (0.71428571 0.28571429)  
        22) Age>=111 14  2 absent (0.85714286 0.14285714) *
        23) Age< 111 7  3 present (0.42857143 0.57142857) *
   3) Start< 8.5 19  8 present (0.42105263 0.57894737) *
"""  # noqa: W291  as R has it
PRIORS = """\
n= 81 

node), split, n, loss, yval, (yprob)
      * denotes terminal node

1) root 81 28.350000 absent (0.65000000 0.35000000)  
  2) Start>=12.5 46  3.335294 absent (0.91563089 0.08436911) *
  3) Start< 12.5 35 16.453120 present (0.39676840 0.60323160)  
    6) Age< 34.5 10  1.667647 absent (0.81616742 0.18383258) *
    7) Age>=34.5 25  9.049219 present (0.27932897 0.72067103) *
"""  # noqa: W291


@pytest.mark.parametrize(
    ("params", "wanted"), [({}, PLAIN), ({"priors": [0.65, 0.35], "criterion": "entropy"}, PRIORS)]
)
def test_it_is_what_r_prints(params, wanted):
    assert export.text(as_rpart(**params), "rpart", feature_names=NAMES) == wanted


def test_depth_and_digits():
    lines = export.text(as_rpart(), "rpart", 1, feature_names=NAMES, digits=3).splitlines()[5:]
    assert lines == [
        "1) root 81 17 absent (0.7901 0.2099)  ",
        "  2) Start>=8.5 62  6 absent (0.9032 0.0968) ... 6 nodes below",
        "  3) Start< 8.5 19  8 present (0.4211 0.5789) *",
    ]


def test_numbers_have_one_form_and_lower_means_stand_left():
    X = np.array([["a"], ["b"], ["c"], ["c"]], object)
    model = DecisionTreeRegressor(max_depth=2).fit(X, [5.0, 1.0, 2000.5, 2000.5])
    assert export.text(model, "rpart").splitlines()[5:] == [
        "1) root 4 3990014 1001.75  ",
        "  2) x0=a,b 2       8    3.00  ",
        "    4) x0=b 1       0    1.00 *",
        "    5) x0=a 1       0    5.00 *",
        "  3) x0=c 2       0 2000.50 *",
    ]
    frame = RpartFrame(Printed(read(model), model))
    assert [line.number for line in frame.lines] == [1, 2, 4, 5, 3]
    assert [line.split for line in frame.lines] == ["root", "x0=a,b", "x0=b", "x0=a", "x0=c"]


def test_five_classes_have_two_digits():
    X = np.arange(7.0)[:, None]
    model = DecisionTreeClassifier(max_depth=1).fit(X, list("abcdeaa"))
    assert " (0.43 0.14 0.14 0.14 0.14)" in export.text(model, "rpart")


def test_long_lists_of_levels_are_counted():
    X = np.array([[f"level {k:03d}"] for k in range(200)], object)
    model = DecisionTreeRegressor(max_depth=1).fit(X, np.arange(200.0) > 99)
    lines = export.text(model, "rpart").splitlines()
    assert [line.count("level") for line in lines[-2:]] == [64, 64]
    assert all(",36 more 100 " in line for line in lines[-2:])
    assert "=level 000,level 001,98 more" in export.text(model, "rpart", max_levels=2)


def test_more_children_than_two_have_no_numbers():
    X = np.array([["a"], ["b"], ["c"]], object)
    model = DecisionTreeClassifier(categorical_split="multiway").fit(X, [0, 1, 2])
    with pytest.raises(export.ExportError, match=r"text: node 0: .* more children than two"):
        export.text(model, "rpart")
