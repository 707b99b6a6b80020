"""``dtnumba.plot``: figures of models, one function each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


class Plot:
    """Figures of models, drawn with matplotlib (``pip install 'dtnumba[plot]'``): ``plot(model)`` draws a tree.

    Every figure takes ``ax=`` and returns the axes that it drew in, new ones by default. Names and labels are drawn as
    they are, never as mathematics, and long ones are cut short in the middle.
    """

    def __call__(
        self,
        model: Any,
        ax: Any = None,
        *,
        tree: int = 0,
        max_depth: int | None = 6,
        feature_names: Sequence[Any] | None = None,
        class_names: Sequence[Any] | None = None,
        direction: str | None = None,
    ) -> Any:
        """Draw one tree: a box a node, coloured by its class or value, with what leads to it in words.

        A box shows what its node predicts, how many rows it had, and the shares of the classes, as numbers and as a
        bar. Edges are as wide as their rows are many. Boxes never overlap. Without ``ax`` the figure is as large as
        the tree needs it; in given axes the text shrinks.

        Parameters
        ----------
        model : fitted estimator
            Of trees, of any kind.
        ax : matplotlib axes, optional
            Where to draw; new axes by default.
        tree : int
            The number of a tree of a forest.
        max_depth : int or None
            How many tests deep to go; None: all. A node whose tests are not shown has a dashed box, and says how many
            nodes are below it.
        feature_names, class_names : sequence, optional
            Names in place of those of ``fit``.
        direction : "down", "right" or None
            Where the tree grows to. None: to the right where many leaves are shown.

        Returns
        -------
        matplotlib axes
            The axes drawn in.

        """
        from dtnumba.figures.tree import draw_tree

        return draw_tree(
            model,
            ax,
            tree=tree,
            max_depth=max_depth,
            feature_names=feature_names,
            class_names=class_names,
            direction=direction,
        )


plot = Plot()
