# mypy: ignore-errors
"""Targets as small work sees them: the same rows and the same sums, without what makes large work fast.

Vectors of cuts, packed bins and bits of rows take seconds to compile and save milliseconds where rows are few. A plain
kind leaves these methods out, and what asks for one (``by_having``) finds the simple way instead, to the same bits.
"""

from dtnumba.growth.targets.counted_classes import CountedTwoClasses, FewClasses
from dtnumba.growth.targets.many_classes import Classes, ManyClasses
from dtnumba.growth.targets.regression import CountedNumber, Number, Numbers
from dtnumba.growth.targets.two_classes import TwoClasses, WeightedTwoClasses
from dtnumba.runtime.kernels import kernel_type


class Plain:
    """A target without what only large work repays."""

    __slots__ = ()
    is_plain = True
    leaves_out = frozenset(
        ("add_item_if", "add_left", "bin_sums", "block_size", "may_pack", "packs_bin_in_int64", "score")
    )


@kernel_type
class PlainTwoClasses(Plain, TwoClasses):
    """TwoClasses, plain."""

    __slots__ = ()


@kernel_type
class PlainWeightedTwoClasses(Plain, WeightedTwoClasses):
    """WeightedTwoClasses, plain."""

    __slots__ = ()


@kernel_type
class PlainCountedTwoClasses(Plain, CountedTwoClasses):
    """CountedTwoClasses, plain."""

    __slots__ = ()


@kernel_type
class PlainFewClasses(Plain, FewClasses):
    """FewClasses, plain."""

    __slots__ = ()

    def packed_for(self, total):
        """Return the target as it is: narrow bins are for large work."""
        return self


@kernel_type
class PlainClasses(Plain, Classes):
    """Classes, plain."""

    __slots__ = ()


@kernel_type
class PlainManyClasses(Plain, ManyClasses):
    """ManyClasses, plain."""

    __slots__ = ()


@kernel_type
class PlainNumber(Plain, Number):
    """Number, plain."""

    __slots__ = ()


@kernel_type
class PlainCountedNumber(Plain, CountedNumber):
    """CountedNumber, plain."""

    __slots__ = ()


@kernel_type
class PlainNumbers(Plain, Numbers):
    """Numbers, plain."""

    __slots__ = ()


_PLAIN = {cls.__mro__[2]: cls for cls in Plain.__subclasses__()}


def plain(target):
    """Return a target without what only large work repays; itself where it has no plain kind."""
    kind = _PLAIN.get(type(target))
    return target if kind is None else kind(*target)
