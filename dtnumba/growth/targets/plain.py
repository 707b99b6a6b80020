# mypy: ignore-errors
"""Targets as small work sees them: the same rows and the same sums, without what makes large work fast.

Vectors of cuts, packed bins and bits of rows take seconds to compile and save milliseconds where rows are few. A plain
kind leaves these methods out, and what asks for one (``by_having``) finds the simple way instead, to the same bits.
"""

from dtnumba.growth.targets.counted_classes import CountedTwoClasses, FewClasses
from dtnumba.growth.targets.many_classes import Classes, ManyClasses
from dtnumba.growth.targets.regression import CountedNumber, Number, Numbers, WideNumber
from dtnumba.growth.targets.two_classes import TwoClasses, WeightedTwoClasses
from dtnumba.runtime.kernels import kernel_type


class Plain:
    """A target without what only large work repays."""

    __slots__ = ()
    is_plain = True
    leaves_out = frozenset(
        ("add_item_if", "add_left", "bin_sums", "block_size", "may_pack", "packs_bin_in_int64", "score")
    )

    def packed_for(self, total):
        """Return the target as it is: narrow bins are for large work."""
        return self


def _plain_kind(kind):
    named = {"__slots__": (), "__module__": __name__, "__doc__": f"{kind.__name__}, plain."}
    return kernel_type(type(f"Plain{kind.__name__}", (Plain, kind), named))


_KINDS = (
    *(TwoClasses, WeightedTwoClasses, CountedTwoClasses, FewClasses, Classes, ManyClasses),
    *(Number, CountedNumber, Numbers, WideNumber),
)
_PLAIN = {kind: _plain_kind(kind) for kind in _KINDS}
# By their names, because the types of kernels are pickled by those of their parts.
globals().update({kind.__name__: kind for kind in _PLAIN.values()})


def plain(target):
    """Return a target without what only large work repays; itself where it has no plain kind."""
    kind = _PLAIN.get(type(target))
    return target if kind is None else kind(*target)
