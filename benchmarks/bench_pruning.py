"""Prune a large tree by every method: seconds against the limits for those without and with raising."""

from data import H
from measure import at_most, demand, in_turns, main
from subjects import Ours

from dtnumba import prune, pruners
from dtnumba.trees.check import check

WITHOUT = {
    "bound": pruners.Bound(),
    "mdl": pruners.MDL(),
    "error_based, no raising": pruners.ErrorBased(raising=False),
    "pessimistic": pruners.Pessimistic(),
    "minimum_error": pruners.MinimumError(),
    "critical_value": pruners.CriticalValue(0.1),
    "simplify": pruners.Simplify(),
    "reduced_error": pruners.ReducedError(),
}
WITH = {
    "error_based": pruners.ErrorBased(),
    "reduced_error, raising": pruners.ReducedError(raising=True),
    "a function": pruners.Generic(lambda option: option.errors + 0.4 * option.n_leaves),
    "a function, raising": pruners.Generic(lambda option: option.errors + 0.4 * option.n_leaves, raising=True),
}


def pruning(options):
    X, y, X_test, y_test = H(options.size(1_000_000, 20_000))
    model = Ours(threads=options.threads).fit(X, y).model
    jobs, rows = {}, []
    for name, pruner in (WITHOUT | WITH).items():
        held_out = isinstance(pruner, pruners.ReducedError)
        given = (X_test, y_test) if held_out else (X, y) if pruner.needs_rows else ()
        jobs[name] = lambda pruner=pruner, given=given: prune(model, pruner, *given)
        found = jobs[name]()
        check(found.trees_, X.shape[1])
        demand(found.n_nodes_ <= model.n_nodes_, f"{name}: nodes before and after")
        if held_out:
            demand(found.score(X_test, y_test) >= model.score(X_test, y_test), f"{name}: score on its own rows")
    for name, time in in_turns(jobs, dict.fromkeys(jobs, options.repeats)).items():
        limit = 0.5 if name in WITHOUT else 5.0
        rows.append(
            at_most(options, f"prune {model.n_nodes_:,} nodes, {name}", "-", str(time), time.median, limit, unit=" s")
        )
    return rows


if __name__ == "__main__":
    main(__doc__, [pruning])
