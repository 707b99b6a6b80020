"""A model of trees as an ONNX graph: the trees say which leaf, tables of doubles say what it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.languages.onnx_tests import NEXT, Entries
from dtnumba.export.languages.unfolded import unfolded
from dtnumba.export.reading import ExportError, ReadTrees, read_trees, refuse
from dtnumba.export.replay import AskedRows, Replies, places_of
from dtnumba.tables.floats import floor_to
from dtnumba.trees.layout import LEAF, STAYS, n_entries
from dtnumba.trees.linear import LinearTests

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtnumba.export.reading import Columns

OPSETS = (5, 3, 1)
_MAIN_OPSET, _IR_VERSION = 18, 10
_MOST_FLOAT = 1 << 24  # integers that float32 holds


class OnnxModel:
    """An ONNX model; ``bytes(model)`` is the file.

    Parameters
    ----------
    proto : onnx.ModelProto
        The model.
    columns : Columns
        The columns of its input, categories as places in their list.

    """

    is_single = False

    def __init__(self, proto: Any, columns: Columns) -> None:
        self.proto, self.columns = proto, columns
        self._session: Any = None

    def __bytes__(self) -> bytes:
        """Return what a file of it holds."""
        return bytes(self.proto.SerializeToString())

    def __repr__(self) -> str:
        """Say what goes in and out."""
        names = ", ".join(one.name for one in self.proto.graph.output)
        return f"<ONNX model of {len(self.columns.names)} columns: {names}>"

    def run(self, rows: AskedRows) -> Replies:
        """Ask ONNX Runtime."""
        try:
            import onnxruntime
        except ImportError as error:
            raise ImportError("ONNX models are run by ONNX Runtime: pip install onnxruntime") from error
        if self._session is None:
            settings = onnxruntime.SessionOptions()
            settings.log_severity_level = 3
            self._session = onnxruntime.InferenceSession(bytes(self), settings, providers=["CPUExecutionProvider"])
        given = self._session.get_inputs()[0]
        dtype = np.float32 if given.type == "tensor(float)" else np.float64
        found = self._session.run(None, {given.name: np.ascontiguousarray(rows.codes, dtype)})
        if self.columns.classes is None:
            return Replies(None, found[0])
        codes = [places_of(own.tolist(), known) for own, known in zip(found, self.columns.classes, strict=False)]
        return Replies(np.stack(codes, axis=1), found[-1])


def onnx(model: Any, opset: int = 5, row_type: str = "float64") -> OnnxModel:
    """Return a model of trees as an ONNX model, whose answers are the model's to the bit.

    Its input ``rows`` is a table of doubles, or with ``opset=1`` of float32: a category is its place in the list of its
    column, NaN is missing. Its outputs are ``label`` (of several outputs ``label_0``, ...) and ``probabilities``, those
    of several outputs side by side, or ``predictions``. The operators of trees say which leaf a row ends in, and tables
    of doubles what it says, so that no number is rounded to float32. A decision graph is written as the tree that it
    is: what its branches join at stands once for every way there. Sums over several columns are added up in doubles
    before the trees, term by term, as MatMul does not say in which order it adds; whether each is above its threshold
    is one more column of a row, of 0 and 1, that trees ask for.

    Parameters
    ----------
    model : fitted estimator
        Of trees.
    opset : 5, 3 or 1
        Of ai.onnx.ml. 5: TreeEnsemble, which has sets of categories. 3: TreeEnsembleRegressor with thresholds of
        double precision. 1: the same with thresholds and rows of float32.
    row_type : "float64" or "float32"
        What the rows hold; it matters for C4.5, whose cuts are values of the table.

    """
    if opset not in OPSETS:
        raise ValueError(f"opset={opset!r}: must be one of {', '.join(map(str, OPSETS))}")
    try:
        import onnx as library
    except ImportError as error:
        raise ImportError("export.onnx needs the package onnx: pip install 'dtnumba[onnx]'") from error
    if hasattr(model, "splines_"):
        return _of_splines(library, model, opset)
    found = read_trees(model, "onnx", "float32" if opset == 1 else row_type, sums=True)
    if found.trees.is_graph:
        found = unfolded(found, "onnx")
    _refuse(found, opset)
    if opset == 1:
        found = found._replace(columns=found.columns._replace(row_types=(np.dtype(np.float32),)))
    return OnnxModel(_Graph(library, found, opset).model(), found.columns)


def _of_splines(library: Any, model: Any, opset: int) -> OnnxModel:
    from dtnumba.export.splines.reading import TakesSomeRows, read_splines

    class OnnxOfSplines(TakesSomeRows, OnnxModel):
        """A graph of splines."""

    found: Any = read_splines(model)
    if opset == 1:
        found = found._replace(columns=found.columns._replace(row_types=(np.dtype(np.float32),)))
    made = OnnxOfSplines(_Graph(library, found, opset).model(), found.columns)
    made.fill, made.is_close = found.hinges.fill, found.columns.classes is not None
    return made


def _refuse(found: ReadTrees, opset: int) -> None:
    """Raise where ONNX has no operator for what trees ask."""
    trees, way = found.trees, "export the model as C, Python or SQL"
    if found.is_shared:
        refuse("onnx", trees.root[:-1], "a row goes to one leaf of a tree there, and these send parts to several", way)
    surrogates = np.flatnonzero(n_entries(trees.surrogates.start, trees.n_nodes))
    refuse("onnx", surrogates, "after a surrogate two tests lead to one child, which no tree of ONNX has", way)
    refuse("onnx", _joining(found), "two ranges lead to one child, which no tree of ONNX has", way)
    if opset < 5:
        for name in ("level", "branch"):
            nodes = np.flatnonzero(n_entries(getattr(trees, f"{name}_start"), trees.n_nodes))
            nodes = nodes[n_entries(trees.cut_start, trees.n_nodes)[nodes] == 0]
            refuse("onnx", nodes, f"opset={opset} has no tests for sets of categories", "pass opset=5")
        if len(found.said) and np.count_nonzero(trees.feature == LEAF) >= _MOST_FLOAT:
            raise ExportError(f"onnx: opset={opset} numbers leaves by float32, which has room for 2**24; pass opset=5")


def _joining(found: ReadTrees) -> list[int]:
    """Return the nodes with cuts of which two ranges, or one and what is as a missing value, have one child."""
    trees, m = found.trees, found.trees.n_nodes
    joining = []
    for node in np.flatnonzero((n_entries(trees.cut_start, m) > 0) & (n_entries(trees.branch_start, m) > 0)).tolist():
        ways = trees.branch[trees.branch_start[node] : trees.branch_start[node + 1]].tolist()
        if len(set(ways)) < len(ways) or -1 in ways:
            joining.append(node)
    return joining


class _Graph:
    """One ONNX graph."""

    def __init__(self, library: Any, found: Any, opset: int) -> None:  # ReadTrees or ReadSplines
        self.library, self.found, self.opset = library, found, opset
        self.nodes: list[Any] = []
        self.tables: list[Any] = []
        self.n_names = 0

    def add(self, operator: str, inputs: Sequence[str], name: str = "", **options: Any) -> str:
        """Add a node of the graph; return the name of its output."""
        self.n_names += 1
        name = name or f"v{self.n_names}"
        self.nodes.append(self.library.helper.make_node(operator, list(inputs), [name], **options))
        return name

    def table(self, values: Any, name: str = "") -> str:
        """Add a constant; return its name."""
        self.n_names += 1
        name = name or f"t{self.n_names}"
        self.tables.append(self.library.numpy_helper.from_array(np.asarray(values), name))
        return name

    def model(self) -> Any:
        """Return the model."""
        found, helper, types = self.found, self.library.helper, self.library.TensorProto
        is_narrow = self.opset == 1
        rows = helper.make_tensor_value_info(
            "rows", types.FLOAT if is_narrow else types.DOUBLE, ["n", len(found.columns.names)]
        )
        columns, outputs = found.columns, []
        if isinstance(found, ReadTrees):
            ends = self._row_of_ends()
            total = self._totals(ends)
        else:
            ends, total = self._of_splines()
        if columns.classes is None:
            self.add("Identity", [total], "predictions")
            outputs.append(helper.make_tensor_value_info("predictions", types.DOUBLE, ["n", columns.width]))
        else:
            names = ["label"] if len(columns.sizes) == 1 else [f"label_{o}" for o in range(len(columns.sizes))]
            start = 0
            for o, (name, size) in enumerate(zip(names, columns.sizes, strict=True)):
                labels = _labels(columns.classes[o])
                is_tree = isinstance(found, ReadTrees)
                code = self._code(ends, total, o, start, size) if is_tree else ends  # of splines the place itself
                self.add("Gather", [self.table(labels), code], name, axis=0)
                outputs.append(
                    helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(labels.dtype), ["n"])
                    if labels.dtype != object
                    else helper.make_tensor_value_info(name, types.STRING, ["n"])
                )
                start += size
            self.add("Identity", [total], "probabilities")
            outputs.append(helper.make_tensor_value_info("probabilities", types.DOUBLE, ["n", columns.width]))
        graph = helper.make_graph(self.nodes, "dtnumba", [rows], outputs, self.tables)
        opsets = [helper.make_opsetid("", _MAIN_OPSET), helper.make_opsetid("ai.onnx.ml", self.opset)]
        made = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="dtnumba")
        for j, levels in enumerate(columns.levels):
            if levels is not None:
                entry = made.metadata_props.add()
                entry.key, entry.value = f"levels of {columns.names[j]}", repr(levels)
        return made

    def _of_splines(self) -> tuple[str, str]:
        """Add splines; return the names of the place of the label of every row, and of its shares or numbers."""
        from dtnumba.export.splines.in_onnx import SplineGraph

        graph = SplineGraph(self.found, self.add, self.table, self.library.TensorProto)
        sums = graph.sums("rows")
        return ("", sums) if self.found.columns.classes is None else graph.answers(sums)

    def _row_of_ends(self) -> str:
        """Add the trees; return the name of the leaf of every row in every tree, as rows of the table of leaves."""
        trees, entries = self.found.trees, Entries(self.found)
        m = trees.n_nodes
        ends = np.flatnonzero((trees.feature == LEAF) | (trees.missing_left == STAYS))
        leaf_of = np.full(2 * m, -1, np.int64)
        leaf_of[np.where(trees.feature[ends] == LEAF, ends, m + ends)] = np.arange(len(ends))
        branch = np.array(entries.branch, np.int64).reshape(-1, 2)
        behind = np.arange(len(branch))[:, None] + 1
        is_leaf = (branch != NEXT) & (leaf_of[branch] >= 0)
        inner = entries.first[np.minimum(branch, m - 1)]
        where = np.where(branch == NEXT, behind, np.where(is_leaf, leaf_of[branch], inner))
        self.said = self.found.said[ends]
        self.codes = None if self.found.codes is None else self.found.codes[ends]
        tree_of_leaf = np.searchsorted(trees.root, ends, side="right") - 1
        split = np.array(entries.split, np.float64)
        if self.opset == 1:
            split = floor_to(split, np.float32).astype(np.float32)
        write = self._ensemble if self.opset == 5 else self._regressor
        rows = self._with_sides() if trees.has_sums else "rows"
        said = write(rows, entries, split, where, is_leaf, tree_of_leaf)
        return self.add("Cast", [said], to=self.library.TensorProto.INT64)

    def _with_sides(self) -> str:
        """Return the name of the rows with a column more for each test of a sum: 0 below, 1 above, NaN as missing."""
        linear, types = self.found.trees.linear, self.library.TensorProto
        assert isinstance(linear, LinearTests)
        n_terms = np.diff(linear.start)
        tests = np.flatnonzero(n_terms)
        first, n_terms = linear.start[tests], n_terms[tests]
        rows = self.add("Cast", ["rows"], to=types.DOUBLE) if self.opset == 1 else "rows"
        total = self.table(np.zeros((1, len(tests))))
        all_absent = ""
        for k in range(int(n_terms.max())):  # of those that have fewer terms nothing is added
            at, own = np.minimum(first + k, len(linear.column) - 1), k < n_terms
            value = self.add("Gather", [rows, self.table(np.where(own, linear.column[at], 0).astype(np.int64))], axis=1)
            absent = self.add("IsNaN", [value])
            if not own.all():
                absent = self.add("Or", [absent, self.table(~own)])
            instead = self.table(np.where(own, linear.stand_in[at], 0.0))
            product = self.add(
                "Mul",
                [self.add("Where", [absent, instead, value]), self.table(np.where(own, linear.weight[at], 0.0))],
            )
            total = self.add("Add", [total, product])
            all_absent = self.add("And", [all_absent, absent]) if all_absent else absent
        is_none = self.add("Or", [all_absent, self.add("IsNaN", [total])])
        above = self.add("Greater", [total, self.table(self.found.trees.threshold[tests])])
        dtype, kind = (np.float32, types.FLOAT) if self.opset == 1 else (np.float64, types.DOUBLE)
        side = self.add("Where", [is_none, self.table(dtype(np.nan)), self.add("Cast", [above], to=kind)])
        return self.add("Concat", ["rows", side], axis=1)

    def _ensemble(self, rows: str, entries: Entries, split: Any, where: Any, is_leaf: Any, tree_of_leaf: Any) -> str:
        """Add the operator of opset 5."""
        tensor = self.library.numpy_helper.from_array
        more = {"membership_values": tensor(np.array(entries.members))} if entries.members else {}
        return self.add(
            "TreeEnsemble",
            [rows],
            domain="ai.onnx.ml",
            n_targets=self.found.trees.n_trees,
            aggregate_function=1,
            post_transform=0,
            tree_roots=entries.first[self.found.trees.root[:-1]].tolist(),
            nodes_featureids=entries.feature,
            nodes_modes=tensor(np.array(entries.mode, np.uint8)),
            nodes_splits=tensor(split),
            nodes_truenodeids=where[:, 0].tolist(),
            nodes_falsenodeids=where[:, 1].tolist(),
            nodes_trueleafs=is_leaf[:, 0].astype(np.int64).tolist(),
            nodes_falseleafs=is_leaf[:, 1].astype(np.int64).tolist(),
            nodes_missing_value_tracks_true=entries.tracks,
            leaf_targetids=tree_of_leaf.tolist(),
            leaf_weights=tensor(np.arange(len(tree_of_leaf), dtype=np.float64)),
            **more,
        )

    def _regressor(self, rows: str, entries: Entries, split: Any, where: Any, is_leaf: Any, tree_of_leaf: Any) -> str:
        """Add the operator of earlier opsets, whose leaves are nodes: behind the tests of their tree."""
        n_trees = self.found.trees.n_trees
        tree = np.array(entries.tree, np.int64)
        n_tests, n_leaves = (np.bincount(own, minlength=n_trees) for own in (tree, tree_of_leaf))
        first_test, first_leaf = (np.cumsum(n) - n for n in (n_tests, n_leaves))
        of = tree[:, None]
        ids = np.where(is_leaf, where - first_leaf[of] + n_tests[of], where - first_test[of])
        leaf_id = np.arange(len(tree_of_leaf)) - first_leaf[tree_of_leaf] + n_tests[tree_of_leaf]
        nothing = np.zeros(len(tree_of_leaf), np.int64)
        ids_of_all = np.concatenate([np.arange(len(tree)) - first_test[tree], leaf_id])
        order = np.lexsort((ids_of_all, np.append(tree, tree_of_leaf)))

        def joined(of_tests: Any, of_leaves: Any = nothing) -> Any:
            return np.concatenate([np.asarray(of_tests), of_leaves])[order]

        tensor = self.library.numpy_helper.from_array
        values, weights = joined(split, nothing.astype(split.dtype)), np.arange(len(tree_of_leaf), dtype=split.dtype)
        numbers = {"nodes_values": values.tolist(), "target_weights": weights.tolist()}
        if self.opset == 3:
            numbers = {f"{name}_as_tensor": tensor(np.array(own)) for name, own in numbers.items()}
        is_test = joined(np.ones(len(tree), np.int64))
        return self.add(
            "TreeEnsembleRegressor",
            [rows],
            domain="ai.onnx.ml",
            n_targets=n_trees,
            aggregate_function="SUM",
            post_transform="NONE",
            nodes_treeids=joined(tree, tree_of_leaf).tolist(),
            nodes_nodeids=joined(np.arange(len(tree)) - first_test[tree], leaf_id).tolist(),
            nodes_featureids=joined(entries.feature).tolist(),
            nodes_modes=["BRANCH_LEQ" if test else "LEAF" for test in is_test.tolist()],
            nodes_truenodeids=joined(ids[:, 0]).tolist(),
            nodes_falsenodeids=joined(ids[:, 1]).tolist(),
            nodes_missing_value_tracks_true=joined(entries.tracks).tolist(),
            target_treeids=tree_of_leaf.tolist(),
            target_nodeids=leaf_id.tolist(),
            target_ids=tree_of_leaf.tolist(),
            **numbers,
        )

    def _totals(self, ends: str) -> str:
        """Return the name of the shares or numbers of every row: what trees say, added in their order."""
        found, table = self.found, self.table(self.said)
        total = ""
        for t in range(found.trees.n_trees):
            own = self.add("Gather", [table, self.add("Gather", [ends, self.table(np.int64(t))], axis=1)], axis=0)
            first = own if str(found.begin) == "-0.0" else self.add("Add", [own, self.table(np.float64(0.0))])
            total = first if t == 0 else self.add("Add", [total, own])
        if found.is_mean:
            total = self.add("Div", [total, self.table(np.float64(found.trees.n_trees))])
        if found.says_second:
            rest = self.add("Sub", [self.table(np.float64(1.0)), total])
            total = self.add("Concat", [rest, total], axis=1)
        return total

    def _code(self, ends: str, total: str, o: int, start: int, size: int) -> str:
        """Return the name of the place of the label of every row."""
        if self.found.labels_are_of_leaves:
            assert self.codes is not None
            leaf = self.add("Gather", [ends, self.table(np.int64(0))], axis=1)
            return self.add("Gather", [self.table(self.codes[:, o]), leaf], axis=0)
        bounds = [self.table(np.array([x])) for x in (start, start + size, 1)]
        own = self.add("Slice", [total, *bounds])
        if self.found.rule is not None:
            costs = self.add("MatMul", [own, self.table(self.found.rule.costs)])
            least = self.add("ReduceMin", [costs, self.table(np.array([1]))], keepdims=1)
            most = self.add("Mul", [least, self.table(np.float64(1.0 + 1e-9))])
            own = self.add("Cast", [self.add("LessOrEqual", [costs, most])], to=self.library.TensorProto.INT32)
        return self.add("ArgMax", [own], axis=1, keepdims=0, select_last_index=0)


def _labels(classes: list[Any]) -> Any:
    """Return classes as an array that ONNX has a type for."""
    if all(isinstance(label, str) for label in classes):
        return np.array(classes, object)
    labels = np.array(classes)
    if labels.dtype.kind not in "bif" or len({type(label) for label in classes}) > 1:
        raise ExportError(
            f"onnx: the classes {classes[:5]} are not all text or all numbers, and ONNX has no type for them; turn "
            "them into text before fit"
        )
    return labels
