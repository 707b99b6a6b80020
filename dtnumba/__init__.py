"""Decision trees on NumPy arrays, compiled by Numba.

* One tree that people can read: DecisionTreeClassifier, DecisionTreeRegressor.
* One tree of random thresholds: ExtraTreeClassifier, ExtraTreeRegressor.
* One tree whose tests may be sums over several columns: ObliqueTreeClassifier, ObliqueTreeRegressor.
* Many trees, of rows drawn at random: RandomForestClassifier, RandomForestRegressor.
* Many trees, of random thresholds: ExtraTreesClassifier, ExtraTreesRegressor.
* Many trees whose tests may be sums over several columns: ObliqueForestClassifier, ObliqueForestRegressor.
* Trees that are proven best: OptimalTreeClassifier, OptimalTreeRegressor.
* Trees that take rows and give rows back: IncrementalTreeClassifier, IncrementalTreeRegressor.
* Quinlan's learners: ID3Classifier, C45Classifier, C50Classifier.
* Wide trees, each node split by a test of significance: CHAIDClassifier, CHAIDRegressor.
* Sums of hinges, smooth in the large: MARSRegressor, MARSClassifier.
* Trees whose branches join: DecisionGraphClassifier.
* Rules as models: RuleSetClassifier, DecisionListClassifier.
* Smaller models: the function prune, and pruners. How good a model is: validation. Written another way: export.
* Figures of models: plot.
* Models in files: ``model.save(path)``, the function load, and ModelFileError where a file is none.
* Trees and forests of scikit-learn as models of this package: from_sklearn.
* How good a split is, and criteria of your own: criteria. Entropy and gain of plain lists: information.
* Rows that lie on a Dask cluster: the package dtnumba.dask.
* Tables larger than memory: bin_batches. Compiling ahead: warmup. What callbacks are told: Progress. The error of a
  model asked before ``fit``: NotFittedError.

``help(DecisionTreeClassifier)`` describes every parameter.

The rooms, in the order of the data; a room imports only those named after it in the last line.

estimators   what you call: parameters, fit, predict
tables       what you pass, checked; values as codes and orders
growth       codes to growing nodes: targets, splitters, categories; binary, multiway, forest, chaid
criteria     how good a split is
trees        the arrays of fitted trees
pruners      smaller trees
prediction   rows through trees: leaves, values, votes
rules        trees as rules, and rules as models
validation   folds, curves, held-out rows
explain      importances, proximity
model_files  one model, written to be read again
export       one model, written another way
figures      one model, drawn
dask         fits of rows that lie on a Dask cluster
cli          the shell command
runtime      the only room that knows Numba
information  the textbook's quantities
__main__     ``python -m dtnumba``

cli > dask > estimators > figures > export > model_files > explain > rules > pruners > validation > prediction >
growth > trees > criteria > tables > runtime
"""

from typing import TYPE_CHECKING

from dtnumba.runtime.lazy_names import lazy_names

__version__ = "0.1.0"

if TYPE_CHECKING:
    from dtnumba import criteria as criteria
    from dtnumba import export as export
    from dtnumba import information as information
    from dtnumba import pruners as pruners
    from dtnumba import validation as validation
    from dtnumba.estimators.bases.estimator import NotFittedError as NotFittedError
    from dtnumba.estimators.c45 import C45Classifier as C45Classifier
    from dtnumba.estimators.c50 import C50Classifier as C50Classifier
    from dtnumba.estimators.chaid import CHAIDClassifier as CHAIDClassifier
    from dtnumba.estimators.chaid import CHAIDRegressor as CHAIDRegressor
    from dtnumba.estimators.decision_list import DecisionListClassifier as DecisionListClassifier
    from dtnumba.estimators.decision_tree import DecisionTreeClassifier as DecisionTreeClassifier
    from dtnumba.estimators.decision_tree import DecisionTreeRegressor as DecisionTreeRegressor
    from dtnumba.estimators.decision_tree import ExtraTreeClassifier as ExtraTreeClassifier
    from dtnumba.estimators.decision_tree import ExtraTreeRegressor as ExtraTreeRegressor
    from dtnumba.estimators.forest import ExtraTreesClassifier as ExtraTreesClassifier
    from dtnumba.estimators.forest import ExtraTreesRegressor as ExtraTreesRegressor
    from dtnumba.estimators.forest import RandomForestClassifier as RandomForestClassifier
    from dtnumba.estimators.forest import RandomForestRegressor as RandomForestRegressor
    from dtnumba.estimators.from_sklearn import from_sklearn as from_sklearn
    from dtnumba.estimators.graphs.decision_graph import DecisionGraphClassifier as DecisionGraphClassifier
    from dtnumba.estimators.id3 import ID3Classifier as ID3Classifier
    from dtnumba.estimators.incremental.trees import IncrementalTreeClassifier as IncrementalTreeClassifier
    from dtnumba.estimators.incremental.trees import IncrementalTreeRegressor as IncrementalTreeRegressor
    from dtnumba.estimators.mars import MARSClassifier as MARSClassifier
    from dtnumba.estimators.mars import MARSRegressor as MARSRegressor
    from dtnumba.estimators.model_file import load as load
    from dtnumba.estimators.oblique.forests import ObliqueForestClassifier as ObliqueForestClassifier
    from dtnumba.estimators.oblique.forests import ObliqueForestRegressor as ObliqueForestRegressor
    from dtnumba.estimators.oblique.trees import ObliqueTreeClassifier as ObliqueTreeClassifier
    from dtnumba.estimators.oblique.trees import ObliqueTreeRegressor as ObliqueTreeRegressor
    from dtnumba.estimators.optimal.trees import OptimalTreeClassifier as OptimalTreeClassifier
    from dtnumba.estimators.optimal.trees import OptimalTreeRegressor as OptimalTreeRegressor
    from dtnumba.estimators.rule_set import RuleSetClassifier as RuleSetClassifier
    from dtnumba.estimators.warm_up import warmup as warmup
    from dtnumba.figures.plot import plot as plot
    from dtnumba.model_files.container import ModelFileError as ModelFileError
    from dtnumba.pruners.prune import prune as prune
    from dtnumba.runtime.progress import Progress as Progress
    from dtnumba.tables.batches import bin_batches as bin_batches

# Where each name stands: modules are read when they are asked for, not all at every start.
_HOME = {
    "C45Classifier": "estimators.c45",
    "C50Classifier": "estimators.c50",
    "CHAIDClassifier": "estimators.chaid",
    "CHAIDRegressor": "estimators.chaid",
    "DecisionGraphClassifier": "estimators.graphs.decision_graph",
    "DecisionListClassifier": "estimators.decision_list",
    "DecisionTreeClassifier": "estimators.decision_tree",
    "DecisionTreeRegressor": "estimators.decision_tree",
    "ExtraTreeClassifier": "estimators.decision_tree",
    "ExtraTreeRegressor": "estimators.decision_tree",
    "ExtraTreesClassifier": "estimators.forest",
    "ExtraTreesRegressor": "estimators.forest",
    "ID3Classifier": "estimators.id3",
    "IncrementalTreeClassifier": "estimators.incremental.trees",
    "IncrementalTreeRegressor": "estimators.incremental.trees",
    "MARSClassifier": "estimators.mars",
    "MARSRegressor": "estimators.mars",
    "ObliqueForestClassifier": "estimators.oblique.forests",
    "ObliqueForestRegressor": "estimators.oblique.forests",
    "ObliqueTreeClassifier": "estimators.oblique.trees",
    "ObliqueTreeRegressor": "estimators.oblique.trees",
    "ModelFileError": "model_files.container",
    "NotFittedError": "estimators.bases.estimator",
    "Progress": "runtime.progress",
    "OptimalTreeClassifier": "estimators.optimal.trees",
    "OptimalTreeRegressor": "estimators.optimal.trees",
    "RandomForestClassifier": "estimators.forest",
    "RandomForestRegressor": "estimators.forest",
    "RuleSetClassifier": "estimators.rule_set",
    "bin_batches": "tables.batches",
    "from_sklearn": "estimators.from_sklearn",
    "load": "estimators.model_file",
    "plot": "figures.plot",
    "prune": "pruners.prune",
    "warmup": "estimators.warm_up",
}
__all__ = sorted([*_HOME, "__version__", "criteria", "export", "information", "pruners", "validation"])  # noqa: PLE0605
__getattr__, __dir__ = lazy_names(__name__, _HOME)
