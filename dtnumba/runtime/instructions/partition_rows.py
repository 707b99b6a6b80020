# mypy: ignore-errors
# ruff: noqa: D103
"""Move the rows of a node that go left to its front, in order: sixteen at a time where the processor can.

What makes it fast is one instruction of AVX-512 that packs the chosen numbers of a vector together: 1.3 cycles a row
instead of 3.3, which took a tenth of the time of a forest. LLVM has no other name for it, so this is the one place of
the package that asks what the processor is; elsewhere rows are moved one by one, to the same places.
"""

import numpy as np

from dtnumba.runtime.kernels import COMPILED

if COMPILED:
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    from dtnumba.runtime.instructions.bits import ask_for
    from dtnumba.runtime.instructions.vector_compare import all_lanes

    _AT_ONCE, _AHEAD = 16, 16  # rows moved together, and rows whose codes are asked for ahead where they are not

    _HALF, _WORD = ir.IntType(32), ir.IntType(64)

    _ROWS, _PLACES, _MARKS = (ir.VectorType(item, _AT_ONCE) for item in (_HALF, _WORD, ir.IntType(1)))

    def _one(builder, codes, rows, left, n_right, buffer, goes_left, i):
        """Move one row; its right place is written, too, and overwritten if it goes left."""
        row = builder.load(builder.gep(rows, [i]))
        moves = builder.zext(goes_left(builder, codes(builder, row)), _WORD)
        to_left, to_right = builder.load(left), builder.load(n_right)
        builder.store(row, builder.gep(rows, [to_left]))
        builder.store(row, builder.gep(buffer, [to_right]))
        builder.store(builder.add(to_left, moves), left)
        builder.store(builder.add(to_right, builder.sub(_WORD(1), moves)), n_right)

    def _sixteen(builder, codes, stride, rows, left, n_right, buffer, shift, bound, i):
        """Move sixteen rows. What is written behind those that move was read before, or is written again."""
        item, vector = codes.type.pointee, _ROWS.as_pointer()
        row = builder.load(builder.bitcast(builder.gep(rows, [i]), vector), align=4)
        step = builder.mul(builder.zext(row, _PLACES), all_lanes(builder, stride, _AT_ONCE))
        place = builder.add(step, all_lanes(builder, builder.ptrtoint(codes, _WORD), _AT_ONCE))
        # A code is read as part of the four bytes that it lies in: those of an array's last code may end behind it.
        whole = builder.and_(place, _PLACES([-4 % (1 << 64)] * _AT_ONCE)) if item.width < 32 else place
        pointers = builder.inttoptr(whole, ir.VectorType(_HALF.as_pointer(), _AT_ONCE))
        kind = ir.FunctionType(_ROWS, [pointers.type, _HALF, _MARKS, _ROWS])
        gather = builder.module.declare_intrinsic("llvm.masked.gather.v16i32.v16p0", fnty=kind)
        found = builder.call(gather, [pointers, _HALF(4), _MARKS([1] * _AT_ONCE), _ROWS(None)])
        if item.width < 32:
            first_bit = builder.shl(builder.and_(builder.trunc(place, _ROWS), _ROWS([3] * _AT_ONCE)), _ROWS([3] * 16))
            found = builder.lshr(found, first_bit)
        mask = _ROWS([(1 << item.width) - 1] * _AT_ONCE)
        code = builder.and_(builder.sub(found, all_lanes(builder, builder.zext(shift, _HALF), _AT_ONCE)), mask)
        goes_left = builder.icmp_unsigned("<=", code, all_lanes(builder, builder.zext(bound, _HALF), _AT_ONCE))
        pack = builder.module.declare_intrinsic(
            "llvm.x86.avx512.mask.compress.v16i32", fnty=ir.FunctionType(_ROWS, [_ROWS, _ROWS, _MARKS])
        )
        sides = goes_left, builder.xor(goes_left, _MARKS([1] * _AT_ONCE))
        for array, count, side in zip((rows, buffer), (left, n_right), sides, strict=True):
            to = builder.load(count)
            packed = builder.call(pack, [row, _ROWS(None), side])
            builder.store(packed, builder.bitcast(builder.gep(array, [to]), vector), align=4)
            n = builder.ctpop(builder.bitcast(side, ir.IntType(_AT_ONCE)))
            builder.store(builder.add(to, builder.zext(n, _WORD)), count)

    @intrinsic
    def divide_rows(typingctx, codes, rows, start, stop, column, shift, bound, buffer):
        """Move rows[start:stop] with code - shift <= bound to the front, in order; return where the others begin.

        Codes wrap around below zero, so a shift by the missing code brings that one to the front of all.
        """

        def codegen(context, builder, signature, args):
            table = context.make_array(signature.args[0])(context, builder, args[0])
            rows, buffer = (context.make_array(signature.args[k])(context, builder, args[k]).data for k in (1, 7))
            codes, n_columns = builder.gep(table.data, [args[4]]), builder.extract_value(table.shape, 1)
            item, start, stop = codes.type.pointee, args[2], args[3]
            shift, bound = (builder.trunc(k, item) for k in args[5:7])
            left, n_right = (cgutils.alloca_once_value(builder, k) for k in (start, _WORD(0)))

            def code_at(builder, row):
                return builder.load(builder.gep(codes, [builder.mul(builder.zext(row, _WORD), n_columns)]))

            def goes_left(builder, code):
                return builder.icmp_unsigned("<=", builder.sub(code, shift), bound)

            if "+avx512f" in context.codegen().magic_tuple()[-1]:
                stride = builder.mul(n_columns, _WORD(item.width // 8))
                far = builder.add(start, builder.and_(builder.sub(stop, start), _WORD(-_AT_ONCE % (1 << 64))))
                with cgutils.for_range_slice(builder, start, far, _WORD(_AT_ONCE), _WORD, inc=True) as (i, _):
                    _sixteen(builder, codes, stride, rows, left, n_right, buffer, shift, bound, i)
            else:
                is_long = builder.icmp_unsigned(">", builder.sub(stop, start), _WORD(_AHEAD))
                far = builder.select(is_long, builder.sub(stop, _WORD(_AHEAD)), start)
                with cgutils.for_range_slice(builder, start, far, _WORD(1), _WORD, inc=True) as (i, _):
                    ahead = builder.load(builder.gep(rows, [builder.add(i, _WORD(_AHEAD))]))
                    ask_for(builder, builder.gep(codes, [builder.mul(builder.zext(ahead, _WORD), n_columns)]))
                    _one(builder, code_at, rows, left, n_right, buffer, goes_left, i)
            with cgutils.for_range_slice(builder, far, stop, _WORD(1), _WORD, inc=True) as (i, _):
                _one(builder, code_at, rows, left, n_right, buffer, goes_left, i)
            border = builder.load(left)
            with cgutils.for_range_slice(builder, _WORD(0), builder.load(n_right), _WORD(1), _WORD, inc=True) as (i, _):
                builder.store(builder.load(builder.gep(buffer, [i])), builder.gep(rows, [builder.add(border, i)]))
            return border

        kinds = codes, rows, *(types.uint64,) * 5, buffer
        return types.uint64(*kinds), codegen

else:

    def divide_rows(codes, rows, start, stop, column, shift, bound, buffer):
        here = rows[int(start) : int(stop)]
        largest = np.iinfo(codes.dtype).max
        shifted = (codes[here, int(column)].astype(np.int64) - int(shift)) & largest
        goes_left = shifted <= (int(bound) & largest)
        here[:] = np.concatenate([here[goes_left], here[~goes_left]])
        return int(start) + int(np.count_nonzero(goes_left))
