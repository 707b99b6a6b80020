# mypy: ignore-errors
# ruff: noqa: D103
"""Bits, cache lines and rows of memory, as instructions of the processor."""

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.cgutils import for_range_slice
from numba.cpython.unsafe.tuple import tuple_setitem
from numba.extending import intrinsic

from dtnumba.runtime.kernels import COMPILED, inline
from dtnumba.runtime.records import Twin


def lowest_bit(word):
    """Return the index of the lowest set bit of a uint64 that is not zero."""
    word = int(word)
    return (word & -word).bit_length() - 1


def bit_count(word):
    """Return how many bits of a uint64 are set."""
    return int(word).bit_count()


def prefetch(array, i, j):
    """Ask for the cache line of array[i] of a C-ordered array, ``j`` items on, to be read soon."""


if COMPILED:
    with_item = tuple_setitem  # a tuple with one item changed

    def _define_lowest_bit(typingctx, word):
        def codegen(context, builder, signature, args):
            return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

        return types.uint64(types.uint64), codegen

    def _define_bit_count(typingctx, word):
        def codegen(context, builder, signature, args):
            return builder.ctpop(args[0])

        return types.uint64(types.uint64), codegen

    def ask_for(builder, pointer):
        """Ask for the cache line of a pointer, to be read soon; for those who write instructions."""
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        asked = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        builder.call(asked, [builder.bitcast(pointer, byte), word(0), word(3), word(1)])

    def _define_prefetch(typingctx, array, i, j):
        def codegen(context, builder, signature, args):
            view = context.make_array(signature.args[0])(context, builder, args[0])
            items = args[1]
            for axis in range(1, signature.args[0].ndim):
                items = builder.mul(items, builder.extract_value(view.shape, axis))
            ask_for(builder, builder.gep(view.data, [builder.add(items, args[2])]))
            return context.get_dummy_value()

        return types.void(array, types.uint64, types.uint64), codegen

    lowest_bit, bit_count, prefetch = (
        Twin("lowest_bit", _define_lowest_bit, lowest_bit),
        Twin("bit_count", _define_bit_count, bit_count),
        Twin("prefetch", _define_prefetch, prefetch),
    )

    @intrinsic
    def copy_row(typingctx, rows, i, to, j):
        """Copy rows[i] to to[j], both C-ordered and as wide, in blocks of 16 bytes: the last may reach behind both."""

        def codegen(context, builder, signature, args):
            source, target = (context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 2))
            block, byte = ir.VectorType(ir.IntType(8), 16).as_pointer(), ir.IntType(8).as_pointer()
            width = builder.mul(builder.extract_value(source.shape, 1), source.itemsize)
            begin = builder.gep(builder.bitcast(source.data, byte), [builder.mul(args[1], width)])
            end = builder.gep(builder.bitcast(target.data, byte), [builder.mul(args[3], width)])
            word = ir.IntType(64)
            with for_range_slice(builder, word(0), width, word(16), word) as (at, _):
                copied = builder.load(builder.bitcast(builder.gep(begin, [at]), block), align=1)
                builder.store(copied, builder.bitcast(builder.gep(end, [at]), block), align=1)
            return context.get_dummy_value()

        return types.void(rows, types.uint64, to, types.uint64), codegen

    @intrinsic
    def nonzero_among_64(typingctx, array, at):
        """Mark which of the int64 array[at : at + 64] are not zero: bit k for the k-th; eight compares of 64 bytes."""

        def codegen(context, builder, signature, args):
            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            vector = ir.VectorType(ir.IntType(64), 64)
            pointer = builder.bitcast(builder.gep(data, [args[1]]), vector.as_pointer())
            values = builder.load(pointer, align=8)
            return builder.bitcast(builder.icmp_unsigned("!=", values, vector(None)), ir.IntType(64))

        return types.uint64(array, types.uint64), codegen

else:

    def with_item(items, i, value):
        return (*items[:i], value, *items[i + 1 :])

    def copy_row(rows, i, to, j):
        to[j] = rows[i]

    def nonzero_among_64(array, at):
        return np.uint64(sum(int(array[int(at) + k] != 0) << k for k in range(64)))


@inline
def lower_bound(values, low, high, x):
    """Return the first place of the ascending values[low:high] that holds no less than x, ``high`` if none does."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@inline
def largest(values):
    """Return the first place of the largest of some values."""
    best = 0
    for k in range(1, len(values)):
        if values[k] > values[best]:
            best = k
    return best
