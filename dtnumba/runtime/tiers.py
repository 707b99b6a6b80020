# mypy: ignore-errors
"""Whether kernels that are faster repay the seconds of compiling them.

Small work runs plain kernels, which do the same to the bit. The faster ones are taken where they are there already, in
this process or on disk, and where they would save more than they cost.
"""

from numba._dispatcher import compute_fingerprint

from dtnumba.runtime.addresses import are_compiled
from dtnumba.runtime.kernels import COMPILED

# False: every fit takes the faster kernels, as the tests do.
SMALL_WORK_IS_PLAIN = True
# Where work comes a second time it will come again: from then on, what plain kernels lose counts so many times.
_AGAIN = 10
_LOST = {}  # by the kernels in question: seconds that plain ones have lost


def repays(wanted, saved, cost):
    """Tell whether to take faster kernels that save so many seconds of this work, and cost so many to compile.

    ``wanted`` is what ``compile_entries`` takes.
    """
    if not COMPILED or not SMALL_WORK_IS_PLAIN or are_compiled(wanted):
        return True
    kind = tuple((function, compute_fingerprint(record)) for function, record, _ in wanted)
    _LOST[kind] = _LOST[kind] + _AGAIN * saved if kind in _LOST else saved
    return _LOST[kind] > cost
