# mypy: ignore-errors
"""What sixteen cuts of one column leave on either side, followed along the order of another column in one pass.

running_extremes  running sums of each side, and the least and the largest of them
running_majority  the largest class sums before and behind each place, together
"""

from llvmlite import ir
from numba.core import types
from numba.core.cgutils import for_range_slice

from dtnumba.runtime.kernels import COMPILED
from dtnumba.runtime.records import Twin

N_LANES = 16


def running_extremes(order, place, step, code, n, cut, run):
    """Add step[r] of rows r in an order to the left sum of each lane where place[r] < cut, else to the right one.

    Rows 0 and 1 of ``run`` (6, N_LANES) become the left and right sums; 2 and 3 the least and largest left sum wherever
    the code changes along the order, beginning with 0; 4 and 5 those of the right sums.
    """
    run[:] = 0
    for t in range(int(n)):
        r = order[t]
        if t > 0 and code[t] != code[t - 1]:
            for side in range(2):
                for w in range(N_LANES):
                    run[2 + 2 * side, w] = min(run[2 + 2 * side, w], run[side, w])
                    run[3 + 2 * side, w] = max(run[3 + 2 * side, w], run[side, w])
        for w in range(N_LANES):
            run[0 if place[r] < cut[w] else 1, w] += step[r]


def running_majority(order, place, label, weight, code, n, cut, counts, before, best):
    """Find the most weight that two labels get right, one up to a place and one behind it.

    Rows 0 and 1 of ``best`` say so of the rows left and right of each lane's cut, wherever the code changes along the
    order, and with one label for all rows. ``counts`` (2 * labels, N_LANES) and ``before`` (n, 2, N_LANES) are scratch.
    """
    n, n_labels = int(n), len(counts) // 2
    for direction in range(2):
        counts[:] = 0
        most = [[0] * N_LANES for _ in range(2)]
        for k in range(n):
            t = k if direction == 0 else n - 1 - k
            r = order[t]
            if direction == 0 and t > 0 and code[t] != code[t - 1]:
                before[t] = most
            for w in range(N_LANES):
                side = 0 if place[r] < cut[w] else 1
                counts[side * n_labels + label[r], w] += weight[r]
                most[side][w] = max(most[side][w], int(counts[side * n_labels + label[r], w]))
            if direction == 1 and t > 0 and code[t] != code[t - 1]:
                for side in range(2):
                    for w in range(N_LANES):
                        best[side, w] = max(best[side, w], before[t, side, w] + most[side][w])
        if direction == 0:
            best[:2] = most


if COMPILED:
    _NARROW, _WORD = ir.IntType(32), ir.IntType(64)
    _LANES = ir.VectorType(_NARROW, N_LANES)
    _ZERO = ir.Constant(_LANES, [0] * N_LANES)

    def _splat(builder, x):
        undefined = ir.Constant(_LANES, ir.Undefined)
        return builder.shuffle_vector(builder.insert_element(undefined, x, _NARROW(0)), undefined, _ZERO)

    def _at(builder, data, k):
        return builder.load(builder.gep(data, [k]))

    def _larger(builder, a, b):
        return builder.select(builder.icmp_signed(">", a, b), a, b)

    def _smaller(builder, a, b):
        return builder.select(builder.icmp_signed("<", a, b), a, b)

    def _vectors(builder, data):
        return builder.bitcast(data, _LANES.as_pointer())

    def _arrays(context, builder, signature, args):
        return [
            context.make_array(kind)(context, builder, arg).data
            for kind, arg in zip(signature.args, args, strict=True)
            if isinstance(kind, types.Array)
        ]

    class _Variables:
        """Vectors that change from row to row; LLVM keeps them in registers."""

        def __init__(self, builder, n):
            from numba.core.cgutils import alloca_once

            self.builder, self.slots = builder, [alloca_once(builder, _LANES) for _ in range(n)]
            for k in range(n):
                self[k] = _ZERO

        def __getitem__(self, k):
            return self.builder.load(self.slots[k])

        def __setitem__(self, k, value):
            self.builder.store(value, self.slots[k])

    def _extremes(typingctx, order, place, step, code, n, cut, run):
        def codegen(context, builder, signature, args):
            order, place, step, code, cut, run = _arrays(context, builder, signature, args)
            limits = builder.load(_vectors(builder, cut), align=4)
            now = _Variables(builder, 6)
            with for_range_slice(builder, _WORD(0), args[4], _WORD(1), _WORD) as (t, _):
                previous = builder.select(builder.icmp_signed(">", t, _WORD(0)), builder.sub(t, _WORD(1)), t)
                changes = builder.icmp_signed("!=", _at(builder, code, t), _at(builder, code, previous))
                with builder.if_then(changes):
                    for side in range(2):
                        now[2 + 2 * side] = _smaller(builder, now[side], now[2 + 2 * side])
                        now[3 + 2 * side] = _larger(builder, now[side], now[3 + 2 * side])
                row = builder.zext(_at(builder, order, t), _WORD)
                amount = _splat(builder, _at(builder, step, row))
                is_left = builder.icmp_signed("<", _splat(builder, _at(builder, place, row)), limits)
                now[0] = builder.add(now[0], builder.select(is_left, amount, _ZERO))
                now[1] = builder.add(now[1], builder.select(is_left, _ZERO, amount))
            lanes = _vectors(builder, run)
            for k in range(6):
                builder.store(now[k], builder.gep(lanes, [_WORD(k)]), align=4)
            return context.get_dummy_value()

        return types.void(order, place, step, code, types.int64, cut, run), codegen

    def _majority(typingctx, order, place, label, weight, code, n, cut, counts, before, best):
        def codegen(context, builder, signature, args):
            order, place, label, weight, code, cut, counts, before, best = _arrays(context, builder, signature, args)
            limits, n = builder.load(_vectors(builder, cut), align=4), args[5]
            counts, before, best = (_vectors(builder, data) for data in (counts, before, best))
            shape = context.make_array(signature.args[7])(context, builder, args[7]).shape
            rows_of_counts = builder.extract_value(shape, 0)
            n_labels = builder.lshr(rows_of_counts, _WORD(1))
            most, together = _Variables(builder, 2), _Variables(builder, 2)

            def add(t):
                row = builder.zext(_at(builder, order, t), _WORD)
                amount = _splat(builder, _at(builder, weight, row))
                is_left = builder.icmp_signed("<", _splat(builder, _at(builder, place, row)), limits)
                where = builder.zext(_at(builder, label, row), _WORD)
                parts = builder.select(is_left, amount, _ZERO), builder.select(is_left, _ZERO, amount)
                for side, part in enumerate(parts):
                    slot = builder.gep(counts, [where if side == 0 else builder.add(where, n_labels)])
                    count = builder.add(builder.load(slot, align=4), part)
                    builder.store(count, slot, align=4)
                    most[side] = _larger(builder, count, most[side])

            def changes(t):
                previous = builder.select(builder.icmp_signed(">", t, _WORD(0)), builder.sub(t, _WORD(1)), t)
                return builder.icmp_signed("!=", _at(builder, code, t), _at(builder, code, previous))

            def slot_before(t, side):
                return builder.gep(before, [builder.add(builder.shl(t, _WORD(1)), _WORD(side))])

            def clear():
                with for_range_slice(builder, _WORD(0), rows_of_counts, _WORD(1), _WORD) as (k, _):
                    builder.store(_ZERO, builder.gep(counts, [k]), align=4)

            clear()
            with for_range_slice(builder, _WORD(0), n, _WORD(1), _WORD) as (t, _):
                with builder.if_then(changes(t)):
                    for side in range(2):
                        builder.store(most[side], slot_before(t, side), align=4)
                add(t)
            for side in range(2):
                together[side], most[side] = most[side], _ZERO
            clear()
            with for_range_slice(builder, _WORD(0), n, _WORD(1), _WORD) as (k, _):
                t = builder.sub(builder.sub(n, _WORD(1)), k)
                add(t)
                with builder.if_then(changes(t)):
                    for side in range(2):
                        found = builder.add(builder.load(slot_before(t, side), align=4), most[side])
                        together[side] = _larger(builder, found, together[side])
            for side in range(2):
                builder.store(together[side], builder.gep(best, [_WORD(side)]), align=4)
            return context.get_dummy_value()

        kinds = order, place, label, weight, code, types.int64, cut, counts, before, best
        return types.void(*kinds), codegen

    running_extremes = Twin("running_extremes", _extremes, running_extremes)
    running_majority = Twin("running_majority", _majority, running_majority)
