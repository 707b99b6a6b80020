"""Fits and predictions on a Dask cluster; the same bits as on one thread of one machine.

estimators  the forests and trees, which are called as their local twins are
reading     Dask collections as partitions
columns     what partitions say of their columns, joined
codes       edges from a sample of all partitions, and the codes of each
fitting     rows made ready for growth: columns, target, codes
strategy    what a fit takes, in bytes
replicate   trees that grow where all codes are
running     tasks: sent, watched, taken back
workers     the cluster
"""

from dtnumba.runtime.lazy_names import lazy_names

_HOME = dict.fromkeys(
    [
        "DecisionTreeClassifier",
        "DecisionTreeRegressor",
        "ExtraTreesClassifier",
        "ExtraTreesRegressor",
        "RandomForestClassifier",
        "RandomForestRegressor",
    ],
    "estimators",
)

__getattr__, __dir__ = lazy_names(__name__, _HOME)
