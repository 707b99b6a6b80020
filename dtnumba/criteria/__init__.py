"""How good a split is. Adding a criterion is one small class, registered once (see contract).

contract             what a criterion implements, the registry, and how kernels call it
classification       Gini, Entropy, GainRatio, TrainError, Twoing, ChiSquared, CostGini
regression           SquaredError, Poisson, AbsoluteError
description_length   bits that send the labels of a node
whole_terms          sums of terms as integers, for scans of very many classes
significance         tails of chi-squared and F
special_functions    log-gamma, incomplete gamma and beta, for kernels and for arrays
user_criterion       criteria that users write
"""

from dtnumba.criteria.classification import ChiSquared, CostGini, Entropy, GainRatio, Gini, TrainError, Twoing
from dtnumba.criteria.contract import CRITERIA, criterion, names_for, resolve_criterion
from dtnumba.criteria.description_length import DescriptionLength
from dtnumba.criteria.regression import AbsoluteError, Poisson, SquaredError

__all__ = [
    "CRITERIA",
    "AbsoluteError",
    "ChiSquared",
    "CostGini",
    "DescriptionLength",
    "Entropy",
    "GainRatio",
    "Gini",
    "Poisson",
    "SquaredError",
    "TrainError",
    "Twoing",
    "criterion",
    "names_for",
    "resolve_criterion",
]
