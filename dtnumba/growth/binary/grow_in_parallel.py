# mypy: ignore-errors
# ruff: noqa: D102
"""One tree, on as many threads as there are: one leads, and shares out what nodes of many rows take.

The leader grows the upper part of the tree, and hands out subtrees of few rows whole. The others take items of what it
posts, or subtrees, in one launch for the whole tree (see ``crew``).
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth.binary.crew import Crew, finish_together, help_out, new_crew
from dtnumba.growth.binary.grow_subtree import (
    LikeOthers,
    add_node,
    calls_of,
    grow_below,
    kernels_of,
    most_nodes,
    new_scratch,
)
from dtnumba.growth.nodes import Job, Subtree, new_growing
from dtnumba.growth.policies.interactions import feature_policy
from dtnumba.growth.policies.monotonic import is_free
from dtnumba.growth.policies.node_order import is_best_first
from dtnumba.growth.targets.contract import n_kept_of
from dtnumba.growth.targets.plain import plain
from dtnumba.runtime import rng
from dtnumba.runtime.addresses import call_entry, compile_entries
from dtnumba.runtime.kernels import kernel_type
from dtnumba.runtime.progress import run_heeding
from dtnumba.runtime.records import address_of, worker_part
from dtnumba.runtime.tasks import code_of, launch_beside
from dtnumba.runtime.tiers import chosen

# Tables of fewer rows than this, or fewer cells, are grown by one thread: starting others takes 0.1 to 0.2 ms.
PARALLEL_ROWS, _PARALLEL_WORK = 4096, 1 << 15
# Subtrees handed out are at most this share of the rows, so that no thread waits long for the last one.
SUBTREE_SHARE = 64
# A row takes plain kernels so many seconds more a feature, and the faster ones take so many to compile.
_LOST_A_ROW, _COMPILE_SECONDS = 2e-8, 0.3
_STEPS_A_CELL = 10  # about how often a value is looked at


@kernel_type
class GrowTogether(NamedTuple):
    """Grow a tree below its root: worker 0 leads, the others help."""

    job: object
    scratches: object
    crew: Crew
    floor: int  # subtrees of at most so many rows are handed out

    def run(self, worker):
        scratch = worker_part(self.scratches, worker)
        if worker == 0:
            subtree = Subtree(self.job, scratch)
            scratch.here[0] = address_of(subtree)
            grow_below(self.crew, subtree, self.job, scratch, np.int64(0), np.int64(self.floor))
            finish_together(self.crew, self.job, scratch)
        else:
            help_out(self.crew, self.job, scratch, worker_part(self.scratches, np.int64(0)), worker)


def numbers_of(splitter):
    """Return the splitter of numbers: itself, or the one inside a splitter of categories."""
    return getattr(splitter, "inner", splitter)


def grow_tree(splitter, target, criterion, limits, n_features, n_per_output, n_rows, workers, groups=None):
    """Grow a tree over n rows; return its nodes under construction. ``groups``: None where any features may meet."""
    is_large = n_rows >= PARALLEL_ROWS and n_rows * n_features >= _PARALLEL_WORK
    workers = workers if is_large and not getattr(splitter, "grows_alone", False) else 1
    bounded, most = not is_free(limits.monotone), most_nodes(n_rows, limits)
    n_terms = getattr(splitter, "term_width", 0)
    growing = new_growing(most, n_kept_of(target), workers, bounded, groups is not None, n_terms)
    features = feature_policy(limits, n_features, groups)
    job = Job(splitter, target, criterion, limits, growing, features, n_features, n_per_output, LikeOthers())
    scratches = new_scratch(job, n_rows, workers)
    scratches.place[:] = 0
    add_node(growing, limits, 0, 0, n_rows, 0, np.uint64(rng.ROOT_KEY))
    go = _together(job, scratches, n_rows, workers) if workers > 1 else _alone(job, scratches, n_rows)
    run_heeding(go, n_rows * n_features * _STEPS_A_CELL, growing.halt)
    return growing


def _alone(job, scratches, n_rows):
    """Compile what grows a tree on one thread; return the function that does."""
    own = worker_part(scratches, 0)

    def build(is_plain):
        subtree = Subtree(job._replace(target=plain(job.target)) if is_plain else job, own)
        kernels = kernels_of(subtree)
        return subtree, kernels, [*kernels.values()]

    subtree, kernels, codes = chosen(build, n_rows * job.n_features * _LOST_A_ROW, _COMPILE_SECONDS)
    compile_entries(codes)
    subtree = subtree._replace(job=subtree.job._replace(calls=calls_of(kernels)))
    code = kernels["below"]._replace(record=subtree)
    return lambda _: call_entry(code, 0, 0, 0)


def _together(job, scratches, n_rows, workers):
    """Compile what grows a tree on several threads; return the function that does."""
    kernels = kernels_of(Subtree(job, worker_part(scratches, 0)), in_crew=True)
    floor = 0 if is_best_first(job.limits) else max(PARALLEL_ROWS, n_rows // SUBTREE_SHARE)
    task = GrowTogether(job, scratches, new_crew(scratches, workers, n_rows), floor)
    below, *others = kernels.values()
    compile_entries([below, code_of(task), *others])  # what takes longest comes first
    task = task._replace(job=job._replace(calls=calls_of(kernels)))
    return lambda _: launch_beside(task, workers, leader_ends=True)
