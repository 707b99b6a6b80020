"""Whole trees: every node is what its rows make it, and nothing but the data decides a bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from dtnumba import trees
from dtnumba.criteria import CRITERIA, names_for
from strategies import WEIGHTS, fit, repeatable, same_trees, samples

CLASS_CRITERIA, NUMBER_CRITERIA = names_for("classes"), names_for("numbers")
SPLITTERS = {
    "exact": {"splitter": "best", "max_bins": None},
    "histogram": {"splitter": "best", "max_bins": 255},
    "random": {"splitter": "random", "max_bins": None},
}
each_criterion = pytest.mark.parametrize("criterion", CRITERIA)
each_splitter = pytest.mark.parametrize("splitter", SPLITTERS)
# One criterion a kind of target, where the criterion does not matter to what is shown.
each_kind = pytest.mark.parametrize("criterion", ["gini", "squared_error", "absolute_error"])


def is_for_classes(criterion):
    return criterion in CLASS_CRITERIA


def samples_for(criterion, **options):
    return samples(classes=is_for_classes(criterion), counts=criterion == "poisson", **options)


def audit(model, sample, criterion, *, best, limits=None, complete=True):
    (X, y, w), n_classes = sample.for_naive(classes=is_for_classes(criterion))
    trees.check(model.trees_, X.shape[1])
    naive.audit(model.trees_, criterion, X, y, w, n_classes, limits, best=best, complete=complete)


@each_criterion
@each_splitter
def test_every_node_is_what_its_rows_make_it(criterion, splitter):
    @repeatable(30)
    @given(samples_for(criterion))
    def check(sample):
        audit(fit(sample, criterion, **SPLITTERS[splitter]), sample, criterion, best=splitter != "random")

    check()
