"""Choosing and judging: folds that choose alpha, leave-one-out, k folds and pruning paths, against scikit-learn."""

import numpy as np
from data import H
from measure import at_most, demand, faster, in_turns, main, side_by_side
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier as TheirTree

from dtnumba import DecisionTreeClassifier, validation
from dtnumba.pruners.cost_complexity import CostComplexity


def choice_of_alpha(options):
    X, y, X_test, y_test = H(options.size(100_000, 10_000))
    whole = DecisionTreeClassifier(random_state=0, n_jobs=options.threads)
    chosen = DecisionTreeClassifier(random_state=0, n_jobs=options.threads, prune=CostComplexity(rule="0se"))
    scores = whole.fit(X, y).score(X_test, y_test), chosen.fit(X, y).score(X_test, y_test)
    checked = (
        f"leaves {chosen.n_leaves_:,} of {whole.n_leaves_:,}, held-out accuracy {scores[1]:.4f} (whole tree "
        f"{scores[0]:.4f})"
    )
    demand(scores[1] >= scores[0], checked)
    fit, choice = side_by_side(lambda: whole.fit(X, y), lambda: chosen.fit(X, y), max(2, options.repeats // 2))
    job = f"10 folds choose alpha, exact, H {len(X):,}; peer: one fit"
    return [at_most(options, job, str(fit), str(choice), choice.median / fit.median, 12, checked)]


def choice_against_a_grid(options):
    """scikit-learn refits for every alpha and fold, so it is given ten of the alphas, and folds of the same size."""
    X, y, *_ = H(5000)
    ours = DecisionTreeClassifier(random_state=0, n_jobs=options.threads, prune=CostComplexity(rule="0se"))
    path = TheirTree(random_state=0).cost_complexity_pruning_path(X, y).ccp_alphas
    grid = {"ccp_alpha": np.quantile(path[path > 0], np.linspace(0, 0.98, 10))}
    peer = GridSearchCV(TheirTree(random_state=0), grid, cv=10, n_jobs=options.threads)
    ours.fit(X, y)
    peer.fit(X, y)
    theirs = peer.best_estimator_.get_n_leaves()
    checked = f"leaves {ours.n_leaves_} (peer {theirs})"
    times = side_by_side(lambda: peer.fit(X, y), lambda: ours.fit(X, y), 3, 1)
    job = f"10 folds choose alpha, H {len(X):,}; peer: GridSearchCV, 10 alphas"
    return [faster(options, job, *times, None, checked)]


def leave_one_out(options):
    X, y, *_ = H(1000)
    X, n_jobs = np.ascontiguousarray(X[:, :20]), options.threads
    model = DecisionTreeClassifier(max_depth=5, random_state=0)
    found = validation.leave_one_out(model, X, y, n_jobs=n_jobs)
    for row in range(0, 1000, 100):
        said = model.fit(np.delete(X, row, 0), np.delete(y, row)).predict(X[row : row + 1])
        demand(said[0] == found.predictions[row], f"row {row} left out")
    ours = in_turns(
        {"ours": lambda: validation.leave_one_out(model, X, y, n_jobs=n_jobs)}, {"ours": max(3, options.repeats)}
    )["ours"]
    job = "leave-one-out, depth 5, H 1,000 x 20"
    return [at_most(options, job, "-", str(ours), ours.median, 1, f"accuracy {found.mean:.3f}", " s")]


def folds(options):
    X, y, *_ = H(options.size(50_000, 5_000))
    ours = DecisionTreeClassifier(max_depth=12, random_state=0)
    theirs = TheirTree(max_depth=12, random_state=0)
    splitter = StratifiedKFold(10, shuffle=True, random_state=0)
    jobs = (
        lambda: cross_val_score(theirs, X, y, cv=splitter, n_jobs=options.threads),
        lambda: validation.cross_validate(ours, X, y, cv=splitter, n_jobs=options.threads),
    )
    scores = jobs[0]().mean(), jobs[1]().mean
    checked = f"accuracy {scores[1]:.4f} (peer {scores[0]:.4f})"
    demand(abs(scores[0] - scores[1]) < 0.01, checked)
    times = side_by_side(*jobs, 3, 1)
    return [faster(options, f"10 folds, exact, depth 12, H {len(X):,}; peer: cross_val_score", *times, None, checked)]


def path(options):
    X, y, *_ = H(options.size(20_000, 3_000))
    ours, theirs = DecisionTreeClassifier(random_state=0, n_jobs=options.threads), TheirTree(random_state=0)
    jobs = (lambda: theirs.cost_complexity_pruning_path(X, y), lambda: ours.cost_complexity_pruning_path(X, y))
    impurities = jobs[0]().impurities, jobs[1]().impurities
    steps = f"{len(impurities[1]):,} steps (peer {len(impurities[0]):,})"
    checked = f"{steps}, both to an impurity of {impurities[1][-1]:.6f}"
    demand(abs(impurities[0][-1] - impurities[1][-1]) < 1e-9, checked)
    times = side_by_side(*jobs, 3, 1)
    return [faster(options, f"cost_complexity_pruning_path, fit included, H {len(X):,}", *times, None, checked)]


if __name__ == "__main__":
    main(__doc__, [choice_of_alpha, choice_against_a_grid, leave_one_out, folds, path])
