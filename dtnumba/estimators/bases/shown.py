"""How a model is shown: in words, and in a notebook."""

from __future__ import annotations

from typing import Any


class ShowsItself:
    """What every model says of itself, beside its parameters."""

    def summary(
        self, X: Any = None, y: Any = None, *, sample_weight: Any = None, table: Any = None,
        feature_names: Any = None, digits: int = 7,
    ) -> str:  # fmt: skip
        """Return the fitted model in words, to be printed.

        Of a tree of two children a node what R's summary.rpart prints: subtrees, importances, every node with its split
        and surrogates. Of others: sizes, importances, and the top of the tree, or the rules. See ``export.text``, too.

        Parameters
        ----------
        X, y, sample_weight : arrays, optional
            The rows of ``fit``: each node is then told with the splits that competed with its own, which are looked for
            again, and with its rows that have no value.
        table : AlphaTable, optional
            ``pruners.CostComplexity(cp="cv").table(model, X, y)``, for the errors of held-out rows.
        feature_names, digits : sequence of str, int
            What columns are called; significant digits of numbers.

        """
        from dtnumba.export.text_styles.summary import summary

        more = {"sample_weight": sample_weight, "table": table, "feature_names": feature_names, "digits": digits}
        return summary(self, X, y, **more)

    def _repr_html_(self) -> str:
        """Show the model in a notebook: its parameters, and once fitted the top of a tree that unfolds."""
        from dtnumba.export.pictures.notebook import shown_in_notebook

        return shown_in_notebook(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return the model as text and as markup, of which a notebook shows what it can."""
        made = {"text/plain": self.__repr__, "text/html": self._repr_html_}
        asked = set(made if include is None else include) - set(exclude or ())
        return {name: make() for name, make in made.items() if name in asked}
