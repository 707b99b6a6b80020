# mypy: ignore-errors
# ruff: noqa: D103
"""The least and the largest of many numbers, a vector at a time."""

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.cgutils import alloca_once_value, for_range_slice
from numba.extending import intrinsic

from dtnumba.runtime.kernels import COMPILED

if COMPILED:

    @intrinsic
    def extremes_of(typingctx, array, at, n):
        """Return the least and the largest of array[at : at + n], +inf and -inf where all are NaN; and whether any is.

        ``array`` is float64 or float32; n is a multiple of 16.
        """

        def codegen(context, builder, signature, args):
            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            item, word, lane = data.type.pointee, ir.IntType(64), ir.IntType(32)
            vector, flags = ir.VectorType(item, 16), ir.VectorType(ir.IntType(1), 16)
            low = alloca_once_value(builder, vector([float("inf")] * 16))
            high = alloca_once_value(builder, vector([float("-inf")] * 16))
            missing = alloca_once_value(builder, flags([0] * 16))
            with for_range_slice(builder, word(0), args[2], word(16), word) as (step, _):
                pointer = builder.bitcast(builder.gep(data, [builder.add(args[1], step)]), vector.as_pointer())
                here, least, largest = builder.load(pointer, align=4), builder.load(low), builder.load(high)
                builder.store(builder.select(builder.fcmp_ordered("<", here, least), here, least), low)
                builder.store(builder.select(builder.fcmp_ordered(">", here, largest), here, largest), high)
                unknown = builder.fcmp_unordered("uno", here, here)
                builder.store(builder.or_(builder.load(missing), unknown), missing)

            def reduced(found, comparison):
                step = 8
                while step:
                    order = ir.Constant(ir.VectorType(lane, 16), [k ^ step for k in range(16)])
                    other = builder.shuffle_vector(found, vector(ir.Undefined), order)
                    found = builder.select(builder.fcmp_ordered(comparison, other, found), other, found)
                    step //= 2
                found = builder.extract_element(found, lane(0))
                return found if item == ir.DoubleType() else builder.fpext(found, ir.DoubleType())

            ends = [reduced(builder.load(low), "<"), reduced(builder.load(high), ">")]
            marks = builder.bitcast(builder.load(missing), ir.IntType(16))
            any_missing = builder.icmp_unsigned("!=", marks, ir.IntType(16)(0))
            return context.make_tuple(builder, signature.return_type, [*ends, any_missing])

        kind = types.Tuple((types.float64, types.float64, types.boolean))
        return kind(array, types.uint64, types.uint64), codegen

else:

    def extremes_of(array, at, n):
        part = np.asarray(array[int(at) : int(at + n)], np.float64)
        known = part[part == part]
        return float(known.min(initial=np.inf)), float(known.max(initial=-np.inf)), len(known) < len(part)
