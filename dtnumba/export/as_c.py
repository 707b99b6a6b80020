"""A model as C: tables and a short loop, without allocation and without any library but ``stdint.h``."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.languages import c_source
from dtnumba.export.languages import c_tables as parts
from dtnumba.export.languages.source import ExportedText
from dtnumba.export.languages.tables import LoopTables
from dtnumba.export.reading import UP_TO, ExportError, ReadTrees, read_trees
from dtnumba.export.replay import AskedRows, Replies
from dtnumba.tables.costs import LeastCost
from dtnumba.trees.layout import LEAF, last_children

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_FEATURES = 1 << 24
_WHOLE = {"LEVEL", "BRANCH", "OTHER_START", "OTHER_FEATURE", "OTHER_IS_MAP", "OTHER_BELOW"}
_WHOLE |= {"OTHER_BRANCH_START", "OTHER_BRANCH", "TERM_START", "TERM"}
_REAL = {"CUT", "OTHER_THRESHOLD", "WEIGHT", "COUNTS_AS"}
_COMPILERS = ("cc", "gcc", "clang")
_LABEL_CELLS = 4096  # numbers on the stack while labels are found


class CSource(ExportedText):
    """C source as text.

    Attributes
    ----------
    header : str
        What its functions are, for a file to include.
    name : str
        What they begin with.

    """

    header: str
    name: str

    def compiled(self, *options: str) -> Any:
        """Compile the source, with options beside ``-std=c99 -O2``, and return the library as ctypes loads it.

        Takes the compiler that the environment variable ``CC`` names, or cc, gcc or clang.
        """
        kept: dict[tuple[str, ...], Any] = vars(self).setdefault("_libraries", {})
        if options not in kept:
            found = os.environ.get("CC") or next(filter(None, map(shutil.which, _COMPILERS)), None)
            if found is None:
                raise FileNotFoundError(f"no C compiler: install one of {', '.join(_COMPILERS)}, or name one in CC")
            with tempfile.TemporaryDirectory() as folder:
                source, library = Path(folder, f"{self.name}.c"), Path(folder, f"{self.name}.so")
                source.write_text(self, encoding="ascii")
                way = ["-std=c99", "-O2", "-shared", "-fPIC", *options, "-o", str(library)]
                command = [found, *way, str(source), "-lm"]
                done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603  our source
                if done.returncode:
                    raise RuntimeError(f"{found} does not compile the source: {done.stderr[:2000]}")
                kept[options] = ctypes.CDLL(str(library))
        return kept[options]

    def run(self, rows: AskedRows) -> Replies:
        """Compile the source, and ask it."""
        library, n = self.compiled(), len(rows.codes)
        cells = np.ascontiguousarray(rows.codes, np.float64)
        numbers = np.empty((n, self.columns.width))
        self._ask(getattr(library, f"{self.name}_predict"), cells, numbers)
        if self.columns.classes is None:
            return Replies(None, numbers)
        codes = np.empty((n, len(self.columns.sizes)), np.int32)
        self._ask(getattr(library, f"{self.name}_labels"), cells, codes)
        return Replies(codes.astype(np.int64), numbers)

    @staticmethod
    def _ask(function: Any, cells: NDArray[Any], out: NDArray[Any]) -> None:
        function.restype = None
        function(cells.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(len(cells)), out.ctypes.data_as(ctypes.c_void_p))


def c(model: Any, name: str = "model", row_type: str = "float64") -> CSource:
    """Return a model of trees or splines as C99 source.

    ``NAME_predict(rows, n_rows, out)`` writes shares of classes, or numbers, of rows of doubles;
    ``NAME_labels(rows, n_rows, labels)`` writes the places of labels in the list of classes at the head of the source.
    A category is its place in the list of its column there; NaN is a missing value, or a category not listed.

    Parameters
    ----------
    model : fitted estimator
        Of trees or splines.
    name : str
        What the functions begin with.
    row_type : "float64" or "float32"
        What the rows hold that are passed as doubles; it matters for C4.5, whose cuts are values of the table.

    Examples
    --------
    >>> from dtnumba import DecisionTreeClassifier, export
    >>> tree = DecisionTreeClassifier().fit([[1.0], [9.0]], ["low", "high"])
    >>> print(export.c(tree, "level").header, end="")
    #include <stdint.h>
    <BLANKLINE>
    void level_predict(const double *rows, int64_t n_rows, double *out);
    void level_labels(const double *rows, int64_t n_rows, int32_t *labels);

    """
    if not (isinstance(name, str) and name.isidentifier() and name.isascii()):
        raise ValueError(f"name={name!r}: must be a name in C, as functions begin with it")
    if hasattr(model, "splines_"):
        return _of_splines(model, name)
    found = read_trees(model, "c", row_type, sums=True)
    if len(found.columns.names) >= _MOST_FEATURES:
        raise ExportError(f"c: the table has {len(found.columns.names)} columns, and nodes have room for 2**24 - 1")
    header = _header(name, has_labels=found.columns.classes is not None)
    source = CSource("".join(_pieces(found, name, header)))
    source.columns, source.header, source.name = found.columns, header, name
    return source


def _header(name: str, *, has_labels: bool) -> str:
    header = f"#include <stdint.h>\n\nvoid {name}_predict(const double *rows, int64_t n_rows, double *out);\n"
    labels = f"void {name}_labels(const double *rows, int64_t n_rows, int32_t *labels);\n"
    return header + labels if has_labels else header


def _of_splines(model: Any, name: str) -> CSource:
    from dtnumba.export.splines.in_c import source_of
    from dtnumba.export.splines.reading import TakesSomeRows, read_splines

    class SplineSource(TakesSomeRows, CSource):
        """Source of splines."""

    found = read_splines(model)
    header = _header(name, has_labels=found.columns.classes is not None)
    source = SplineSource(source_of(found, name, header))
    source.columns, source.header, source.name, source.fill = found.columns, header, name, found.hinges.fill
    source.is_close = found.columns.classes is not None
    return source


def _pieces(found: ReadTrees, name: str, header: str) -> list[str]:
    tables = LoopTables(found)
    is_quick = tables.is_plain
    is_quick &= not (found.is_shared or tables.may_stay or tables.has_stand_ins or tables.has_sums)
    sizes = {
        "N_COLUMNS": max(len(found.columns.names), 1),
        "N_OUTPUTS": len(found.columns.sizes),
        "N_TREES": len(tables.root),
        "WIDTH": found.columns.width,
        "SAYS": tables.width,
        "LABEL_FROM": found.label_from,
    }
    if found.columns.classes is not None:
        sizes["CHUNK"] = max(1, _LABEL_CELLS // sizes["WIDTH"]) if found.n_summed == found.columns.width else 1
    head = [parts.comment(found.columns), header, "\n"]
    head += [f"#define {key} {value}\n" for key, value in sizes.items()]
    pieces = [parts.words("ROOTS", tables.root.astype(np.uint32))]
    pieces.append(parts.reals("SAID", tables.said.reshape(-1)))
    if found.prior is not None:
        pieces.append(parts.reals("PRIOR", found.prior.reshape(-1)))
    if is_quick:
        pieces += _quick_nodes(tables)
    else:
        pieces += _any_nodes(tables)
    if tables.label is not None:
        pieces.append(parts.words("LABEL", tables.label.reshape(-1).astype(np.uint32)))
    rule = found.late_votes if isinstance(found.late_votes, LeastCost) else found.rule
    if rule is not None and tables.label is None:
        pieces.append(parts.reals("COSTS", rule.costs.reshape(-1), single=False))
    pieces.append(c_source.functions(found, tables, name, is_quick=is_quick))
    for part, function in (("real(", parts.REAL), ("single(", parts.SINGLE)):
        head += [function] * any(part in piece for piece in pieces)
    return [*head, "\n", *pieces]


def _low_high(numbers: NDArray[np.float64]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    bits = np.ascontiguousarray(numbers).view(np.uint64)
    return (bits & np.uint64(0xFFFFFFFF)).astype(np.uint32), (bits >> np.uint64(32)).astype(np.uint32)


def _quick_nodes(tables: LoopTables) -> list[str]:
    """Return nodes of thresholds alone: left child, column and flags, threshold; of a leaf itself, flag, row."""
    own, m = tables.of_nodes, tables.found.trees.n_nodes
    is_leaf, threshold = own["FEATURE"] == LEAF, own["THRESHOLD"]
    with np.errstate(over="ignore"):
        narrow = threshold.astype(np.float32)
    is_single = bool((narrow == threshold).all())
    nodes = np.zeros((m, 3 if is_single else 4), np.uint32)
    nodes[:, 0] = np.where(is_leaf, np.arange(m), own["LEFT"])
    goes_left = own["ABSENT"] == own["LEFT"]
    flags = np.where(is_leaf, np.uint32(1 << 31), np.where(goes_left, np.uint32(1 << 30), np.uint32(0)))
    nodes[:, 1] = np.maximum(own["FEATURE"], 0).astype(np.uint32) | flags
    if is_single:
        nodes[:, 2] = narrow.view(np.uint32)
    else:
        nodes[:, 2], nodes[:, 3] = _low_high(threshold)
    nodes[is_leaf, 2] = own["ROW"][is_leaf]
    stride = f"#define STRIDE {nodes.shape[1]}\n"
    return [stride, parts.words("NODES", nodes.reshape(-1)), c_source.CUT_SINGLE if is_single else c_source.CUT_DOUBLE]


def _any_nodes(tables: LoopTables) -> list[str]:
    """Return nodes of any kind: left child, column and kind, two words of the test, where to go without value, row."""
    trees, own = tables.found.trees, tables.of_nodes
    kind = own.get("KIND", np.minimum(own["FEATURE"] + 1, UP_TO)).astype(np.uint32)
    nodes = np.zeros((trees.n_nodes, 7), np.uint32)
    nodes[:, 0] = own["LEFT"]
    nodes[:, 1] = np.maximum(own["FEATURE"], 0).astype(np.uint32) | kind << np.uint32(24)
    nodes[:, 2], nodes[:, 3] = _low_high(own["THRESHOLD"])
    for of_kind, name in ((2, "LEVEL"), (3, "CUT"), (4, "BRANCH")):
        if f"{name}_START" in tables.ragged:
            start, here = tables.ragged[f"{name}_START"], kind == of_kind
            nodes[here, 2], nodes[here, 3] = start[:-1][here], np.diff(start)[here]
    nodes[:, 4] = own["LAST"] if tables.found.is_shared else own["ABSENT"]
    nodes[:, 5] = own["ROW"]
    if tables.has_cuts and tables.has_maps:  # one more than where the map of the cuts begins
        start = tables.ragged["BRANCH_START"]
        nodes[:, 6] = np.where((kind == 3) & (np.diff(start) > 0), start[:-1] + 1, 0)
    pieces = ["#define STRIDE 7\n", parts.words("NODES", nodes.reshape(-1))]
    for name, column in tables.ragged.items():
        if name in _WHOLE:  # one more, so that no table is empty
            pieces.append(parts.words(name, np.append(column, 0).astype(np.int64).astype(np.uint32)))
        elif name in _REAL:
            pieces.append(parts.reals(name, column, single=False))
    if tables.found.is_shared:
        pieces.append(parts.reals("SHARE", own["SHARE"], single=False))
        pieces.append(f"#define WAITING {_most_waiting(tables)}\n")
    return pieces


def _most_waiting(tables: LoopTables) -> int:
    """Return how many nodes wait at most while a row goes down in parts, the first child first."""
    trees = tables.found.trees
    left, last, need = trees.left, last_children(trees), np.ones(trees.n_nodes, np.int64)
    for node in np.flatnonzero(trees.feature != LEAF)[::-1].tolist():
        own = need[left[node] : last[node] + 1]
        need[node] = (own + np.arange(len(own))[::-1]).max()
    return int(need.max()) + 1
