"""Decision graphs: nodes that trees need twice, accuracy beside pruned trees, forests as one diagram, time.

Tic-tac-toe's final boards are made here. Other tables come from the folder of ``--data``.
"""

import time

import numpy as np
from data import labelled
from measure import Row, at_most, demand, faster, in_turns, main, verdict

from dtnumba import DecisionGraphClassifier, DecisionTreeClassifier, RandomForestClassifier, pruners

FOLDS = 10
TABLES = ("nursery", "vote", "solder", "breast_cancer_lj", "breast_w", "titanic", "compas")
TABLES = (*TABLES, "iris", "pima", "ionosphere")
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


def tic_tac_toe():
    """Return all boards at which a game ends, x to begin, and whether x has won."""
    found = {}

    def has_won(board, player):
        return any(all(board[cell] == player for cell in line) for line in LINES)

    waiting = [([0] * 9, 1)]
    while waiting:
        board, player = waiting.pop()
        if has_won(board, 1) or has_won(board, 2) or 0 not in board:
            found[tuple(board)] = int(has_won(board, 1))
            continue
        for cell in np.flatnonzero(np.array(board) == 0):
            after = [*board[:cell], player, *board[cell + 1 :]]
            waiting.append((after, 3 - player))
    X = np.array(sorted(found), dtype=np.float64)
    return X, np.array([found[tuple(row)] for row in X.astype(int).tolist()]), np.ones(9, bool)


def concept(seed, n=1000, noise=0.05):
    """Return rows of x1 x2 + x3 x4, some labels turned over."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, 4)).astype(np.float64)
    y = ((X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3]) > 0).astype(int)
    return X, y ^ (rng.random(n) < noise)


def all_rows(n):
    return (np.arange(1 << n)[:, None] >> np.arange(n)[::-1] & 1).astype(np.float64)


def inner(model):
    return model.n_nodes_ - model.n_leaves_


def replication(options):
    """Nilsson's example, and parity."""
    n_seeds = 3 if options.quick else 20
    found = [inner(DecisionGraphClassifier(n_jobs=options.threads).fit(*concept(seed))) for seed in range(n_seeds)]
    n = sum(one == 4 for one in found)
    job = f"x1x2 + x3x4, 1,000 rows, 5 % noise, {n_seeds} seeds: 4 tests"
    rows = [Row(job, "-", f"{n} of {n_seeds}", "-", "all", verdict(options, n == n_seeds))]
    X = all_rows(4)
    tree = DecisionTreeClassifier(n_jobs=options.threads).fit(X, (X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3]) > 0)
    graph, n = DecisionGraphClassifier.from_tree(tree), inner(tree)
    ours = inner(graph)
    rows.append(Row("x1x2 + x3x4, all 16 rows, tests", f"tree {n}", str(ours), "-", "4", verdict(options, ours == 4)))
    X = all_rows(8)
    tree = DecisionTreeClassifier(n_jobs=options.threads).fit(X, X.sum(axis=1) % 2)
    ours = inner(DecisionGraphClassifier.from_tree(tree))
    rows.append(Row("parity of 8, tests", f"tree {inner(tree)}", str(ours), "-", "15", verdict(options, ours == 15)))
    return rows


def folds_of(y, seed=0):
    """Return the fold of each row, classes spread evenly."""
    order = np.random.default_rng(seed).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    fold = np.empty(len(y), np.int64)
    fold[order] = np.arange(len(y)) % FOLDS
    return fold


def accuracy(options):
    """Ten folds: graphs beside trees pruned by description length, which know how many cuts there are."""
    tables = {"tic-tac-toe": tic_tac_toe()}
    if options.data is not None and not options.quick:
        tables |= {name: labelled(options.data, name) for name in TABLES}
    rows, all_found = [], []
    for name, (X, y, nominal) in tables.items():
        listed = np.flatnonzero(nominal).tolist()
        cuts = tuple(max(len(np.unique(column[~np.isnan(column)])) - 1, 0) for column in X.T)
        common = {"categorical_features": listed, "n_jobs": options.threads}
        models = {
            "tree": DecisionTreeClassifier(prune=pruners.MDL(cuts=cuts), random_state=0, **common),
            **{method: DecisionGraphClassifier(method=method, **common) for method in ("mml", "merge", "oblivious")},
        }
        found, fold = {model: [] for model in models}, folds_of(y)
        for k in range(FOLDS):
            held = fold == k
            for kind, model in models.items():
                model.fit(X[~held], y[~held])
                found[kind].append((model.score(X[held], y[held]), model.n_nodes_))
        means = {model: np.mean(each, axis=0) for model, each in found.items()}
        all_found.append([means[model] for model in models])
        said = ", ".join(f"{model} {means[model][0]:.4f} ({means[model][1]:.1f})" for model in ("merge", "oblivious"))
        rows.append(
            Row(
                f"{name}, 10 folds: accuracy (nodes)",
                "{:.4f} ({:.1f})".format(*means["tree"]),
                "{:.4f} ({:.1f})".format(*means["mml"]),
                f"{means['mml'][1] / means['tree'][1]:.2f}",
                "-",
                "-",
                said,
            )
        )
    mean = np.mean(all_found, axis=0)
    is_met = mean[1, 0] >= mean[0, 0] and mean[1, 1] <= 0.7 * mean[0, 1]
    words = [f"{right:.4f} ({nodes:.1f})" for right, nodes in mean]
    share = f"{mean[1, 1] / mean[0, 1]:.2f}"
    job, target = f"mean of {len(rows)} tables", "no less, <= 0.7 of the nodes"
    nodes = np.array(all_found)[:, :, 1]
    shares = np.exp(np.log(nodes[:, 1:3] / nodes[:, :1]).mean(axis=0))
    said = f"merge {words[2]}; geometric means of the shares of nodes: mml {shares[0]:.2f}, merge {shares[1]:.2f}"
    rows.append(Row(job, words[0], words[1], share, target, verdict(options, is_met), said))
    return rows


def diagram(options):
    """A forest of 20 trees of depth 4 over 20 columns of 0 and 1."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (3000, 20)).astype(np.float64)
    score = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + X[:, 4] * (1 - X[:, 5]) + X[:, 6] + X[:, 7]
    y = ((score > 1.6) ^ (rng.random(len(X)) < 0.1)).astype(int)
    forest = RandomForestClassifier(n_estimators=20, max_depth=4, random_state=0, n_jobs=options.threads).fit(X, y)
    began = time.perf_counter()
    graph = DecisionGraphClassifier.from_forest(forest)
    seconds = time.perf_counter() - began
    rows = all_rows(14 if options.quick else 20)
    rows = np.hstack([rows, np.zeros((len(rows), 20 - rows.shape[1]))])
    demand(np.array_equal(graph.predict(rows), forest.predict(rows)), "the diagram says something else")
    said = f"{len(rows):,} rows alike; {graph.n_nodes_:,} nodes"
    job = "20 trees of depth 4, 20 columns: diagram"
    found = [at_most(options, job, "-", f"{seconds:.2f} s", seconds, 30.0, said, " s")]
    asked = list(rng.integers(0, 2, (2000, 20)).astype(np.float64))
    models = {"forest": forest, "graph": graph}
    compiled = {name: model.compile_predictor() for name, model in models.items()}
    batches = [row[None] for row in asked]
    ways = {
        "compile_predictor": {name: (ask, asked) for name, ask in compiled.items()},
        "predict": {name: (model.predict, batches) for name, model in models.items()},
    }

    def answers(ask, of):
        for one in of:
            ask(one)

    for way, askers in ways.items():
        for asker in askers.values():
            answers(*asker)
        times = in_turns(
            {name: lambda asker=asker: answers(*asker) for name, asker in askers.items()},
            dict.fromkeys(askers, 5 * options.repeats),
        )
        found.append(faster(options, f"2,000 times one row, {way}", times["forest"], times["graph"], 1.0, ""))
    return found


def fits(options):
    """The census."""
    if options.data is None:
        return []
    X, y, nominal = labelled(options.data, "adult")
    n = options.size(32_561, 3_000)
    X, y, listed = X[:n], y[:n], np.flatnonzero(nominal).tolist()
    found = []
    for method, limit in (("merge", 2.0), ("mml", 20.0), ("oblivious", None)):
        model = DecisionGraphClassifier(method=method, categorical_features=listed, n_jobs=options.threads)
        model.fit(X, y)
        took = in_turns({"fit": lambda model=model: model.fit(X, y)}, {"fit": min(3, options.repeats)})["fit"]
        said = f"{model.n_nodes_} nodes, {model.message_length_.total:,.0f} bits"
        found.append(at_most(options, f"adult {n:,}, {method}", "-", str(took), took.median, limit, said, " s"))
    return found


if __name__ == "__main__":
    main(__doc__, [replication, accuracy, diagram, fits])
