"""How well a model does on rows that it has not seen: folds, leave-one-out, bootstrap, three parts, and curves.

cross_validation      cross_validate, leave_one_out, train_validation_test
resampling            bootstrap: .632 and .632+
size_curve            complexity_curve: error against the number of leaves
size_figure           such a curve, drawn
folds                 which rows are fitted, and which are held out
refits                one model fitted again and again to parts of one table
held_out_predictions  what fitted models predict for the rows held out
on_cluster            the same on a Dask cluster, to which the table goes once a worker
scoring               how good predictions are
out_of_bag            rows that the trees of a forest did not draw
early_stopping        growth that stops where held-out rows say so
model_protocol        the names that other rooms may use of a model of trees
node_losses           what every node would lose on some rows if it were a leaf
"""

from typing import TYPE_CHECKING

from dtnumba.runtime.lazy_names import lazy_names

if TYPE_CHECKING:
    from dtnumba.validation.cross_validation import Scores as Scores
    from dtnumba.validation.cross_validation import ThreeParts as ThreeParts
    from dtnumba.validation.cross_validation import cross_validate as cross_validate
    from dtnumba.validation.cross_validation import leave_one_out as leave_one_out
    from dtnumba.validation.cross_validation import train_validation_test as train_validation_test
    from dtnumba.validation.resampling import BootstrapScores as BootstrapScores
    from dtnumba.validation.resampling import bootstrap as bootstrap
    from dtnumba.validation.size_curve import ComplexityCurve as ComplexityCurve
    from dtnumba.validation.size_curve import complexity_curve as complexity_curve

_HOME = {
    "BootstrapScores": "resampling",
    "ComplexityCurve": "size_curve",
    "Scores": "cross_validation",
    "ThreeParts": "cross_validation",
    "bootstrap": "resampling",
    "complexity_curve": "size_curve",
    "cross_validate": "cross_validation",
    "leave_one_out": "cross_validation",
    "train_validation_test": "cross_validation",
}
__all__ = [*_HOME]  # noqa: PLE0604  names all of them
__getattr__, __dir__ = lazy_names(__name__, _HOME)
