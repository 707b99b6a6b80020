# mypy: ignore-errors
# ruff: noqa: D103
"""Sums of eight or sixteen cuts at once, running sums, and codes turned from rows to columns."""

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.cgutils import alloca_once_value, for_range_slice
from numba.extending import intrinsic

from dtnumba.runtime.kernels import COMPILED

if COMPILED:
    from dtnumba.runtime.instructions.vector_compare import all_lanes

    @intrinsic
    def running_sums(typingctx, array, at, n, sums, to, start, empties):
        """Write start + the sums of the int64 array[at:] up to each of n items to sums[0, to:]; return the last one.

        n is a multiple of 8. ``empties``: leave zeros behind. Three shifted additions for eight items.
        """

        def codegen(context, builder, signature, args):
            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            out = context.make_array(signature.args[3])(context, builder, args[3]).data
            vector, word = ir.VectorType(ir.IntType(64), 8), ir.IntType(64)
            none = vector(None)
            lanes = ir.VectorType(ir.IntType(32), 8)
            so_far = alloca_once_value(builder, all_lanes(builder, args[5], 8))
            with for_range_slice(builder, word(0), args[2], word(8), word) as (step, _):
                source = builder.gep(data, [builder.add(args[1], step)])
                found = builder.load(builder.bitcast(source, vector.as_pointer()), align=8)
                with builder.if_then(args[6]):
                    builder.store(none, builder.bitcast(source, vector.as_pointer()), align=8)
                for shift in (1, 2, 4):
                    shifted = lanes([lane - shift if lane >= shift else 8 for lane in range(8)])
                    found = builder.add(found, builder.shuffle_vector(found, none, shifted))
                # What these eight add is on its way to the next ones before it is added here: a cycle for each eight.
                before, here = builder.load(so_far), builder.shuffle_vector(found, none, lanes([7] * 8))
                target = builder.bitcast(builder.gep(out, [builder.add(args[4], step)]), vector.as_pointer())
                builder.store(builder.add(found, before), target, align=8)
                builder.store(builder.add(before, here), so_far)
            return builder.extract_element(builder.load(so_far), ir.IntType(32)(0))

        flag = types.boolean
        return types.int64(array, types.uint64, types.uint64, sums, types.uint64, types.int64, flag), codegen

    @intrinsic
    def running_pairs(typingctx, array, at, n, sums, to, start, empties):
        """Write running sums in int32, for n a multiple of 16 and items high << 32 | low; return the last one.

        Where the sums of both fit into 15 bits, they are written as high << 16 | low, to sums[to:].
        """

        def codegen(context, builder, signature, args):
            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            out = context.make_array(signature.args[3])(context, builder, args[3]).data
            word, half = ir.IntType(64), ir.IntType(32)
            eight, sixteen = ir.VectorType(word, 8), ir.VectorType(half, 16)
            lanes = ir.VectorType(half, 16)
            so_far = alloca_once_value(builder, all_lanes(builder, builder.trunc(args[5], half), 16))
            with for_range_slice(builder, word(0), args[2], word(16), word) as (step, _):
                halves = []
                for part in (0, 8):
                    place = builder.add(builder.add(args[1], step), word(part))
                    source = builder.bitcast(builder.gep(data, [place]), eight.as_pointer())
                    items = builder.load(source, align=8)
                    with builder.if_then(args[6]):
                        builder.store(eight(None), source, align=8)
                    high = builder.lshr(items, eight([16] * 8))
                    halves.append(builder.trunc(builder.or_(high, items), ir.VectorType(half, 8)))
                found, none = builder.shuffle_vector(*halves, lanes(list(range(16)))), sixteen(None)
                for shift in (1, 2, 4, 8):
                    shifted = lanes([lane - shift if lane >= shift else 16 for lane in range(16)])
                    found = builder.add(found, builder.shuffle_vector(found, none, shifted))
                before, here = builder.load(so_far), builder.shuffle_vector(found, none, lanes([15] * 16))
                target = builder.bitcast(builder.gep(out, [builder.add(args[4], step)]), sixteen.as_pointer())
                builder.store(builder.add(found, before), target, align=4)
                builder.store(builder.add(before, here), so_far)
            return builder.zext(builder.extract_element(builder.load(so_far), half(0)), word)

        flag = types.boolean
        return types.int64(array, types.uint64, types.uint64, sums, types.uint64, types.int64, flag), codegen

    @intrinsic
    def turn_8_by_8(typingctx, codes, rows, i, first, turned, at):
        """Write codes[rows[i : i + 8], first : first + 8] to ``turned``, a column after 64 items, from ``at`` on."""

        def codegen(context, builder, signature, args):
            table = context.make_array(signature.args[0])(context, builder, args[0])
            row = context.make_array(signature.args[1])(context, builder, args[1]).data
            out = context.make_array(signature.args[4])(context, builder, args[4]).data
            word, item = ir.IntType(64), table.data.type.pointee
            eight, all_64 = ir.VectorType(item, 8), ir.VectorType(item, 64)
            lanes = ir.VectorType(ir.IntType(32), 8)
            n_columns, lines = builder.extract_value(table.shape, 1), []
            for j in range(8):
                r = builder.load(builder.gep(row, [builder.add(args[2], word(j))]))
                r = r if r.type == word else builder.zext(r, word)
                place = builder.gep(table.data, [builder.add(builder.mul(r, n_columns), args[3])])
                lines.append(builder.load(builder.bitcast(place, eight.as_pointer()), align=1))
            while len(lines) > 1:  # put together, then taken apart again in one shuffle
                width = lines[0].type.count * 2
                both = ir.VectorType(ir.IntType(32), width)(list(range(width)))
                lines = [builder.shuffle_vector(a, b, both) for a, b in zip(lines[::2], lines[1::2], strict=True)]
            order = ir.VectorType(ir.IntType(32), 64)([8 * (k % 8) + k // 8 for k in range(64)])
            whole = builder.shuffle_vector(lines[0], all_64(ir.Undefined), order)
            for c in range(8):
                column = builder.shuffle_vector(whole, all_64(ir.Undefined), lanes([8 * c + k for k in range(8)]))
                target = builder.gep(out, [builder.add(args[5], word(64 * c))])
                builder.store(column, builder.bitcast(target, eight.as_pointer()), align=1)
            return context.get_dummy_value()

        return types.void(codes, rows, types.uint64, types.uint64, turned, types.uint64), codegen

    def _add_up_to(n_cuts):
        """Make f(bounds, at, codes, n, numbers, sums) for so many cuts, a multiple of 8."""

        @intrinsic
        def add_up(typingctx, bounds, at, codes, n, numbers, sums):
            """Write to sums[0, at:] and sums[1, at:] what the rows of codes up to each of the bounds add up to.

            Bounds and codes have 64 bits, and ``numbers`` two numbers a row: numbers[2 * i] and the next one. n is a
            multiple of four. A comparison and two additions a row for each eight bounds, and no branch.
            """

            def codegen(context, builder, signature, args):
                bound, code, number = (
                    context.make_array(signature.args[i])(context, builder, args[i]).data for i in (0, 2, 4)
                )
                out = context.make_array(signature.args[5])(context, builder, args[5])
                vector, word, unrolled = ir.VectorType(ir.IntType(64), 8), ir.IntType(64), 4
                places = [builder.add(args[1], word(at)) for at in range(0, n_cuts, 8)]
                own = [builder.bitcast(builder.gep(bound, [place]), vector.as_pointer()) for place in places]
                # Strictly below: LLVM turns any other comparison around, and then needs five instructions for three.
                own = [builder.add(builder.load(pointer, align=8), vector([1] * 8)) for pointer in own]
                totals = [alloca_once_value(builder, vector(None)) for _ in range(2 * len(own))]
                with for_range_slice(builder, word(0), args[3], word(unrolled), intp=word) as (first, _):
                    found = [builder.load(total) for total in totals]
                    for step in range(unrolled):
                        i = builder.add(first, word(step))
                        row = all_lanes(builder, builder.load(builder.gep(code, [i])), 8)
                        twice = builder.shl(i, word(1))
                        pair = [builder.load(builder.gep(number, [builder.add(twice, word(k))])) for k in range(2)]
                        pair = [all_lanes(builder, item, 8) for item in pair]
                        for j, bounds_8 in enumerate(own):
                            is_below = builder.icmp_signed("<", row, bounds_8)
                            for k in range(2):
                                item = builder.select(is_below, pair[k], vector(None))
                                found[2 * j + k] = builder.add(found[2 * j + k], item)
                    for total, value in zip(totals, found, strict=True):
                        builder.store(value, total)
                columns = builder.extract_value(out.shape, 1)
                for j, place in enumerate(places):
                    for k in range(2):
                        to = builder.gep(out.data, [builder.add(builder.mul(columns, word(k)), place)])
                        value = builder.load(totals[2 * j + k])
                        builder.store(value, builder.bitcast(to, vector.as_pointer()), align=8)
                return context.get_dummy_value()

            return types.void(bounds, types.uint64, codes, types.uint64, numbers, sums), codegen

        return add_up

    add_up_to_8, add_up_to_16 = _add_up_to(8), _add_up_to(16)

    def _sum_up_8(n_rows):
        """Make ``sum_up_few`` for features of so many rows, 4 or 8: one feature or two fill a vector."""

        @intrinsic
        def sum_up(typingctx, codes, bases, ids, numbers, whose, missing, places, sums, at):
            def codegen(context, builder, signature, args):
                code, own, number, place = (
                    context.make_array(signature.args[i])(context, builder, args[i]).data for i in (0, 2, 3, 6)
                )
                out = context.make_array(signature.args[7])(context, builder, args[7])
                word, lane = ir.IntType(64), ir.IntType(32)
                vector = ir.VectorType(word, 8)

                def of_feature(pair):
                    items = [builder.extract_value(args[pair], k) for k in range(2)]
                    if n_rows == 8:
                        return all_lanes(builder, items[0], 8)
                    halves = [all_lanes(builder, item, 8) for item in items]
                    return builder.shuffle_vector(*halves, ir.VectorType(lane, 8)([0] * 4 + [8] * 4))

                narrow = ir.VectorType(code.type.pointee, 8)
                found = narrow(ir.Undefined)
                rows = [builder.load(builder.gep(own, [word(i)])) for i in range(n_rows)]
                for k in range(8):
                    base = builder.extract_value(args[1], k // n_rows)
                    item = builder.load(builder.gep(code, [builder.add(base, rows[k % n_rows])]))
                    found = builder.insert_element(found, item, lane(k))
                found = builder.zext(found, vector)
                bounds, totals = builder.add(found, vector([1] * 8)), [vector(None)] * 2
                firsts = None
                for i in range(n_rows):
                    lanes = [k // n_rows * n_rows + i for k in range(8)]
                    row = builder.shuffle_vector(found, vector(ir.Undefined), ir.VectorType(lane, 8)(lanes))
                    firsts = row if firsts is None else firsts
                    is_below = builder.icmp_signed("<", row, bounds)
                    for k in range(2):
                        item = all_lanes(builder, builder.load(builder.gep(number, [word(2 * i + k)])), 8)
                        totals[k] = builder.add(totals[k], builder.select(is_below, item, vector(None)))
                columns = builder.extract_value(out.shape, 1)
                for k, total in enumerate(totals):
                    to = builder.gep(out.data, [builder.add(builder.mul(columns, word(k)), args[8])])
                    builder.store(total, builder.bitcast(to, vector.as_pointer()), align=8)
                to = builder.bitcast(builder.gep(place, [args[8]]), vector.as_pointer())
                builder.store(builder.or_(found, of_feature(4)), to, align=8)
                differ = builder.bitcast(builder.icmp_unsigned("!=", found, firsts), ir.IntType(8))
                lacking = builder.bitcast(builder.icmp_unsigned("==", found, of_feature(5)), ir.IntType(8))
                lacking = builder.shl(builder.zext(lacking, word), word(8))
                return builder.or_(builder.zext(differ, word), lacking)

            pair = types.UniTuple(types.uint64, 2)
            return types.uint64(codes, pair, ids, numbers, pair, pair, places, sums, types.uint64), codegen

        return sum_up

    sum_up_4, sum_up_8 = _sum_up_8(4), _sum_up_8(8)

else:

    def running_sums(array, at, n, sums, to, start, empties):
        for k in range(int(n)):
            start += array[int(at) + k]
            sums[0, int(to) + k] = start
            if empties:
                array[int(at) + k] = 0
        return start

    def running_pairs(array, at, n, sums, to, start, empties):
        for k in range(int(at), int(at) + int(n)):
            start += (int(array[k]) >> 32 << 16) | (int(array[k]) & 0xFFFF)
            sums[int(to) + k - int(at)] = start
            if empties:
                array[k] = 0
        return start

    def turn_8_by_8(codes, rows, i, first, turned, at):
        for j in range(8):
            for c in range(8):
                turned[int(at) + 64 * c + j] = codes[int(rows[int(i) + j]), int(first) + c]

    def add_up_to_8(bounds, at, codes, n, numbers, sums, n_cuts=8):
        for k in range(int(at), int(at) + n_cuts):
            rows = [i for i in range(int(n)) if codes[i] <= bounds[k]]
            for j in range(2):
                sums[j, k] = sum(int(numbers[2 * i + j]) for i in rows)

    def _sum_up_few(n_rows, codes, bases, ids, numbers, whose, missing, places, sums, at):
        flags = 0
        for k in range(8):
            base, first = int(bases[k // n_rows]), k // n_rows * n_rows
            own = [int(codes[base + int(ids[i])]) for i in range(n_rows)]
            bound = own[k - first]
            for j in range(2):
                sums[j, int(at) + k] = sum(int(numbers[2 * i + j]) for i in range(n_rows) if own[i] <= bound)
            places[int(at) + k] = np.uint64(int(whose[k // n_rows]) | bound)
            flags |= int(bound != own[0]) << k | int(bound == int(missing[k // n_rows])) << (8 + k)
        return np.uint64(flags)

    def sum_up_4(*arguments):
        return _sum_up_few(4, *arguments)

    def sum_up_8(*arguments):
        return _sum_up_few(8, *arguments)

    def add_up_to_16(*arguments):
        add_up_to_8(*arguments, 16)
