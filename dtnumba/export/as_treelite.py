"""A model of trees as one of treelite, through its builder."""

from __future__ import annotations

from typing import Any

import numpy as np

from dtnumba.export.reading import (
    AMONG,
    BY_RANGE,
    MAP,
    UP_TO,
    ExportError,
    Nodes,
    ReadTrees,
    Test,
    read_trees,
    refuse,
)
from dtnumba.export.replay import AskedRows, Replies
from dtnumba.trees.graphs import JOINING
from dtnumba.trees.layout import STAYS, n_entries


class TreeliteModel:
    """A model of treelite; ``bytes(model)`` is what ``treelite.Model.deserialize_bytes`` reads.

    Parameters
    ----------
    model : treelite.Model
        The model. Of a forest of two classes it says the share of the second.
    found : ReadTrees
        What it was made of.

    """

    is_single = False

    def __init__(self, model: Any, found: ReadTrees) -> None:
        self.model, self.columns, self._says_second = model, found.columns, found.says_second

    def __bytes__(self) -> bytes:
        """Return what a file of it holds."""
        return bytes(self.model.serialize_bytes())

    def __repr__(self) -> str:
        """Say how many trees it has."""
        return f"<treelite model of {self.model.num_tree} trees, {len(self.columns.names)} columns>"

    def run(self, rows: AskedRows) -> Replies:
        """Ask treelite."""
        import treelite

        cells = np.ascontiguousarray(rows.codes, np.float64)
        found = np.asarray(treelite.gtil.predict(self.model, cells), np.float64).reshape(len(cells), -1)
        return Replies(None, np.concatenate([1.0 - found, found], axis=1) if self._says_second else found)


def treelite(model: Any, row_type: str = "float64") -> TreeliteModel:
    """Return a model of trees as one of treelite: thresholds and leaves are doubles, sets of categories are its own.

    A category is its place in the list of its column, NaN is missing. It says shares of classes, or numbers.

    Parameters
    ----------
    model : fitted estimator
        Of trees, of one output or of several numbers.
    row_type : "float64" or "float32"
        Of the rows; it matters for C4.5, whose cuts are values of the table.

    """
    try:
        import treelite as library
    except ImportError as error:
        raise ImportError("export.treelite needs the package treelite: pip install 'dtnumba[treelite]'") from error
    found = read_trees(model, "treelite", row_type)
    refuse("treelite", np.flatnonzero(found.trees.join >= 0), JOINING, "export the model as C, Python, SQL or ONNX")
    _refuse(found)
    return TreeliteModel(_built(library, found), found)


def _refuse(found: ReadTrees) -> None:
    trees, way = found.trees, "export the model as C, Python, SQL or ONNX"
    if found.columns.classes is not None and len(found.columns.sizes) > 1:
        raise ExportError(f"treelite: the model has {len(found.columns.sizes)} outputs of classes; fit one to each")
    if found.is_shared:
        refuse("treelite", trees.root[:-1], "a row goes to one leaf there, and these trees part it", way)
    inner = np.flatnonzero(trees.feature >= 0)
    if len(trees.right) == trees.n_nodes:
        refuse("treelite", inner[(trees.right - trees.left)[inner] > 1], "a test there has two branches", way)
    many = n_entries(trees.cut_start, trees.n_nodes)[inner] > 1
    refuse("treelite", inner[many], "a test has one threshold there", way)
    refuse("treelite", inner[trees.missing_left[inner] == STAYS], "a missing value stays at the node", way)
    surrogates = np.flatnonzero(n_entries(trees.surrogates.start, trees.n_nodes))
    refuse("treelite", surrogates, "there are no surrogates there", way)


def _built(library: Any, found: ReadTrees) -> Any:
    builder, trees, width = library.model_builder, found.trees, found.said.shape[1]
    is_labels = found.columns.classes is not None
    n_targets = 1 if is_labels else width
    n_classes = width if is_labels and not found.says_second else 1
    task = "kMultiClf" if n_classes > 1 else "kBinaryClf" if is_labels else "kRegressor"
    metadata = builder.Metadata(
        num_feature=len(found.columns.names),
        task_type=task,
        average_tree_output=found.is_mean,
        num_target=n_targets,
        num_class=[n_classes] * n_targets,
        leaf_vector_shape=(n_targets, n_classes),
    )
    targets = -1 if n_targets > 1 else 0
    made = builder.ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=metadata,
        tree_annotation=builder.TreeAnnotation(
            num_tree=trees.n_trees,
            target_id=[targets] * trees.n_trees,
            class_id=[-1 if n_classes > 1 else 0] * trees.n_trees,
        ),
        postprocessor=builder.PostProcessorFunc(name="identity_multiclass" if n_classes > 1 else "identity"),
        base_scores=[0.0] * (n_targets * n_classes),
    )
    nodes = Nodes(trees)
    for t in range(trees.n_trees):
        start, stop = int(trees.root[t]), int(trees.root[t + 1])
        made.start_tree()
        for node in range(start, stop):
            made.start_node(node - start)
            if nodes.is_leaf(node):
                said = found.said[node].tolist()
                made.leaf(said if width > 1 else said[0])
            else:
                _add(made, nodes.test(node), start)
            made.end_node()
        made.end_tree()
    return made.commit()


def _add(made: Any, test: Test, start: int) -> None:
    """Add a test of two branches."""
    left, right = (child - start for child in test.children)
    if test.kind == BY_RANGE and test.ways[0] == 1:
        left, right = right, left
    absent = test.children[test.absent or 0] - start
    if test.kind in {UP_TO, BY_RANGE}:
        cut = test.threshold if test.kind == UP_TO else test.entries[0]
        made.numerical_test(
            test.feature, cut, default_left=absent == left, opname="<=", left_child_key=left, right_child_key=right
        )
        return
    if test.kind == AMONG:
        codes, to_right = list(test.entries), False
    else:  # categories without a child go where missing values go: those of the other child are listed
        assert test.kind == MAP
        other = 1 - (test.absent or 0)
        codes, to_right = [code for code, way in enumerate(test.ways) if way == other], other == 1
    made.categorical_test(
        test.feature,
        default_left=absent == left,
        category_list=codes,
        category_list_right_child=to_right,
        left_child_key=left,
        right_child_key=right,
    )
