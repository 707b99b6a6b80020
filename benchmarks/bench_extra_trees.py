"""Extremely randomised trees, fully grown, against scikit-learn."""

from data import H
from forest_fits import Goal, fit_rows
from forests import Shape
from measure import main


def extra_trees(options):
    shape, goals = Shape(is_extra=True, threads=options.threads), (Goal("ScikitLearn", 6, 3, 0.005),)
    return fit_rows(options, "ExtraTrees, H", H(options.size(100_000, 5_000)), shape, goals)


if __name__ == "__main__":
    main(__doc__, [extra_trees])
