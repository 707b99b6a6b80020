# mypy: ignore-errors
# ruff: noqa: D103
"""Comparisons of eight to sixty-four numbers at once; a bit says how each compared."""

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.cgutils import alloca_once_value, for_range_slice
from numba.extending import intrinsic

from dtnumba.runtime.kernels import COMPILED

if COMPILED:

    def all_lanes(builder, value, lanes):
        """Return a vector of the same number in every lane; for those who write instructions."""
        vector = ir.VectorType(value.type, lanes)
        first = builder.insert_element(vector(ir.Undefined), value, ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
        return builder.shuffle_vector(first, vector(ir.Undefined), zeros)

    def _compare_64(comparison):
        """Make f(array, at, bound): bit k says how the k-th of array[at : at + 64] compares; bytes take one compare."""

        @intrinsic
        def compare(typingctx, array, at, bound):
            def codegen(context, builder, signature, args):
                data = context.make_array(signature.args[0])(context, builder, args[0]).data
                item = data.type.pointee
                pointer = builder.bitcast(builder.gep(data, [args[1]]), ir.VectorType(item, 64).as_pointer())
                bounds = all_lanes(builder, builder.trunc(args[2], item), 64)
                found = builder.icmp_unsigned(comparison, builder.load(pointer, align=1), bounds)
                return builder.bitcast(found, ir.IntType(64))

            return types.uint64(array, types.uint64, types.uint64), codegen

        return compare

    at_most_among_64, equal_among_64 = _compare_64("<="), _compare_64("==")

    def _compare_floats(comparison, lanes):
        """Make f(array, at, bound): bit k says how the k-th of 8 float64, or of 16 float32, from ``at`` on compares."""

        @intrinsic
        def compare(typingctx, array, at, bound):
            def codegen(context, builder, signature, args):
                data = context.make_array(signature.args[0])(context, builder, args[0]).data
                vector = ir.VectorType(data.type.pointee, lanes)
                pointer = builder.bitcast(builder.gep(data, [args[1]]), vector.as_pointer())
                bound = args[2] if lanes == 8 else builder.fptrunc(args[2], data.type.pointee)
                found = builder.fcmp_ordered(
                    comparison, builder.load(pointer, align=4), all_lanes(builder, bound, lanes)
                )
                return builder.zext(builder.bitcast(found, ir.IntType(lanes)), ir.IntType(64))

            return types.uint64(array, types.uint64, types.float64), codegen

        return compare

    above_among_8, at_least_among_8 = _compare_floats(">", 8), _compare_floats(">=", 8)

    at_least_among_16 = _compare_floats(">=", 16)

    @intrinsic
    def largest_of(typingctx, array, at, n):
        """Return the largest of array[at : at + n], float64 or float32, or -inf where none is larger; NaN never.

        n is a multiple of 8 (float64) or 16 (float32).
        """

        def codegen(context, builder, signature, args):
            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            item, word, lane = data.type.pointee, ir.IntType(64), ir.IntType(32)
            n_lanes = 8 if item == ir.DoubleType() else 16
            vector, lanes = ir.VectorType(item, n_lanes), ir.VectorType(lane, n_lanes)
            best = alloca_once_value(builder, vector([float("-inf")] * n_lanes))
            with for_range_slice(builder, word(0), args[2], word(n_lanes), word) as (step, _):
                pointer = builder.bitcast(builder.gep(data, [builder.add(args[1], step)]), vector.as_pointer())
                here, so_far = builder.load(pointer, align=4), builder.load(best)
                builder.store(builder.select(builder.fcmp_ordered(">", here, so_far), here, so_far), best)
            found, step = builder.load(best), n_lanes // 2
            while step:
                other = builder.shuffle_vector(found, vector(ir.Undefined), lanes([k ^ step for k in range(n_lanes)]))
                found = builder.select(builder.fcmp_ordered(">", other, found), other, found)
                step //= 2
            largest = builder.extract_element(found, lane(0))
            return largest if item == ir.DoubleType() else builder.fpext(largest, ir.DoubleType())

        return types.float64(array, types.uint64, types.uint64), codegen

    @intrinsic
    def least_above_among_64(typingctx, array, at, bound, among):
        """Return the smallest of array[at : at + 64] above a bound among those marked, or the largest of its type."""

        def codegen(context, builder, signature, args):
            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            item = data.type.pointee
            vector = ir.VectorType(item, 64)
            pointer = builder.bitcast(builder.gep(data, [args[1]]), vector.as_pointer())
            bounds = all_lanes(builder, builder.trunc(args[2], item), 64)
            values = builder.load(pointer, align=1)
            marked = builder.bitcast(args[3], ir.VectorType(ir.IntType(1), 64))
            counts = builder.and_(builder.icmp_unsigned(">", values, bounds), marked)
            found = builder.select(counts, values, vector([(1 << item.width) - 1] * 64))
            name = f"llvm.vector.reduce.umin.v64i{item.width}"
            least = builder.module.declare_intrinsic(name, fnty=ir.FunctionType(item, [vector]))
            return builder.zext(builder.call(least, [found]), ir.IntType(64))

        return types.uint64(array, types.uint64, types.uint64, types.uint64), codegen

    @intrinsic
    def first_above(typingctx, values, places, n, bound):
        """Return the k < n of the least places[k] among those of values[k] > bound; n is a multiple of 8.

        ``values`` are float64 and ``places`` uint64. At least one value is above the bound.
        """

        def codegen(context, builder, signature, args):
            value, place = (context.make_array(signature.args[i])(context, builder, args[i]).data for i in (0, 1))
            vector, words, word = ir.VectorType(ir.DoubleType(), 8), ir.VectorType(ir.IntType(64), 8), ir.IntType(64)
            bounds = all_lanes(builder, args[3], 8)
            best, block = alloca_once_value(builder, words([-1] * 8)), alloca_once_value(builder, words([0] * 8))
            with for_range_slice(builder, word(0), args[2], word(8), word) as (at, _):
                here = builder.load(builder.bitcast(builder.gep(value, [at]), vector.as_pointer()), align=8)
                own = builder.load(builder.bitcast(builder.gep(place, [at]), words.as_pointer()), align=8)
                own = builder.select(builder.fcmp_ordered(">", here, bounds), own, words([-1] * 8))
                is_less = builder.icmp_unsigned("<", own, builder.load(best))
                builder.store(builder.select(is_less, own, builder.load(best)), best)
                builder.store(builder.select(is_less, all_lanes(builder, at, 8), builder.load(block)), block)
            name = "llvm.vector.reduce.umin.v8i64"
            reduce = builder.module.declare_intrinsic(name, fnty=ir.FunctionType(word, [words]))
            least = builder.call(reduce, [builder.load(best)])
            is_least = builder.icmp_unsigned("==", builder.load(best), all_lanes(builder, least, 8))
            lane = builder.cttz(builder.bitcast(is_least, ir.IntType(8)), ir.IntType(1)(0))
            lane = builder.and_(builder.zext(lane, word), word(7))
            return builder.add(builder.extract_element(builder.load(block), lane), lane)

        return types.uint64(values, places, types.uint64, types.float64), codegen

else:

    def at_most_among_64(array, at, bound):
        return np.uint64(sum(int(array[int(at) + k] <= bound) << k for k in range(64)))

    def largest_of(array, at, n):
        return max((float(value) for value in array[int(at) : int(at + n)] if value == value), default=-np.inf)

    def least_above_among_64(array, at, bound, among):
        found = [int(array[int(at) + k]) for k in range(64) if int(among) >> k & 1]
        return np.uint64(min((value for value in found if value > bound), default=np.iinfo(array.dtype).max))

    def above_among_8(array, at, bound):
        return np.uint64(sum(int(array[int(at) + k] > bound) << k for k in range(8)))

    def at_least_among_16(array, at, bound):
        return np.uint64(sum(int(array[int(at) + k] >= np.float32(bound)) << k for k in range(16)))

    def at_least_among_8(array, at, bound):
        return np.uint64(sum(int(array[int(at) + k] >= bound) << k for k in range(8)))

    def first_above(values, places, n, bound):
        found = [k for k in range(int(n)) if values[k] > bound]
        return np.uint64(min(found, key=lambda k: int(places[k])))

    def equal_among_64(array, at, bound):
        return np.uint64(sum(int(array[int(at) + k] == bound) << k for k in range(64)))
