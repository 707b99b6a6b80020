"""Fits and predictions on a Dask cluster; the same bits as on one thread of one machine.

estimators  the forests and trees, which are called as their local twins are
checks      what is wrong with collections and known before any of it is read
reading     Dask collections as partitions
columns     what partitions say of their columns, joined
binned      codes made once, and fitted many times: bin_batches
codes       edges from a sample of all partitions, and the codes of each
fitting     rows made ready for growth: columns, target, codes
strategy    what a fit takes, in bytes, and which way of growing fits
replicate   trees that grow where all codes are
parts       the rows of each thread, and what one place knows of all
partition   trees whose rows stay where they are: what each task does
levels      their large nodes, in one place
in_parts    their tasks, and when they are sent
running     tasks: sent, watched, taken back
workers     compiled code for the workers, ahead of the first fit
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
) | {"bin_batches": "binned", "warm_up": "workers"}

__getattr__, __dir__ = lazy_names(__name__, _HOME)
