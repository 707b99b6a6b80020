"""A random forest for numbers, fully grown, a third of the features at a node, against scikit-learn, oneDAL and YDF."""

from data import friedman
from forest_fits import Goal, fit_rows
from forests import Shape
from measure import main


def regression(options):
    shape = Shape(of_classes=False, share_drawn=1 / 3, threads=options.threads)
    goals = (Goal("ScikitLearn", 25, 1, 0.005), Goal("OneDal", 6, 2), Goal("Ydf", None, 1))
    return fit_rows(options, "regression forest, Friedman-1", friedman(options.size(200_000, 5_000)), shape, goals)


if __name__ == "__main__":
    main(__doc__, [regression])
