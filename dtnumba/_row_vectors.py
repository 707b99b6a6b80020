"""Passes over the rows of a node that treat 32 columns of codes at once: the codes of a row lie side by side.

A row's 32 codes are one load, and comparing them, or the smaller ones of two rows, one instruction; LLVM's own vectors,
so any machine will do. Left to itself LLVM reads such codes one by one. Every pass reads 32 bytes of a row, whatever
its width: tables of fewer columns, or the blocks that begin late in a row, need SPARE bytes behind the last row.
"""

import numpy as np

from dtnumba._jit import COMPILED

COLUMNS = 32  # of a pass
SPARE = 32  # bytes behind the codes
MOST_AT_ONCE = 255  # that rows count together before sums of bytes overflow

if COMPILED:
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    _BYTE, _WORD = ir.IntType(8), ir.IntType(64)
    _BYTES, _WORDS = ir.VectorType(_BYTE, COLUMNS), ir.VectorType(_WORD, COLUMNS)

    def _data(context, builder, signature, args, k):
        return context.make_array(signature.args[k])(context, builder, args[k]).data

    def _at(builder, data, place, vector):
        return builder.bitcast(builder.gep(data, [place]), vector.as_pointer())

    def _load(builder, data, place, vector=_BYTES):
        return builder.load(_at(builder, data, place, vector), align=vector.element.width // 8)

    def _store(builder, value, data, place):
        builder.store(value, _at(builder, data, place, value.type), align=value.type.element.width // 8)

    def _same(builder, number, vector=_BYTES):
        """Return a vector of equal numbers."""
        none, lane = vector(ir.Undefined), ir.IntType(32)
        first = builder.insert_element(none, number, lane(0))
        return builder.shuffle_vector(first, none, ir.VectorType(lane, COLUMNS)([0] * COLUMNS))

    def _word_at(builder, data, place):
        """Load a number that is not below zero as a word."""
        number = builder.load(builder.gep(data, [place]))
        return number if number.type.width == 64 else builder.zext(number, _WORD)

    def _kept_if(builder, mask, number):
        return builder.select(mask, _same(builder, number), _BYTES(None))

    @intrinsic
    def find_extremes(typingctx, codes, rows, start, stop, column, smallest, largest):
        """Write the smallest and largest code of 32 columns over rows[start:stop], from item ``column`` on."""

        def codegen(context, builder, signature, args):
            _, _, first, last, column, _, _ = args
            table = context.make_array(signature.args[0])(context, builder, args[0])
            rows, *ends = (_data(context, builder, signature, args, k) for k in (1, 5, 6))
            stride = builder.extract_value(table.shape, 1)
            slots = [cgutils.alloca_once_value(builder, _BYTES([k] * COLUMNS)) for k in (255, 0)]
            with cgutils.for_range_slice(builder, first, last, _WORD(1), _WORD, inc=True) as (i, _):
                place = builder.add(builder.mul(_word_at(builder, rows, i), stride), column)
                seen = _load(builder, table.data, place)
                for slot, sign in zip(slots, "<>", strict=True):
                    so_far = builder.load(slot)
                    is_further = builder.icmp_unsigned(sign, seen, so_far)
                    builder.store(builder.select(is_further, seen, so_far), slot)
            for slot, end in zip(slots, ends, strict=True):
                _store(builder, builder.load(slot), end, column)
            return context.get_dummy_value()

        words = (types.uint64,) * 3
        return types.void(codes, rows, *words, smallest, largest), codegen

    def _rows_while(builder, table, rows, first, last, column, cuts, read, add):
        """Add up rows as long as they count MOST_AT_ONCE together; return the first row that was not added.

        ``read(row)`` returns what a row counts and what ``add(is_left, seen)`` is to know.
        """
        stride = builder.extract_value(table.shape, 1)
        before, head, body, after = builder.block, *(builder.append_basic_block(k) for k in ("head", "body", "after"))
        check = builder.append_basic_block("check")
        builder.branch(head)
        builder.position_at_end(head)
        i, counted = builder.phi(_WORD), builder.phi(_WORD)
        i.add_incoming(first, before)
        counted.add_incoming(_WORD(0), before)
        builder.cbranch(builder.icmp_unsigned("<", i, last), check, after)
        builder.position_at_end(check)
        row = _word_at(builder, rows, i)
        count, seen = read(row)
        more = builder.add(counted, count)
        builder.cbranch(builder.icmp_unsigned("<=", more, _WORD(MOST_AT_ONCE)), body, after)
        builder.position_at_end(body)
        codes = _load(builder, table.data, builder.add(builder.mul(row, stride), column))
        add(builder.icmp_unsigned("<=", codes, cuts), seen)
        i.add_incoming(builder.add(i, _WORD(1)), builder.block)
        counted.add_incoming(more, builder.block)
        builder.branch(head)
        builder.position_at_end(after)
        return i

    def _add_to(builder, slot, value):
        builder.store(builder.add(builder.load(slot), value), slot)

    def _add_to_words(builder, value, data, place):
        _store(builder, builder.add(_load(builder, data, place, _WORDS), value), data, place)

    @intrinsic
    def add_records(typingctx, codes, rows, start, stop, column, cuts, records, sums, step):
        """Add rows whose code is at most the cut, in 32 columns: class 0 to sums[column:], 1 to sums[step + column:].

        A record is how often a row counts << 1 | its class. Stops before sums of bytes overflow; returns the row where.
        """

        def codegen(context, builder, signature, args):
            _, _, first, last, column, _, _, _, step = args
            table = context.make_array(signature.args[0])(context, builder, args[0])
            rows, cuts, records, sums = (_data(context, builder, signature, args, k) for k in (1, 5, 6, 7))
            slots = [cgutils.alloca_once_value(builder, _BYTES(None)) for _ in range(2)]

            def read(row):
                record = _word_at(builder, records, row)
                count = builder.lshr(record, _WORD(1))
                ones = builder.and_(count, builder.neg(builder.and_(record, _WORD(1))))
                return count, (builder.sub(count, ones), ones)

            def add(is_left, seen):
                for slot, count in zip(slots, seen, strict=True):
                    _add_to(builder, slot, _kept_if(builder, is_left, builder.trunc(count, _BYTE)))

            end = _rows_while(builder, table, rows, first, last, column, _load(builder, cuts, column), read, add)
            place = column
            for slot in slots:
                _add_to_words(builder, builder.zext(builder.load(slot), _WORDS), sums, place)
                place = builder.add(place, step)
            return end

        words = (types.uint64,) * 3
        return types.uint64(codes, rows, *words, cuts, records, sums, types.uint64), codegen

    @intrinsic
    def add_labels(typingctx, codes, rows, start, stop, column, cuts, labels, weights, sums, step):
        """Do as ``add_records`` for up to eight classes: class c to sums[c * step + column:]."""
        most = 8

        def codegen(context, builder, signature, args):
            _, _, first, last, column, _, _, _, _, step = args
            table = context.make_array(signature.args[0])(context, builder, args[0])
            rows, cuts, labels, weights, sums = (_data(context, builder, signature, args, k) for k in (1, 5, 6, 7, 8))
            length = builder.extract_value(context.make_array(signature.args[8])(context, builder, args[8]).shape, 0)
            counts = cgutils.alloca_once(builder, ir.ArrayType(_BYTES, most))
            n_classes = builder.udiv(length, step)

            def of_class(c):
                return builder.gep(counts, [ir.IntType(32)(0), c])

            with cgutils.for_range_slice(builder, _WORD(0), n_classes, _WORD(1), _WORD, inc=True) as (c, _):
                builder.store(_BYTES(None), of_class(c))

            def read(row):
                count = _word_at(builder, weights, row)
                return count, (count, _word_at(builder, labels, row))

            def add(is_left, seen):
                _add_to(builder, of_class(seen[1]), _kept_if(builder, is_left, builder.trunc(seen[0], _BYTE)))

            end = _rows_while(builder, table, rows, first, last, column, _load(builder, cuts, column), read, add)
            with cgutils.for_range_slice(builder, _WORD(0), n_classes, _WORD(1), _WORD, inc=True) as (c, _):
                place = builder.add(builder.mul(c, step), column)
                _add_to_words(builder, builder.zext(builder.load(of_class(c)), _WORDS), sums, place)
            return end

        words = (types.uint64,) * 3
        return types.uint64(codes, rows, *words, cuts, labels, weights, sums, types.uint64), codegen

    @intrinsic
    def add_moments(typingctx, codes, rows, start, stop, column, cuts, moments, weights, sums, step):
        """Do as ``add_records`` for numbers: counts to sums[column:], moments to sums[step + column:]."""

        def codegen(context, builder, signature, args):
            _, _, first, last, column, _, _, _, _, step = args
            table = context.make_array(signature.args[0])(context, builder, args[0])
            rows, cuts, moments, weights, sums = (_data(context, builder, signature, args, k) for k in (1, 5, 6, 7, 8))
            n_rows = cgutils.alloca_once_value(builder, _BYTES(None))
            total = cgutils.alloca_once_value(builder, _WORDS(None))

            def read(row):
                count = _word_at(builder, weights, row)
                return count, (count, builder.mul(count, builder.load(builder.gep(moments, [row]))))

            def add(is_left, seen):
                _add_to(builder, n_rows, _kept_if(builder, is_left, builder.trunc(seen[0], _BYTE)))
                _add_to(builder, total, builder.select(is_left, _same(builder, seen[1], _WORDS), _WORDS(None)))

            end = _rows_while(builder, table, rows, first, last, column, _load(builder, cuts, column), read, add)
            _add_to_words(builder, builder.zext(builder.load(n_rows), _WORDS), sums, column)
            _add_to_words(builder, builder.load(total), sums, builder.add(column, step))
            return end

        words = (types.uint64,) * 3
        return types.uint64(codes, rows, *words, cuts, moments, weights, sums, types.uint64), codegen

    @intrinsic
    def at_most_among_16(typingctx, array, at, bound):
        """Return how many of the float64 array[at : at + 16] are at most a bound."""

        def codegen(context, builder, signature, args):
            data, vector = _data(context, builder, signature, args, 0), ir.VectorType(ir.DoubleType(), 16)
            none, lane = vector(ir.Undefined), ir.IntType(32)
            first = builder.insert_element(none, args[2], lane(0))
            bounds = builder.shuffle_vector(first, none, ir.VectorType(lane, 16)([0] * 16))
            values = builder.load(_at(builder, data, args[1], vector), align=8)
            found = builder.bitcast(builder.fcmp_ordered("<=", values, bounds), ir.IntType(16))
            return builder.zext(builder.ctpop(found), _WORD)

        return types.uint64(array, types.uint64, types.float64), codegen

else:

    def find_extremes(codes, rows, start, stop, column, smallest, largest):
        column = int(column)
        seen = codes[rows[int(start) : int(stop)], column : column + COLUMNS]
        smallest[column : column + seen.shape[1]] = seen.min(axis=0)
        largest[column : column + seen.shape[1]] = seen.max(axis=0)

    def _add_rows(codes, rows, start, stop, column, cuts, count_of, add):
        column, counted = int(column), 0
        for i in range(int(start), int(stop)):
            row = rows[i]
            counted += count_of(row)
            if counted > MOST_AT_ONCE:
                return i
            seen = codes[row, column : column + COLUMNS]
            add(row, column + np.flatnonzero(seen <= cuts[column : column + len(seen)]))
        return int(stop)

    def add_records(codes, rows, start, stop, column, cuts, records, sums, step):
        def add(row, columns):
            sums[columns + (int(records[row]) & 1) * int(step)] += int(records[row]) >> 1

        return _add_rows(codes, rows, start, stop, column, cuts, lambda row: int(records[row]) >> 1, add)

    def add_labels(codes, rows, start, stop, column, cuts, labels, weights, sums, step):
        def add(row, columns):
            sums[columns + int(labels[row]) * int(step)] += int(weights[row])

        return _add_rows(codes, rows, start, stop, column, cuts, lambda row: int(weights[row]), add)

    def add_moments(codes, rows, start, stop, column, cuts, moments, weights, sums, step):
        def add(row, columns):
            sums[columns] += int(weights[row])
            sums[columns + int(step)] += int(weights[row]) * moments[row, 0]

        return _add_rows(codes, rows, start, stop, column, cuts, lambda row: int(weights[row]), add)

    def at_most_among_16(array, at, bound):
        return np.uint64(np.count_nonzero(array[int(at) : int(at) + 16] <= bound))
