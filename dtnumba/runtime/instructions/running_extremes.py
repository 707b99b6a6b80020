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


def running_extremes(order, place, step, code, n, cut, least, run):
    """Add step[r] of rows r in an order to the left sum of each lane where place[r] < cut, else to the right one.

    Rows 0 and 1 of ``run`` (6, N_LANES) become the left and right sums; 2 and 3 the least and largest left sum wherever
    the code changes along the order, beginning with 0; 4 and 5 those of the right sums. Of places with fewer than
    ``least`` rows of a side before or behind them nothing is told. Sums are as wide as steps are.
    """
    run[:] = 0
    count = [0] * N_LANES
    n, least = int(n), int(least)
    for t in range(n):
        r = order[t]
        if t > 0 and code[t] != code[t - 1]:
            for w in range(N_LANES):
                for side in range(2):
                    if is_allowed(t - count[w] if side else count[w], int(cut[w]), n, least, side):
                        run[2 + 2 * side, w] = min(run[2 + 2 * side, w], run[side, w])
                        run[3 + 2 * side, w] = max(run[3 + 2 * side, w], run[side, w])
        for w in range(N_LANES):
            run[0 if place[r] < cut[w] else 1, w] += step[r]
            count[w] += int(place[r] < cut[w])


def is_allowed(here, cut, n, least, side):
    """Tell whether a side of a cut of n rows, of which some are here, has so many rows here and elsewhere.

    Parts without rows are let pass where one row is enough: they tell what is known already.
    """
    whole = cut if side == 0 else n - cut
    return least <= 1 or (here >= least and whole - here >= least)


def running_majority(order, place, label, weight, code, n, cut, least, counts, before, best):
    """Find the most weight that two labels get right, one up to a place and one behind it.

    Rows 0 and 1 of ``best`` say so of the rows left and right of each lane's cut, wherever the code changes along the
    order and both parts have ``least`` rows, and with one label for all rows. ``counts`` (2 * labels, N_LANES) and
    ``before`` (n, 2, N_LANES) are scratch. Sums are as wide as weights are.
    """
    n, least, n_labels = int(n), int(least), len(counts) // 2
    for direction in range(2):
        counts[:] = 0
        most = [[0] * N_LANES for _ in range(2)]
        n_left = [0] * N_LANES
        for k in range(n):
            t = k if direction == 0 else n - 1 - k
            r = order[t]
            if direction == 0 and t > 0 and code[t] != code[t - 1]:
                before[t] = most
            for w in range(N_LANES):
                side = 0 if place[r] < cut[w] else 1
                counts[side * n_labels + label[r], w] += weight[r]
                most[side][w] = max(most[side][w], int(counts[side * n_labels + label[r], w]))
                n_left[w] += int(place[r] < cut[w])
            if direction == 1 and t > 0 and code[t] != code[t - 1]:
                for w in range(N_LANES):
                    for side in range(2):
                        if is_allowed(n - t - n_left[w] if side else n_left[w], int(cut[w]), n, least, side):
                            best[side, w] = max(best[side, w], before[t, side, w] + most[side][w])
        if direction == 0:
            best[:2] = most


if COMPILED:
    NARROW, WORD = ir.IntType(32), ir.IntType(64)

    def lanes_of(kind):
        """Return the vector of a number in each lane."""
        return ir.VectorType(kind, N_LANES)

    def splat(builder, x):
        """Return a vector that has a number in all lanes."""
        lanes = lanes_of(x.type)
        undefined, nothing = ir.Constant(lanes, ir.Undefined), ir.Constant(lanes_of(NARROW), [0] * N_LANES)
        return builder.shuffle_vector(builder.insert_element(undefined, x, NARROW(0)), undefined, nothing)

    def at(builder, data, k):
        """Return a number of an array."""
        return builder.load(builder.gep(data, [k]))

    def larger(builder, a, b):
        """Return the larger number in each lane."""
        return builder.select(builder.icmp_signed(">", a, b), a, b)

    def smaller(builder, a, b):
        """Return the smaller number in each lane."""
        return builder.select(builder.icmp_signed("<", a, b), a, b)

    def vectors(builder, data):
        """Return where an array is, as vectors."""
        return builder.bitcast(data, lanes_of(data.type.pointee).as_pointer())

    def arrays_of(context, builder, signature, args):
        """Return where the items of all arrays among arguments are."""
        return [
            context.make_array(kind)(context, builder, arg).data
            for kind, arg in zip(signature.args, args, strict=True)
            if isinstance(kind, types.Array)
        ]

    class Variables:
        """Vectors that change from row to row; LLVM keeps them in registers."""

        def __init__(self, builder, kind, n):
            from numba.core.cgutils import alloca_once

            self.zero = ir.Constant(lanes_of(kind), [0] * N_LANES)
            self.builder, self.slots = builder, [alloca_once(builder, lanes_of(kind)) for _ in range(n)]
            for k in range(n):
                self[k] = self.zero

        def __getitem__(self, k):
            return self.builder.load(self.slots[k])

        def __setitem__(self, k, value):
            self.builder.store(value, self.slots[k])

    class Sides:
        """Which side of each lane's cut rows are on, and how many have been seen there, where ``least`` is not None."""

        def __init__(self, builder, place, cut, n, least):
            self.builder, self.place, self.n, self.least = builder, place, n, least
            self.limits = builder.load(vectors(builder, cut), align=4)
            self.seen = None if least is None else Variables(builder, NARROW, 1)

        def is_left(self, row):
            """Look at a row, and return in which lanes it is left."""
            builder = self.builder
            found = builder.icmp_signed("<", splat(builder, at(builder, self.place, row)), self.limits)
            if self.seen is not None:
                self.seen[0] = builder.sub(self.seen[0], builder.sext(found, lanes_of(NARROW)))
            return found

        def where_allowed(self, t, side, x, other):
            """Return x where a side has the least rows in what was seen, ``t`` rows, and beyond; else the other."""
            return x if self.seen is None else self.builder.select(self._allowed(t)[side], x, other)

        def _allowed(self, t):
            builder, narrow = self.builder, lambda x: splat(self.builder, self.builder.trunc(x, NARROW))
            least, left = narrow(self.least), self.seen[0]
            right = builder.sub(narrow(t), left)
            beyond = builder.sub(self.limits, left), builder.sub(builder.sub(narrow(self.n), self.limits), right)
            return [
                builder.and_(builder.icmp_signed(">=", a, least), builder.icmp_signed(">=", b, least))
                for a, b in zip((left, right), beyond, strict=True)
            ]

    def with_least(builder, least, follow):
        """Emit ``follow(least)``, or ``follow(None)`` for least rows that every part has: a third of the time."""
        with builder.if_else(builder.icmp_signed(">", least, WORD(1))) as (then, otherwise):
            with then:
                follow(least)
            with otherwise:
                follow(None)

    def changes(builder, code, t):
        """Return whether the code at a place is another than before it."""
        previous = builder.select(builder.icmp_signed(">", t, WORD(0)), builder.sub(t, WORD(1)), t)
        return builder.icmp_signed("!=", at(builder, code, t), at(builder, code, previous))

    def width_of(data):
        """Return how many bytes an item has."""
        return data.type.pointee.width // 8

    def _extremes(typingctx, order, place, step, code, n, cut, least, run):
        def codegen(context, builder, signature, args):
            order, place, step, code, cut, run = arrays_of(context, builder, signature, args)

            def follow(least):
                sides, now = Sides(builder, place, cut, args[4], least), Variables(builder, step.type.pointee, 6)
                with for_range_slice(builder, WORD(0), args[4], WORD(1), WORD) as (t, _):
                    with builder.if_then(changes(builder, code, t)):
                        for side in range(2):
                            # Elsewhere 0 stands, which tells nothing.
                            here = sides.where_allowed(t, side, now[side], now.zero)
                            now[2 + 2 * side] = smaller(builder, here, now[2 + 2 * side])
                            now[3 + 2 * side] = larger(builder, here, now[3 + 2 * side])
                    row = builder.zext(at(builder, order, t), WORD)
                    amount, is_left = splat(builder, at(builder, step, row)), sides.is_left(row)
                    now[0] = builder.add(now[0], builder.select(is_left, amount, now.zero))
                    now[1] = builder.add(now[1], builder.select(is_left, now.zero, amount))
                lanes = vectors(builder, run)
                for k in range(6):
                    builder.store(now[k], builder.gep(lanes, [WORD(k)]), align=width_of(run))

            with_least(builder, args[6], follow)
            return context.get_dummy_value()

        return types.void(order, place, step, code, types.int64, cut, types.int64, run), codegen

    def _majority(typingctx, order, place, label, weight, code, n, cut, least, counts, before, best):
        def codegen(context, builder, signature, args):
            order, place, label, weight, code, cut, counts, before, best = arrays_of(context, builder, signature, args)
            n, align, kind = args[5], width_of(weight), weight.type.pointee
            counts, before, best = (vectors(builder, data) for data in (counts, before, best))
            shape = context.make_array(signature.args[8])(context, builder, args[8]).shape
            rows_of_counts = builder.extract_value(shape, 0)
            n_labels = builder.lshr(rows_of_counts, WORD(1))

            def slot_before(t, side):
                return builder.gep(before, [builder.add(builder.shl(t, WORD(1)), WORD(side))])

            def follow(least):
                most, together = Variables(builder, kind, 2), Variables(builder, kind, 2)
                directions = [Sides(builder, place, cut, n, limit) for limit in (None, least)]

                def add(t, sides):
                    row = builder.zext(at(builder, order, t), WORD)
                    amount, is_left = splat(builder, at(builder, weight, row)), sides.is_left(row)
                    where = builder.zext(at(builder, label, row), WORD)
                    parts = builder.select(is_left, amount, most.zero), builder.select(is_left, most.zero, amount)
                    for side, part in enumerate(parts):
                        slot = builder.gep(counts, [where if side == 0 else builder.add(where, n_labels)])
                        count = builder.add(builder.load(slot, align=align), part)
                        builder.store(count, slot, align=align)
                        most[side] = larger(builder, count, most[side])

                def clear():
                    with for_range_slice(builder, WORD(0), rows_of_counts, WORD(1), WORD) as (k, _):
                        builder.store(most.zero, builder.gep(counts, [k]), align=align)

                clear()
                with for_range_slice(builder, WORD(0), n, WORD(1), WORD) as (t, _):
                    with builder.if_then(changes(builder, code, t)):
                        for side in range(2):
                            builder.store(most[side], slot_before(t, side), align=align)
                    add(t, directions[0])
                for side in range(2):
                    together[side], most[side] = most[side], most.zero
                clear()
                with for_range_slice(builder, WORD(0), n, WORD(1), WORD) as (k, _):
                    t = builder.sub(builder.sub(n, WORD(1)), k)
                    add(t, directions[1])
                    with builder.if_then(changes(builder, code, t)):
                        for side in range(2):
                            found = builder.add(builder.load(slot_before(t, side), align=align), most[side])
                            found = directions[1].where_allowed(builder.add(k, WORD(1)), side, found, most.zero)
                            together[side] = larger(builder, found, together[side])
                for side in range(2):
                    builder.store(together[side], builder.gep(best, [WORD(side)]), align=align)

            with_least(builder, args[7], follow)
            return context.get_dummy_value()

        kinds = order, place, label, weight, code, types.int64, cut, types.int64, counts, before, best
        return types.void(*kinds), codegen

    running_extremes = Twin("running_extremes", _extremes, running_extremes)
    running_majority = Twin("running_majority", _majority, running_majority)
