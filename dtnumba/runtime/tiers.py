# mypy: ignore-errors
"""Whether kernels that are faster repay the seconds of compiling them.

Small work runs plain kernels, which do the same to the bit. The faster ones are taken where they are there already, in
this process or on disk, and where they would save more than they cost.
"""

from dtnumba.runtime.addresses import are_compiled, are_loaded
from dtnumba.runtime.kernels import COMPILED

# False: every fit takes the faster kernels, as the tests do.
SMALL_WORK_IS_PLAIN = True
# Where work comes a second time it will come again: from then on, what plain kernels lose counts so many times.
_AGAIN = 10
_TRIFLE = 1e-3  # seconds for which it does not matter which kernels run, if some are loaded
_ARE_PLAIN = [True]  # whether those taken last were plain, which are the first that a trifle asks for
_LOST = {}  # by the kernels in question: seconds that plain ones have lost


def chosen(build, saved, cost):
    """Return ``build(is_plain)``, of plain kernels unless faster ones are the better choice.

    These save ``saved`` seconds of this work, and cost ``cost`` to compile. The last item that ``build`` returns is
    the kernels, as ``compile_entries`` takes them.
    """
    if not COMPILED or not SMALL_WORK_IS_PLAIN:
        return build(False)
    if saved < _TRIFLE:
        same = build(_ARE_PLAIN[0])
        if are_loaded(same[-1]):
            return same
    found = build(False)
    is_plain = not _repay(found[-1], saved, cost)
    _ARE_PLAIN[0] = is_plain
    return build(True) if is_plain else found


def _repay(codes, saved, cost):
    if are_compiled(codes):
        return True
    kinds = tuple((code.function, code.kind) for code in codes)
    _LOST[kinds] = _LOST[kinds] + _AGAIN * saved if kinds in _LOST else saved
    return _LOST[kinds] > cost
