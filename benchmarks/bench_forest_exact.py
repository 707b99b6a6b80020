"""A random forest of exact thresholds, fully grown, against scikit-learn."""

from data import H
from forest_fits import Goal, fit_rows
from forests import Shape
from measure import main


def exact(options):
    shape = Shape(is_exact=True, threads=options.threads)
    goals = (Goal("ScikitLearn", 12, 2, 0.005, 0.03),)
    return fit_rows(options, "exact forest, H", H(options.size(100_000, 5_000)), shape, goals)


if __name__ == "__main__":
    main(__doc__, [exact])
