"""What the soak tries: any estimator with any legal parameters, on any table. All is drawn from two seeds.

The first seed draws what takes other kernels: the estimator, most of its parameters, the container and the type of the
table, the kind of target. The second draws the table, and the parameters that depend on it. Names and legal values are
those that the estimators declare beside each parameter, so that a new parameter is drawn as soon as it is declared.
"""

import re
from dataclasses import dataclass, field, fields, replace

import numpy as np
import sklearn.ensemble
import sklearn.tree

import dtnumba
from dtnumba.growth.binary.grow_in_parallel import PARALLEL_ROWS

# What is tried of numbers, where a parameter's own rule calls it legal
NUMBERS = (None, True, False, 0, 1, 2, 3, 5, 10, 40, 255, 1e-9, 0.001, 0.01, 0.05, 0.1, 0.25, 0.3, 0.5, 0.75, 1.0, 2.5)
# Drawn with the table, or set by the checks
OF_TABLE = {"monotonic_cst", "interaction_cst", "categorical_features", "ordinal_features", "priors", "costs"}
UNTOUCHED = {"n_jobs", "random_state", "verbose", "max_seconds", "max_bytes", "warm_start"}
# Parameters that mean the same to scikit-learn
PEERS = {"criterion", "max_depth", "min_samples_leaf", "min_samples_split", "max_leaf_nodes", "max_features",
         "n_estimators", "random_state", "bootstrap"}  # fmt: skip
PEERS_WORDS = {"gini", "entropy", "log_loss", "squared_error", "friedman_mse", "absolute_error", "poisson",
               "sqrt", "log2"}  # fmt: skip
CONTAINERS = ("array", "array", "array", "fortran", "strided", "read only", "list", "pandas", "polars", "pyarrow",
              "object", "csr", "csc")  # fmt: skip
DTYPES = ("f4", "f8", "f8", "f8", "f2", "i1", "u2", "i4", "i8", "?", ">f8")
COLUMNS = ("normal", "normal", "few", "binary", "constant", "rounded", "scaled", "far", "tails", "twin", "infinite",
           "levels", "levels")  # fmt: skip
TARGETS = {
    "classes": ("two", "few", "few", "many", "text", "pairs"),
    "numbers": ("normal", "tails", "scaled", "counts", "constant", "outputs"),
}
SEVERAL = {"pairs": "few", "outputs": "normal"}  # targets of several outputs, and of one
WEIGHTS = ("none", "none", "whole", "real", "tiny", "wide")
SEARCHING = {"OptimalTreeClassifier", "OptimalTreeRegressor"}  # whose work grows with powers of cuts
MOST_CELLS, MOST_SUMS = 1_500_000, 3_000_000  # of a table; of rows times columns times classes / 50


def estimators():
    """Return the public estimators by name."""
    made = {name: getattr(dtnumba, name) for name in dtnumba.__all__}
    return {name: one for name, one in sorted(made.items()) if isinstance(one, type) and hasattr(one, "fit")}


def legal_values(declared):
    """Return the values of a parameter to choose from: the names in its rule's words and NUMBERS, where they hold."""
    rule = declared.metadata.get("rule")
    if rule is None:
        return []
    words = rule.words if isinstance(rule.words, str) else rule.words()
    return [value for value in (*dict.fromkeys(re.findall(r"'([^']+)'", words)), *NUMBERS) if rule.holds(value)]


def tsallis(stats, weight):
    """A user's own criterion of classes."""
    total = 0.0
    for k in range(len(stats)):
        total += (stats[k] / weight) ** 1.5
    return 2.0 * (1.0 - total)


@dataclass(frozen=True)
class Kind:
    """What takes kernels of its own: an estimator, parameters, the form of the table, the target."""

    name: str
    parameters: dict
    asked: frozenset  # parameters of OF_TABLE that the table is to bring
    container: str
    dtype: str
    target: str
    weight: str
    has_missing: bool
    plain: bool = False  # scikit-learn's parameters and a table that it takes
    shared_rows: int = PARALLEL_ROWS  # from which on threads share a tree

    @property
    def of_classes(self):
        """Whether the target holds classes."""
        return "Regressor" not in self.name


@dataclass(frozen=True)
class Case:
    """A kind of fit on one table. ``X`` holds numbers, NaN where missing; ``given`` makes of it what is passed."""

    kind: Kind
    seed: int
    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None
    levels: tuple = ()  # columns of categories
    parameters: dict = field(default_factory=dict)

    def model(self, **others):
        """Return the estimator, not fitted."""
        return estimators()[self.kind.name](**(self.kind.parameters | self.parameters | others))

    def given(self, rows=slice(None)):
        """Return rows of X in the container of the kind."""
        return in_container(self.X[rows], self.kind.container, self.levels)

    def arguments(self, rows=slice(None)):
        """Return what ``fit`` is given."""
        weight = () if self.weight is None else (self.weight[rows],)
        return (self.given(rows), self.y[rows], *weight)

    def kept(self, rows):
        """Return the case on some of its rows."""
        return replace(self, X=self.X[rows], y=self.y[rows], weight=None if self.weight is None else self.weight[rows])

    def unweighted(self):
        """Return the case without weights."""
        return replace(self, weight=None)

    def without(self, *names):
        """Return the case with some parameters at their defaults."""
        kind = {name: value for name, value in self.kind.parameters.items() if name not in names}
        own = {name: value for name, value in self.parameters.items() if name not in names}
        return replace(self, kind=replace(self.kind, parameters=kind), parameters=own)

    def __str__(self):
        shown = ", ".join(f"{name}={value!r}" for name, value in (self.kind.parameters | self.parameters).items())
        about = f"{self.kind.container} {self.X.dtype.str} {self.X.shape}, target {self.kind.target}"
        return f"{self.kind.name}({shown}) on {about}, weights {self.kind.weight}"


def drawn_kind(seed, *, small):
    """Draw a kind; estimators take turns, so that each is tried as often as any other."""
    few = 24 if small else 100
    return replace(_kind(seed, small=small), shared_rows=few if small or seed % 2 else PARALLEL_ROWS)


def _kind(seed, *, small):
    draw = np.random.default_rng([seed, 0])
    known = estimators()
    name = list(known)[seed % len(known)]
    declared = {one.name: one for one in fields(known[name])}
    parameters, asked = {}, set()
    rate = draw.choice([0.0, 0.1, 0.25])
    for one in sorted(set(declared) - UNTOUCHED):
        if one in OF_TABLE:
            if draw.random() < max(rate, 0.1):
                asked.add(one)
            continue
        values = legal_values(declared[one])
        often = 0.5 if one == "criterion" else rate
        if values and draw.random() < often:
            parameters[one] = values[draw.integers(len(values))]
    if small and parameters.get("criterion") == "gini" and draw.random() < 0.3:
        parameters["criterion"] = tsallis
    if "n_estimators" in declared:
        parameters["n_estimators"] = int(draw.choice([1, 3, 8]))
    if "random_state" in declared:
        parameters["random_state"] = int(draw.integers(100))
    target = str(draw.choice(TARGETS["classes" if "Regressor" not in name else "numbers"]))
    target = "counts" if parameters.get("criterion") == "poisson" else target
    if target in SEVERAL and getattr(known[name], "_is_of_one_output", False) and draw.random() < 0.8:
        target = SEVERAL[target]  # mostly: that it is refused has been seen
    if parameters.get("prune") == "critical_value":
        parameters["prune"] = dtnumba.pruners.CriticalValue(float(draw.choice([0.01, 0.1])))
    if name in SEARCHING:
        parameters["max_depth"] = int(draw.integers(1, 3 if small else 4))
        if small or draw.random() < 0.5:
            parameters["thresholds"] = int(draw.choice([1, 5]))
    has_peer = hasattr(sklearn.ensemble, name) or hasattr(sklearn.tree, name)
    if draw.random() < 0.4 * has_peer:
        parameters = {one: value for one, value in parameters.items() if one in PEERS and _is_peers(value)}
        target = "tails" if target in {"scaled", "outputs"} else target
        weight = str(draw.choice(["none", "whole", "real"]))
        missing = bool(draw.random() < 0.3)
        return Kind(name, parameters, frozenset(), "array", "f4", target, weight, missing, plain=True)
    weight = str(draw.choice(WEIGHTS))
    if weight == "wide" and isinstance(parameters.get("max_samples"), float):
        del parameters["max_samples"]  # a share of the sum of the weights: millions of draws
    return Kind(
        name,
        parameters,
        frozenset(asked),
        str(draw.choice(CONTAINERS)),
        str(draw.choice(DTYPES)),
        target,
        weight,
        bool(draw.random() < 0.5),
    )


def _is_peers(value):
    return not isinstance(value, str) or value in PEERS_WORDS


def drawn_case(kind, seed, *, small):
    """Draw a table of a kind, and the parameters that depend on it."""
    draw = np.random.default_rng([seed, 1])
    n, p = _shape(draw, small=small or kind.name in SEARCHING)
    columns, levels = [], []
    for f in range(p):
        name = COLUMNS[draw.integers(len(COLUMNS))] if f < 40 else "normal"
        if kind.plain and name == "infinite":
            name = "normal"
        if name == "levels" and not kind.plain:
            levels.append(f)
        columns.append(_column(draw, n, name, kind.dtype, columns))
    X = _as_dtype(np.column_stack(columns), kind.dtype)
    noise = 0.03 if kind.target == "tails" else 0.3  # whose exponential would drown the rest
    signal = sum(_ranks(X[:, f]) for f in draw.integers(0, p, 2)) + noise * draw.standard_normal(n)
    if kind.has_missing and X.dtype.kind == "f":
        for f in range(p):
            if draw.random() < 0.6:
                X[draw.random(n) < draw.choice([0.02, 0.3, 0.9]), f] = np.nan
    weight = _weight(draw, n, kind.weight)
    if weight is not None and kind.name.startswith("MARS"):
        X[(weight == 0)[:, None] & np.isinf(X)] = 0  # a fit does not look at what predict refuses
    y = _target(draw, n, p, signal, kind.target)
    case = Case(kind, seed, X, y, weight, tuple(levels))
    return replace(case, parameters=_of_table(draw, case))


def _shape(draw, *, small):
    if small:
        n, p = int(2 ** draw.uniform(1, 7.5)), int(draw.integers(1, 7))
        return max(n, 2), p
    low, high = ((5, 10), (10, 12.1), (12.1, 15.9))[draw.integers(3)]
    n, p = int(2 ** draw.uniform(low, high)), int(draw.integers(1, 12))
    if draw.random() < 0.15:
        p = int(2 ** draw.uniform(5, 11.6))
    return max(2, min(n, MOST_CELLS // p)), p


def _column(draw, n, name, dtype, before):
    """Draw a column of numbers, all finite but those of "infinite"."""
    normal = draw.standard_normal(n)
    if name == "twin" and before:
        return before[draw.integers(len(before))]
    made = {
        "few": lambda: draw.integers(0, draw.integers(2, 9), n).astype(float),
        "binary": lambda: (normal > draw.normal()).astype(float),
        "constant": lambda: np.full(n, 3.0),
        "rounded": lambda: normal.round(1),
        "scaled": lambda: normal * 10.0 ** (draw.integers(-300, 300) if dtype.endswith("f8") else draw.integers(-3, 4)),
        "far": lambda: draw.integers(0, 50, n) + 1e6,
        "tails": lambda: np.exp(4 * normal) * np.sign(draw.standard_normal(n)),
        "infinite": lambda: np.where(draw.random(n) < 0.1, np.inf * np.sign(normal), normal),
        "levels": lambda: np.minimum(draw.zipf(1.5, n) - 1, draw.choice([3, 12, 90])).astype(float),
    }
    return made.get(name, lambda: normal)()


def _as_dtype(X, dtype):
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        info = np.iinfo(kind)
        return np.clip(np.nan_to_num(X * 10), max(info.min, -(2**53)), min(info.max, 2**53)).astype(kind)
    with np.errstate(over="ignore"):
        return X > 0 if kind.kind == "b" else X.astype(kind)


def _ranks(column):
    return np.argsort(np.argsort(column, kind="stable"), kind="stable") / len(column)


def _weight(draw, n, name):
    made = {
        "whole": lambda: draw.integers(0, 4, n).astype(float),
        "real": lambda: draw.random(n) + 0.01,
        "tiny": lambda: (draw.random(n) + 0.01) * 1e-9,
        "wide": lambda: 10.0 ** draw.uniform(-6, 6, n),
    }.get(name)
    if made is None:
        return None
    weight = made()
    weight[: max(2, n // 20)] += weight.max()
    return weight


def _target(draw, n, p, signal, name):
    n_classes = {"two": 2, "few": int(draw.integers(2, 7)), "text": 4, "pairs": 3}.get(name)
    if name == "many":
        n_classes = max(2, min(1000, int(2 ** draw.uniform(3, 10)), n // 2, 50 * MOST_SUMS // max(1, n * p)))
    if n_classes is not None:
        edges = np.quantile(signal, np.sort(draw.random(n_classes - 1)))
        y = np.digitize(signal, edges)
        y[:2] = 0, 1
        if name == "text":
            return np.array(["low", "middle", "high", "über"])[y]
        return np.stack([y, (draw.random(n) < 0.4).astype(int)], axis=1) if name == "pairs" else y * 3 - 1
    return {
        "normal": lambda: signal,
        "tails": lambda: np.exp(draw.choice([2, 8, 16]) * signal),
        "scaled": lambda: signal * 10.0 ** draw.integers(-250, 250),
        "counts": lambda: draw.poisson(np.exp(signal)).astype(float) + (np.arange(n) == 0),
        "constant": lambda: np.full(n, 0.3),
        "outputs": lambda: np.stack([signal, signal**2 + draw.standard_normal(n)], axis=1),
    }[name]()


def _of_table(draw, case):
    """Draw parameters that depend on the table. Columns of categories are mostly said to be so."""
    kind, p, found = case.kind, case.X.shape[1], {}
    declared = {one.name for one in fields(estimators()[kind.name])}
    by_dtype = kind.container in {"pandas", "polars", "pyarrow", "object"}
    if case.levels and "categorical_features" in declared and not by_dtype and draw.random() < 0.7:
        found["categorical_features"] = list(case.levels)
    plain = [f for f in range(p) if f not in case.levels]
    if "monotonic_cst" in kind.asked:
        signs = draw.integers(-1, 2, p)
        signs[list(case.levels)] = 0
        found["monotonic_cst"] = signs.tolist()
    if "interaction_cst" in kind.asked:
        groups = [sorted(set(draw.integers(0, p, 3).tolist())) for _ in range(2)]
        found["interaction_cst"] = ["pairwise", "no_interactions", groups][draw.integers(3)]
    if "ordinal_features" in kind.asked and plain and kind.container != "object":
        found["ordinal_features"] = plain[:2]
    if kind.of_classes and case.y.ndim == 1:
        k = len(np.unique(case.y if case.weight is None else case.y[case.weight > 0]))
        if "priors" in kind.asked and k < 50:
            shares = draw.random(k) + 0.05
            found["priors"] = shares / shares.sum()
        if "costs" in kind.asked and 1 < k < 50:
            found["costs"] = (1 - np.eye(k)) * draw.integers(1, 6, (k, k))
    return found


def in_container(X, container, levels):
    """Return a table as users hold it; columns of categories as text where the container has any."""
    if container == "fortran":
        return np.asfortranarray(X)
    if container == "strided":
        wide = np.zeros((2 * len(X), X.shape[1] + 3), X.dtype)
        wide[::2, 1:-2] = X
        return wide[::2, 1:-2]
    if container == "read only":
        X = X.copy()
        X.flags.writeable = False
        return X
    if container == "list":
        return X.tolist()
    if container in {"csr", "csc"}:
        from scipy import sparse

        X = X.astype(X.dtype.newbyteorder("="))
        X = X.astype(np.float32) if X.dtype == np.float16 else X
        return sparse.csr_matrix(X) if container == "csr" else sparse.csc_matrix(X)
    if container == "object":
        return np.column_stack([_texts(X[:, f]) if f in levels else X[:, f].astype(object) for f in range(X.shape[1])])
    if container in {"pandas", "polars", "pyarrow"}:
        native = X.astype(X.dtype.newbyteorder("="))
        native = native.astype(np.float32) if native.dtype == np.float16 else native
        columns = {
            f"c{f}": _texts(X[:, f]) if f in levels else np.ascontiguousarray(native[:, f]) for f in range(X.shape[1])
        }
        if container == "pandas":
            import pandas as pd

            return pd.DataFrame(columns)
        if container == "polars":
            import polars as pl

            return pl.DataFrame({name: column.tolist() if column.dtype == object else column
                                 for name, column in columns.items()}, strict=False)  # fmt: skip
        import pyarrow as pa

        return pa.table({name: pa.array(column, from_pandas=True) for name, column in columns.items()})
    return X


def _texts(column):
    """Return a column of numbers of levels as text, None where missing."""
    # A whole number is below text that begins with a letter: an array of text that says numbers alone is refused.
    return np.array([None if value != value else f"v{value:g}" for value in column.tolist()], dtype=object)
