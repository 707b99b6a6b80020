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
        from dtnumba.figures.tree_cells import Names

        names = Names(feature_names, class_names)
        return draw_tree(model, ax, names, tree=tree, max_depth=max_depth, direction=direction)

    def surface(
        self,
        model: Any,
        X: Any,
        y: Any = None,
        ax: Any = None,
        *,
        columns: Sequence[Any] | None = None,
        feature_names: Sequence[Any] | None = None,
        class_names: Sequence[Any] | None = None,
    ) -> Any:
        """Draw what is predicted over two columns: each region exactly, as the rectangles that it is.

        Parameters
        ----------
        model : fitted estimator
            Of trees or rules.
        X : array, frame or sparse matrix of shape (rows, features)
            Rows as in ``predict``; the columns are drawn as far as these reach.
        y : array of shape (rows,), optional
            Their labels or numbers, drawn as points.
        ax : matplotlib axes, optional
            Where to draw; new axes by default.
        columns : two numbers or names
            Which columns, where the model has more than two. The others are at the median or commonest level of X.
        feature_names, class_names : sequence, optional
            Names in place of those of ``fit``.

        Returns
        -------
        matplotlib axes
            The axes drawn in.

        """
        from dtnumba.figures.surface import draw_surface
        from dtnumba.figures.tree_cells import Names

        return draw_surface(model, X, y, ax, Names(feature_names, class_names), columns=columns)

    def importances(
        self,
        model: Any,
        ax: Any = None,
        *,
        max_features: int | None = 20,
        feature_names: Sequence[Any] | None = None,
    ) -> Any:
        """Draw ``feature_importances_``, the largest first, with the spread between the trees of a forest.

        Parameters
        ----------
        model : fitted estimator
            A tree or a forest.
        ax : matplotlib axes, optional
            Where to draw; new axes by default.
        max_features : int or None
            How many columns to show; None: all.
        feature_names : sequence, optional
            Names in place of those of ``fit``.

        Returns
        -------
        matplotlib axes
            The axes drawn in.

        """
        from dtnumba.figures.importances import draw_importances

        return draw_importances(model, ax, max_features=max_features, feature_names=feature_names)

    def pruning(self, curve: Any, ax: Any = None) -> Any:
        """Draw error against size, in training and on rows held out, and what the rule of one standard error chooses.

        While a tree grows the first falls on and the second rises again: that is overfitting.

        Parameters
        ----------
        curve : ComplexityCurve or AlphaTable
            What ``validation.complexity_curve`` or ``pruners.CostComplexity().table`` returns.
        ax : matplotlib axes, optional
            Where to draw; new axes by default.

        Returns
        -------
        matplotlib axes
            The axes drawn in.

        """
        from dtnumba.figures.pruning import draw_pruning

        return draw_pruning(curve, ax)

    def dependence(
        self,
        model: Any,
        X: Any,
        columns: Any,
        ax: Any = None,
        *,
        target: Any = None,
        ice: int = 0,
        feature_names: Sequence[Any] | None = None,
        class_names: Sequence[Any] | None = None,
    ) -> Any:
        """Draw the mean prediction against one column or two, of rows that are else as they are.

        A model of trees says the same between two of its cuts, and each such range is asked once: the steps are exact.
        Where it tests sums over several columns, each row has steps of its own: a hundred even places are asked.

        Parameters
        ----------
        model : fitted estimator
            Of trees or rules.
        X : array, frame or sparse matrix of shape (rows, features)
            The rows to average over.
        columns : number, name, or two of them
            Which columns.
        ax : matplotlib axes, optional
            Where to draw; new axes by default.
        target : label, or number of an output
            Whose share is drawn; by default the second of two classes, a line for each of more.
        ice : int
            How many rows to draw the own curves of (individual conditional expectation), for one column.
        feature_names, class_names : sequence, optional
            Names in place of those of ``fit``.

        Returns
        -------
        matplotlib axes
            The axes drawn in.

        """
        from dtnumba.figures.dependence import draw_dependence
        from dtnumba.figures.tree_cells import Names

        names = Names(feature_names, class_names)
        return draw_dependence(model, X, columns, ax, names, target=target, ice=ice)

    def terms(
        self, model: Any, ax: Any = None, *, output: int | None = None, feature_names: Sequence[Any] | None = None
    ) -> Any:
        """Draw what splines add up: a line for every column that stands alone in terms, a surface for every two.

        What is drawn is the sum of all terms of just these columns, over the values that they had in ``fit``; of a
        classifier, a sum is of logarithms of odds. Terms of three columns and more are counted in the last title.

        Parameters
        ----------
        model : fitted MARSRegressor or MARSClassifier
            Of splines.
        ax : matplotlib axes or a sequence of them, optional
            Where to draw, one for each effect; new axes by default.
        output : int, optional
            The number of an output, or of a class where there are more than two; by default the first, and of classes
            the last.
        feature_names : sequence, optional
            Names in place of those of ``fit``.

        Returns
        -------
        list of matplotlib axes
            The axes drawn in, those of single columns first.

        """
        from dtnumba.figures.terms import draw_terms

        return draw_terms(model, ax, output=output, feature_names=feature_names)

    def leaves(self, model: Any, ax: Any = None, *, tree: int = 0, class_names: Sequence[Any] | None = None) -> Any:
        """Draw a bar a leaf, as wide as its rows are many, with the shares of its classes or its number.

        Parameters
        ----------
        model : fitted estimator
            Of trees.
        ax : matplotlib axes, optional
            Where to draw; new axes by default.
        tree : int
            The number of a tree of a forest.
        class_names : sequence, optional
            Names in place of those of ``fit``.

        Returns
        -------
        matplotlib axes
            The axes drawn in.

        """
        from dtnumba.figures.leaves import draw_leaves
        from dtnumba.figures.tree_cells import Names

        return draw_leaves(model, ax, Names(None, class_names), tree=tree)


plot = Plot()
