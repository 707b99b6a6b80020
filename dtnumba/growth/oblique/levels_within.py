# mypy: ignore-errors
"""The kernel of categories for a splitter that stands within one of sums: it sees job and scratch of the outer one."""

from dtnumba.growth.categories.search_levels import search_levels, search_within
from dtnumba.growth.nodes import with_own
from dtnumba.runtime.kernels import by_type, entry


def _itself(own):
    return own


within_of = by_type("within", _itself)  # interpreted, the scratch in hand is that of categories already


@entry
def search_inner_levels(subtree, node, f, task):
    """Search a categorical feature at a node; see ``search_levels.search``."""
    job, scratch = subtree.job, subtree.scratch
    return search_within(job.splitter.inner, job, with_own(scratch, within_of(scratch.own)), node, f, task)


def within(kernel):
    """Return the kernel for a splitter within, by that of the splitter alone."""
    assert kernel is search_levels, "categories have one kernel"
    return search_inner_levels
