# mypy: ignore-errors
"""What sixteen cuts of one column leave on either side, and how well a cut of another column parts it: two sums a side.

running_squares  sums about whose means squares are least, or of two classes
running_gini     sums of many classes
running_costs    costs of many labels
running_tables   what a table says of the weight, less that of each class
"""

from llvmlite import ir
from numba.core import types
from numba.core.cgutils import for_range_slice

from dtnumba.runtime.instructions.running_extremes import N_LANES, is_allowed
from dtnumba.runtime.kernels import COMPILED
from dtnumba.runtime.records import Twin


def running_squares(order, place, weight, first, code, n, cut, least, whole, gain):
    """Find the largest a * a / v + b * b / w along an order: v and w sum weights before and behind a place, a, b first.

    ``gain`` (2, N_LANES) says so of the rows left and right of each lane's cut, wherever the code changes along the
    order and both parts have ``least`` rows; 0 where it never does. ``whole`` (2, 2, N_LANES) holds the sums of
    weights, and of first, of all rows of either side.
    """
    for w in range(N_LANES):
        for side in range(2):
            wholes = int(whole[0, side, w]), int(whole[1, side, w])
            best, below, v, a, here = 0.0, 1.0, 0, 0, 0
            for t in range(int(n)):
                r = order[t]
                if t > 0 and code[t] != code[t - 1] and is_allowed(here, int(cut[w]), int(n), int(least), side):
                    left, right = float(v), float(wholes[0] - v)
                    x, y = float(a), float(wholes[1] - a)
                    upper, lower = x * x * right + y * y * left, left * right
                    if upper * below > best * lower:
                        best, below = upper, lower
                if (place[r] < cut[w]) == (side == 0):
                    v, a, here = v + int(weight[r]), a + int(first[r]), here + 1
            gain[side, w] = best / below


def running_gini(order, place, label, weight, code, n, cut, least, counts, whole, gain):
    """Find the largest p / v + q / w along an order: p and q sum squares of class sums, v and w are sums of weights.

    As ``running_squares``; ``whole`` (labels, 2, N_LANES) holds class sums; ``counts`` (2 * labels, N_LANES) is
    scratch.
    """
    n_labels = len(counts) // 2
    for w in range(N_LANES):
        for side in range(2):
            wholes = [int(whole[k, side, w]) for k in range(n_labels)]
            best, below, here, size = 0.0, 1.0, 0, sum(wholes)
            left, right, v = [0] * n_labels, wholes[:], 0
            for t in range(int(n)):
                r = order[t]
                if t > 0 and code[t] != code[t - 1] and is_allowed(here, int(cut[w]), int(n), int(least), side):
                    p, q = float(sum(x * x for x in left)), float(sum(x * x for x in right))
                    upper, lower = p * float(size - v) + q * float(v), float(v) * float(size - v)
                    if upper * below > best * lower:
                        best, below = upper, lower
                if (place[r] < cut[w]) == (side == 0):
                    k, amount = label[r], int(weight[r])
                    left[k], right[k], v, here = left[k] + amount, right[k] - amount, v + amount, here + 1
            gain[side, w] = best / below


def running_costs(order, place, cost, code, n, cut, least, sums, whole, best):
    """Find the least that two labels cost, one up to a place and one behind it; ``cost`` (rows, labels).

    ``best`` (2, N_LANES) says so of the rows left and right of each lane's cut, if it is less than what stands there,
    wherever the code changes along the order and both parts have ``least`` rows. ``whole`` (labels, 2, N_LANES) holds
    the costs of all rows of either side; ``sums`` (2 * labels, N_LANES) is scratch.
    """
    n_labels = cost.shape[1]
    for w in range(N_LANES):
        for side in range(2):
            left, right, here = [0] * n_labels, [int(x) for x in whole[:, side, w]], 0
            for t in range(int(n)):
                r = order[t]
                if t > 0 and code[t] != code[t - 1] and is_allowed(here, int(cut[w]), int(n), int(least), side):
                    best[side, w] = min(int(best[side, w]), min(left) + min(right))
                if (place[r] < cut[w]) == (side == 0):
                    here += 1
                    for k in range(n_labels):
                        left[k] += int(cost[r, k])
                        right[k] -= int(cost[r, k])


def running_tables(order, place, label, weight, code, n, cut, least, of_class, of_size, counts, whole, best):
    """Find the least that tables say of two parts of a side: of_size of its weight less of_class of each class sum.

    As ``running_costs``; ``whole`` (labels, 2, N_LANES) holds class sums. ``counts`` (2 * labels, N_LANES) is scratch.
    """
    n_labels = len(counts) // 2
    for w in range(N_LANES):
        for side in range(2):
            right, here = [int(whole[k, side, w]) for k in range(n_labels)], 0
            left = [0] * n_labels
            for t in range(int(n)):
                r = order[t]
                if t > 0 and code[t] != code[t - 1] and is_allowed(here, int(cut[w]), int(n), int(least), side):
                    found = int(of_size[sum(left)] + of_size[sum(right)])
                    best[side, w] = min(int(best[side, w]), found - sum(int(of_class[x]) for x in left + right))
                if (place[r] < cut[w]) == (side == 0):
                    k, amount = label[r], int(weight[r])
                    left[k], right[k], here = left[k] + amount, right[k] - amount, here + 1


if COMPILED:
    from dtnumba.runtime.instructions.running_extremes import (
        NARROW,
        WORD,
        Sides,
        Variables,
        arrays_of,
        at,
        changes,
        lanes_of,
        smaller,
        splat,
        vectors,
        with_least,
    )

    _REAL = ir.DoubleType()
    _REALS, _WORDS = lanes_of(_REAL), lanes_of(WORD)

    class _Fractions:
        """The largest fraction in each lane of either side, as what is above and below the line: no division."""

        def __init__(self, builder):
            self.builder, self.upper, self.lower = builder, Variables(builder, _REAL, 2), Variables(builder, _REAL, 2)
            for side in range(2):
                self.lower[side] = ir.Constant(_REALS, [1.0] * N_LANES)

        def offer(self, sides, t, side, numbers):
            """Offer p / v + q / w where that is allowed; not where v or w is 0, as p or q then is."""
            builder, (p, q, v, w) = self.builder, numbers
            upper, lower = builder.fadd(builder.fmul(p, w), builder.fmul(q, v)), builder.fmul(v, w)
            ours, theirs = builder.fmul(upper, self.lower[side]), builder.fmul(self.upper[side], lower)
            ours = sides.where_allowed(t, side, ours, ir.Constant(_REALS, [0.0] * N_LANES))
            is_more = builder.fcmp_ordered(">", ours, theirs)
            self.upper[side] = builder.select(is_more, upper, self.upper[side])
            self.lower[side] = builder.select(is_more, lower, self.lower[side])

        def store(self, gain):
            """Write what the fractions are."""
            lanes = vectors(self.builder, gain)
            for side in range(2):
                found = self.builder.fdiv(self.upper[side], self.lower[side])
                self.builder.store(found, self.builder.gep(lanes, [WORD(side)]), align=8)

    def _slot(builder, data, first, second=None):
        """Return where the vector ``first`` of an array is, or vector (first, second) of one of pairs."""
        k = first if second is None else builder.add(builder.shl(first, WORD(1)), WORD(second))
        return builder.gep(data, [k])

    def _load(builder, slot):
        return builder.load(slot, align=8)

    def _parts(builder, amount, is_left):
        nothing = ir.Constant(_WORDS, [0] * N_LANES)
        return builder.select(is_left, amount, nothing), builder.select(is_left, nothing, amount)

    def _squares(typingctx, order, place, weight, first, code, n, cut, least, whole, gain):
        def codegen(context, builder, signature, args):
            order, place, weight, first, code, cut, whole, gain = arrays_of(context, builder, signature, args)
            wholes = vectors(builder, whole)
            totals = [_load(builder, _slot(builder, wholes, WORD(k), side)) for k in range(2) for side in range(2)]

            def follow(least):
                sides, best = Sides(builder, place, cut, args[5], least), _Fractions(builder)
                now = Variables(builder, WORD, 4)
                with for_range_slice(builder, WORD(0), args[5], WORD(1), WORD) as (t, _):
                    with builder.if_then(changes(builder, code, t)):
                        for side in range(2):
                            here = [now[2 * k + side] for k in range(2)]
                            rest = [builder.sub(totals[2 * k + side], here[k]) for k in range(2)]
                            here, rest = ([builder.sitofp(x, _REALS) for x in both] for both in (here, rest))
                            p, q = (builder.fmul(x[1], x[1]) for x in (here, rest))
                            best.offer(sides, t, side, (p, q, here[0], rest[0]))
                    row = builder.zext(at(builder, order, t), WORD)
                    is_left = sides.is_left(row)
                    for k, data in enumerate((weight, first)):
                        for side, part in enumerate(_parts(builder, splat(builder, at(builder, data, row)), is_left)):
                            now[2 * k + side] = builder.add(now[2 * k + side], part)
                best.store(gain)

            with_least(builder, args[7], follow)
            return context.get_dummy_value()

        kinds = order, place, weight, first, code, types.int64, cut, types.int64, whole, gain
        return types.void(*kinds), codegen

    def _gini(typingctx, order, place, label, weight, code, n, cut, least, counts, whole, gain):
        def codegen(context, builder, signature, args):
            order, place, label, weight, code, cut, counts, whole, gain = arrays_of(context, builder, signature, args)
            counts, wholes = vectors(builder, counts), vectors(builder, whole)
            shape = context.make_array(signature.args[8])(context, builder, args[8]).shape
            n_labels = builder.lshr(builder.extract_value(shape, 0), WORD(1))

            def follow(least):
                sides, best = Sides(builder, place, cut, args[5], least), _Fractions(builder)
                # Weights and sums of squares, before and behind, of either side
                v, p, w, q = (Variables(builder, WORD, 2) for _ in range(4))
                with for_range_slice(builder, WORD(0), n_labels, WORD(1), WORD) as (k, _):
                    for side in range(2):
                        x = _load(builder, _slot(builder, wholes, k, side))
                        builder.store(v.zero, _slot(builder, counts, k, side), align=8)
                        w[side], q[side] = builder.add(w[side], x), builder.add(q[side], builder.mul(x, x))
                with for_range_slice(builder, WORD(0), args[5], WORD(1), WORD) as (t, _):
                    with builder.if_then(changes(builder, code, t)):
                        for side in range(2):
                            real = [builder.sitofp(x[side], _REALS) for x in (p, q, v, w)]
                            best.offer(sides, t, side, real)
                    row = builder.zext(at(builder, order, t), WORD)
                    k = builder.zext(at(builder, label, row), WORD)
                    is_left = sides.is_left(row)
                    for side, x in enumerate(_parts(builder, splat(builder, at(builder, weight, row)), is_left)):
                        slot = _slot(builder, counts, k, side)
                        here = _load(builder, slot)
                        rest = builder.sub(_load(builder, _slot(builder, wholes, k, side)), here)
                        double = builder.add(x, x)
                        square = builder.mul(x, x)
                        builder.store(builder.add(here, x), slot, align=8)
                        p[side] = builder.add(p[side], builder.add(builder.mul(double, here), square))
                        q[side] = builder.add(q[side], builder.sub(square, builder.mul(double, rest)))
                        v[side], w[side] = builder.add(v[side], x), builder.sub(w[side], x)
                best.store(gain)

            with_least(builder, args[7], follow)
            return context.get_dummy_value()

        kinds = order, place, label, weight, code, types.int64, cut, types.int64, counts, whole, gain
        return types.void(*kinds), codegen

    def _costs(typingctx, order, place, cost, code, n, cut, least, sums, whole, best):
        def codegen(context, builder, signature, args):
            order, place, cost, code, cut, sums, whole, best = arrays_of(context, builder, signature, args)
            sums, wholes, lanes = (vectors(builder, data) for data in (sums, whole, best))
            n_labels = builder.extract_value(context.make_array(signature.args[2])(context, builder, args[2]).shape, 1)
            far = ir.Constant(_WORDS, [1 << 62] * N_LANES)

            def follow(least):
                sides, found = Sides(builder, place, cut, args[4], least), Variables(builder, WORD, 2)
                here, rest = Variables(builder, WORD, 2), Variables(builder, WORD, 2)
                for side in range(2):
                    found[side] = _load(builder, _slot(builder, lanes, WORD(side)))
                with for_range_slice(builder, WORD(0), n_labels, WORD(1), WORD) as (k, _):
                    for side in range(2):
                        builder.store(found.zero, _slot(builder, sums, k, side), align=8)
                with for_range_slice(builder, WORD(0), args[4], WORD(1), WORD) as (t, _):
                    with builder.if_then(changes(builder, code, t)):
                        for side in range(2):
                            here[side] = rest[side] = far
                        with for_range_slice(builder, WORD(0), n_labels, WORD(1), WORD) as (k, _):
                            for side in range(2):
                                x = _load(builder, _slot(builder, sums, k, side))
                                y = builder.sub(_load(builder, _slot(builder, wholes, k, side)), x)
                                here[side] = smaller(builder, x, here[side])
                                rest[side] = smaller(builder, y, rest[side])
                        for side in range(2):
                            both = sides.where_allowed(t, side, builder.add(here[side], rest[side]), far)
                            found[side] = smaller(builder, both, found[side])
                    row = builder.zext(at(builder, order, t), WORD)
                    is_left = sides.is_left(row)
                    first = builder.mul(row, n_labels)
                    with for_range_slice(builder, WORD(0), n_labels, WORD(1), WORD) as (k, _):
                        amount = splat(builder, at(builder, cost, builder.add(first, k)))
                        for side, x in enumerate(_parts(builder, amount, is_left)):
                            slot = _slot(builder, sums, k, side)
                            builder.store(builder.add(_load(builder, slot), x), slot, align=8)
                for side in range(2):
                    builder.store(found[side], _slot(builder, lanes, WORD(side)), align=8)

            with_least(builder, args[6], follow)
            return context.get_dummy_value()

        kinds = order, place, cost, code, types.int64, cut, types.int64, sums, whole, best
        return types.void(*kinds), codegen

    def _gather(builder, table, places):
        found = ir.Constant(_WORDS, ir.Undefined)
        for w in range(N_LANES):
            lane = NARROW(w)
            found = builder.insert_element(found, at(builder, table, builder.extract_element(places, lane)), lane)
        return found

    def _tables(typingctx, order, place, label, weight, code, n, cut, least, of_class, of_size, counts, whole, best):
        def codegen(context, builder, signature, args):
            arrays = arrays_of(context, builder, signature, args)
            order, place, label, weight, code, cut, of_class, of_size, counts, whole, best = arrays
            counts, wholes, lanes = (vectors(builder, data) for data in (counts, whole, best))
            shape = context.make_array(signature.args[10])(context, builder, args[10]).shape
            n_labels = builder.lshr(builder.extract_value(shape, 0), WORD(1))

            def follow(least):
                sides, found = Sides(builder, place, cut, args[5], least), Variables(builder, WORD, 2)
                # Weights before and behind, and what tables say of all their classes, of either side
                v, w, said = (Variables(builder, WORD, 2) for _ in range(3))
                for side in range(2):
                    found[side] = _load(builder, _slot(builder, lanes, WORD(side)))
                with for_range_slice(builder, WORD(0), n_labels, WORD(1), WORD) as (k, _):
                    for side in range(2):
                        x = _load(builder, _slot(builder, wholes, k, side))
                        builder.store(v.zero, _slot(builder, counts, k, side), align=8)
                        w[side] = builder.add(w[side], x)
                        said[side] = builder.add(said[side], _gather(builder, of_class, x))
                with for_range_slice(builder, WORD(0), args[5], WORD(1), WORD) as (t, _):
                    with builder.if_then(changes(builder, code, t)):
                        for side in range(2):
                            both = builder.add(_gather(builder, of_size, v[side]), _gather(builder, of_size, w[side]))
                            both = builder.sub(both, said[side])
                            both = sides.where_allowed(t, side, both, found[side])
                            found[side] = smaller(builder, both, found[side])
                    row = builder.zext(at(builder, order, t), WORD)
                    k = builder.zext(at(builder, label, row), WORD)
                    is_left = sides.is_left(row)
                    amount = splat(builder, at(builder, weight, row))
                    slots = [_slot(builder, counts, k, side) for side in range(2)]
                    before = [_load(builder, slot) for slot in slots]
                    totals = [_load(builder, _slot(builder, wholes, k, side)) for side in range(2)]
                    # A row is on one side of each cut: what changes is looked up once for both.
                    here = builder.select(is_left, *before)
                    rest = builder.sub(builder.select(is_left, *totals), here)
                    more, fewer = builder.add(here, amount), builder.sub(rest, amount)
                    moved = [_gather(builder, of_class, x) for x in (more, fewer, here, rest)]
                    change = builder.sub(builder.add(moved[0], moved[1]), builder.add(moved[2], moved[3]))
                    for side, (x, y) in enumerate(
                        zip(_parts(builder, amount, is_left), _parts(builder, change, is_left), strict=True)
                    ):
                        builder.store(builder.add(before[side], x), slots[side], align=8)
                        v[side], w[side] = builder.add(v[side], x), builder.sub(w[side], x)
                        said[side] = builder.add(said[side], y)
                for side in range(2):
                    builder.store(found[side], _slot(builder, lanes, WORD(side)), align=8)

            with_least(builder, args[7], follow)
            return context.get_dummy_value()

        kinds = order, place, label, weight, code, types.int64, cut, types.int64, of_class, of_size, counts, whole, best
        return types.void(*kinds), codegen

    running_tables = Twin("running_tables", _tables, running_tables)
    running_squares = Twin("running_squares", _squares, running_squares)
    running_gini = Twin("running_gini", _gini, running_gini)
    running_costs = Twin("running_costs", _costs, running_costs)
