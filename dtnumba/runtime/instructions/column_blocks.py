# mypy: ignore-errors
# ruff: noqa: D103
"""Passes over the rows of a node that treat 32 columns of codes at once: the codes of a row lie side by side.

A row's 32 codes of a byte are one load, and comparing them, or the smaller ones of two rows, one instruction; codes of
two and four bytes take one or two more. These are LLVM's own vectors, so any machine will do. Left to itself LLVM reads
such codes one by one. Every pass reads 32 codes of a row, whatever its width: tables of fewer columns, or the blocks
that begin late in a row, need SPARE codes behind the last row.
"""

import numpy as np

from dtnumba.runtime.kernels import COMPILED

COLUMNS = 32  # of a pass
SPARE = 32  # codes behind the last one
MOST_CLASSES = 8  # of a pass that counts them
MOST_AT_ONCE = 255  # that rows count together before sums of bytes overflow


if COMPILED:
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    from dtnumba.runtime.instructions.vector_compare import all_lanes

    _BYTE, _WORD = ir.IntType(8), ir.IntType(64)

    _BYTES, _PAIRS, _WORDS = (ir.VectorType(ir.IntType(bits), COLUMNS) for bits in (8, 16, 64))

    def _data(context, builder, signature, args, k):
        return context.make_array(signature.args[k])(context, builder, args[k]).data

    def _at(builder, data, place, vector):
        return builder.bitcast(builder.gep(data, [place]), vector.as_pointer())

    def _bytes_of(vector):
        floats = {ir.FloatType(): 4, ir.DoubleType(): 8}
        return floats[vector.element] if vector.element in floats else vector.element.width // 8

    def _load(builder, data, place, vector=None):
        vector = vector or ir.VectorType(data.type.pointee, COLUMNS)
        return builder.load(_at(builder, data, place, vector), align=_bytes_of(vector))

    def _store(builder, value, data, place):
        builder.store(value, _at(builder, data, place, value.type), align=_bytes_of(value.type))

    def _word_at(builder, data, place):
        """Load a number that is not below zero as a word."""
        number = builder.load(builder.gep(data, [place]))
        return number if number.type.width == 64 else builder.zext(number, _WORD)

    def _add_if(builder, mask, slot, number, vector=_BYTES):
        """Add a number to the items of a vector where a mask is set: one instruction of AVX-512."""
        before = builder.load(slot)
        after = builder.add(before, all_lanes(builder, number, vector.count))
        builder.store(builder.select(mask, after, before), slot)

    def _add_to_words(builder, value, data, place):
        _store(builder, builder.add(_load(builder, data, place, _WORDS), builder.zext(value, _WORDS)), data, place)

    def _apart(builder, name, emit, args):
        """Call a function of its own, which ``emit(builder, *args)`` fills: within a large kernel registers run out."""
        kinds = [arg.type for arg in args]
        name = "-".join([name, *map(str, kinds)])
        function = builder.module.globals.get(name)
        if function is None:
            function = ir.Function(builder.module, ir.FunctionType(_WORD, kinds), name)
            function.linkage = "internal"
            function.attributes.add("noinline")
            inside = ir.IRBuilder(function.append_basic_block("entry"))
            inside.ret(emit(inside, *function.args))
        return builder.call(function, args)

    def _as_pass(name, emit):
        """Return what lowers an intrinsic (codes, rows, start, stop, column, *arrays[, step]) to ``emit``.

        It gets the codes of the first row from ``column`` on, the length of a row, and all else as it is, of arrays
        the data.
        """

        def codegen(context, builder, signature, args):
            table = context.make_array(signature.args[0])(context, builder, args[0])
            given = [
                _data(context, builder, signature, args, k) if isinstance(kind, types.Array) else args[k]
                for k, kind in enumerate(signature.args)
            ]
            codes, stride = builder.gep(table.data, [args[4]]), builder.extract_value(table.shape, 1)
            return _apart(builder, name, emit, [codes, stride, *given[1:]])

        return codegen

    def _emit_extremes(builder, codes, stride, rows, start, stop, column, smallest, largest):
        vector = ir.VectorType(codes.type.pointee, COLUMNS)
        ends = (1 << vector.element.width) - 1, 0
        slots = [cgutils.alloca_once_value(builder, vector([k] * COLUMNS)) for k in ends]
        with cgutils.for_range_slice(builder, start, stop, _WORD(1), _WORD, inc=True) as (i, _):
            seen = _load(builder, codes, builder.mul(_word_at(builder, rows, i), stride))
            for slot, sign in zip(slots, "<>", strict=True):
                so_far = builder.load(slot)
                builder.store(builder.select(builder.icmp_unsigned(sign, seen, so_far), seen, so_far), slot)
        for slot, end in zip(slots, (smallest, largest), strict=True):
            _store(builder, builder.load(slot), end, column)
        return stop

    def _rows_while(builder, codes, stride, rows, start, stop, cuts, read, add):
        """Add up rows as long as they count MOST_AT_ONCE together; return the first row that was not added.

        ``read(row)`` returns what a row counts and what ``add(is_left, seen)`` is to know.
        """
        before, head, check, body, after = (
            builder.block,
            *(builder.append_basic_block(name) for name in ("head", "check", "body", "after")),
        )
        builder.branch(head)
        builder.position_at_end(head)
        i, counted = builder.phi(_WORD), builder.phi(_WORD)
        i.add_incoming(start, before)
        counted.add_incoming(_WORD(0), before)
        builder.cbranch(builder.icmp_unsigned("<", i, stop), check, after)
        builder.position_at_end(check)
        row = _word_at(builder, rows, i)
        count, seen = read(row)
        more = builder.add(counted, count)
        builder.cbranch(builder.icmp_unsigned("<=", more, _WORD(MOST_AT_ONCE)), body, after)
        builder.position_at_end(body)
        add(builder.icmp_unsigned("<=", _load(builder, codes, builder.mul(row, stride)), cuts), seen)
        i.add_incoming(builder.add(i, _WORD(1)), builder.block)
        counted.add_incoming(more, builder.block)
        builder.branch(head)
        builder.position_at_end(after)
        return i

    def _emit_records(builder, codes, stride, rows, start, stop, column, cuts, records, sums, step):
        total = cgutils.alloca_once_value(builder, _PAIRS(None))  # rows of class 1 << 8 | all rows

        def read(row):
            record = _word_at(builder, records, row)
            count = builder.lshr(record, _WORD(1))
            ones = builder.and_(count, builder.neg(builder.and_(record, _WORD(1))))
            return count, builder.trunc(builder.or_(builder.shl(ones, _WORD(8)), count), _PAIRS.element)

        def add(is_left, pair):
            _add_if(builder, is_left, total, pair, _PAIRS)

        end = _rows_while(builder, codes, stride, rows, start, stop, _load(builder, cuts, column), read, add)
        pairs = builder.load(total)
        ones = builder.lshr(pairs, _PAIRS([8] * COLUMNS))
        zeros = builder.sub(builder.and_(pairs, _PAIRS([255] * COLUMNS)), ones)
        _add_to_words(builder, zeros, sums, column)
        _add_to_words(builder, ones, sums, builder.add(column, step))
        return end

    def _emit_labels(builder, codes, stride, rows, start, stop, column, cuts, labels, weights, sums, step, n_classes):
        counts = cgutils.alloca_once(builder, ir.ArrayType(_BYTES, MOST_CLASSES))

        def of_class(c):
            return builder.gep(counts, [ir.IntType(32)(0), c])

        with cgutils.for_range_slice(builder, _WORD(0), n_classes, _WORD(1), _WORD, inc=True) as (c, _):
            builder.store(_BYTES(None), of_class(c))

        def read(row):
            count = _word_at(builder, weights, row)
            return count, (builder.trunc(count, _BYTE), _word_at(builder, labels, row))

        def add(is_left, seen):
            _add_if(builder, is_left, of_class(seen[1]), seen[0])

        end = _rows_while(builder, codes, stride, rows, start, stop, _load(builder, cuts, column), read, add)
        with cgutils.for_range_slice(builder, _WORD(0), n_classes, _WORD(1), _WORD, inc=True) as (c, _):
            _add_to_words(builder, builder.load(of_class(c)), sums, builder.add(builder.mul(c, step), column))
        return end

    def _emit_moments(builder, codes, stride, rows, start, stop, column, cuts, moments, weights, sums, step):
        n_rows = cgutils.alloca_once_value(builder, _BYTES(None))
        total = cgutils.alloca_once_value(builder, _WORDS(None))

        def read(row):
            count = _word_at(builder, weights, row)
            moment = builder.mul(count, builder.load(builder.gep(moments, [row])))
            return count, (builder.trunc(count, _BYTE), moment)

        def add(is_left, seen):
            _add_if(builder, is_left, n_rows, seen[0])
            _add_if(builder, is_left, total, seen[1], _WORDS)

        end = _rows_while(builder, codes, stride, rows, start, stop, _load(builder, cuts, column), read, add)
        _add_to_words(builder, builder.load(n_rows), sums, column)
        place = builder.add(column, step)
        _store(builder, builder.add(_load(builder, sums, place, _WORDS), builder.load(total)), sums, place)
        return end

    _PLACES = (types.uint64,) * 3  # start, stop, column

    @intrinsic
    def find_extremes(typingctx, codes, rows, start, stop, column, smallest, largest):
        """Write the smallest and largest code of 32 columns over rows[start:stop], from item ``column`` on."""
        return types.uint64(codes, rows, *_PLACES, smallest, largest), _as_pass("extremes", _emit_extremes)

    @intrinsic
    def add_records(typingctx, codes, rows, start, stop, column, cuts, records, sums, step):
        """Add rows whose code is at most the cut, in 32 columns: class 0 to sums[column:], 1 to sums[step + column:].

        A record is how often a row counts << 1 | its class. Stops before sums of bytes overflow; returns the row where.
        """
        kinds = codes, rows, *_PLACES, cuts, records, sums, types.uint64
        return types.uint64(*kinds), _as_pass("records", _emit_records)

    @intrinsic
    def add_labels(typingctx, codes, rows, start, stop, column, cuts, labels, weights, sums, step, n_classes):
        """Add rows of code <= cut to sums of up to eight classes: class c to sums[c * step + column:]."""
        kinds = codes, rows, *_PLACES, cuts, labels, weights, sums, types.uint64, types.uint64
        return types.uint64(*kinds), _as_pass("labels", _emit_labels)

    @intrinsic
    def add_moments(typingctx, codes, rows, start, stop, column, cuts, moments, weights, sums, step):
        """Add rows of code <= cut to sums of numbers: counts to sums[column:], moments to sums[step + column:]."""
        kinds = codes, rows, *_PLACES, cuts, moments, weights, sums, types.uint64
        return types.uint64(*kinds), _as_pass("moments", _emit_moments)

    def _compare_16(builder, context, signature, args):
        """Return a bit for each of array[at : at + 16], float64 or float32: whether it is at most a bound."""
        data, vector = _data(context, builder, signature, args, 0), ir.VectorType(ir.DoubleType(), 16)
        values = _load(builder, data, args[1], ir.VectorType(data.type.pointee, vector.count))
        if values.type != vector:
            values = builder.fpext(values, vector)
        found = builder.fcmp_ordered("<=", values, all_lanes(builder, args[-1], vector.count))
        return builder.zext(builder.bitcast(found, ir.IntType(16)), _WORD)

    @intrinsic
    def at_most_among_16(typingctx, array, at, bound):
        """Return how many of array[at : at + 16] are at most a bound."""

        def codegen(context, builder, signature, args):
            return builder.ctpop(_compare_16(builder, context, signature, args))

        return types.uint64(array, types.uint64, types.float64), codegen

    @intrinsic
    def at_most_among_first(typingctx, array, at, n, bound):
        """Return how many of array[at : at + n] are at most a bound, n at most 16; the array has 16 from there on."""

        def codegen(context, builder, signature, args):
            those = builder.sub(builder.shl(_WORD(1), args[2]), _WORD(1))
            return builder.ctpop(builder.and_(_compare_16(builder, context, signature, args), those))

        return types.uint64(array, types.uint64, types.uint64, types.float64), codegen

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

    def add_labels(codes, rows, start, stop, column, cuts, labels, weights, sums, step, n_classes):
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

    def at_most_among_first(array, at, n, bound):
        return np.uint64(np.count_nonzero(array[int(at) : int(at) + int(n)] <= bound))
