"""Random forests for classes, fully grown, against scikit-learn, oneDAL and YDF."""

from data import H, covtype
from forest_fits import Goal, fit_rows
from forests import Shape
from measure import main

# YDF always splits classes by entropy, which makes fewer leaves, and here somewhat better ones.
BY_ENTROPY = {"score": 0.03, "leaves": 0.3}


def hundred_thousand(options):
    goals = (Goal("ScikitLearn", 40, 2, 0.003), Goal("OneDal", 4, 3), Goal("Ydf", 25, 2, **BY_ENTROPY))
    return fit_rows(options, "forest, H", H(options.size(100_000, 5_000)), Shape(threads=options.threads), goals)


def million(options):
    if not options.is_full:
        return []
    goals = (Goal("ScikitLearn", 40, 1), Goal("OneDal", 6, 2), Goal("Ydf", 35, 1, **BY_ENTROPY))
    return fit_rows(options, "forest, H", H(1_000_000), Shape(threads=options.threads), goals)


def real(options):
    if options.data is None:
        return []
    tables = covtype(options.data, None if options.is_full else options.size(None, 5_000))
    goals = (Goal("ScikitLearn", 20, 1, 0.003), Goal("OneDal", 5, 2))
    return fit_rows(options, "forest, covtype", tables, Shape(threads=options.threads), goals)


if __name__ == "__main__":
    main(__doc__, [hundred_thousand, million, real])
