"""Every Numba option of the package. No other module imports numba, but those that write instructions themselves.

kernel      compile on first call, with the house options and the house's disk cache
by_type     one name, many implementations: the type of the first argument picks the code, at compile time
part        mark the methods of a NamedTuple as callable from kernels
launch      the one ``prange`` of the package: run a task on several workers
take_ticket hand out work inside a task, so that no core idles at the end
"""

import ctypes
import linecache
import multiprocessing
import os
import re
import sys
import threading

import numba
import numpy as np
from llvmlite import ir
from numba import int64, njit, prange
from numba._dispatcher import compute_fingerprint
from numba.core import config, types
from numba.core.cgutils import alloca_once, alloca_once_value, for_range_slice
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.cpython.unsafe.tuple import tuple_setitem
from numba.extending import intrinsic, overload, register_jitable

from dtnumba._absorb import absorbed_options, kernel_options
from dtnumba._cache import keep_on_disk

# Room for a task: one of thirty arrays takes 2 kB.
_TASK_BYTES = 8192
COMPILED = not config.DISABLE_JIT
_HOUSE = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False, **kernel_options()}


def kernel(function=None, **options):
    """Compile on first call with the house options; ``forceinline=True`` for what runs per row or bin.

    ``error_model="numpy"`` took a division loop from 90 to 20 us; ``fastmath`` is never set, because a histogram loop
    gains nothing from it and trees must not depend on how LLVM reassociates a sum.
    """
    if function is None:
        return lambda found: kernel(found, **options)
    dispatcher = njit(**(_HOUSE | options))(function)
    return keep_on_disk(dispatcher) if COMPILED else dispatcher


_ABSORBED = absorbed_options()


def inline(function):
    """Mark a function that kernels absorb where they call it: called per row or per bin, never from Python alone."""
    return njit(**_ABSORBED)(function)


def in_python(function):
    """Return the Python body of an ``inline`` function, for the few calls a fit makes of it outside kernels."""
    return getattr(function, "py_func", function)


def part(cls):
    """Make the public methods of a NamedTuple callable from kernels; returns the class."""
    for base in reversed(cls.__mro__[:-1]):
        for name, method in vars(base).items():
            if not name.startswith("_") and callable(method) and base.__module__ != "builtins":
                jitable(method)
    return cls


_JITABLE = set()


def jitable(method):
    if method not in _JITABLE:
        _JITABLE.add(method)
        register_jitable(**_ABSORBED)(method)


def by_type(name, fallback=None):
    """Make ``f(part, *args)`` that runs ``type(part).<name>``, in Python and inside kernels alike.

    A part without the method gets ``fallback``, a plain function with the same arguments.
    """

    def call(part, *args):
        return getattr(type(part), name, fallback)(part, *args)

    # strict=False: the method itself is the implementation, whatever it calls its arguments. A wrapper around it
    # doubled the number of functions to compile.
    @overload(call, jit_options=_ABSORBED, strict=False)
    def compiled(part, *args):
        return getattr(_class_of(part), name, fallback)

    call.__name__ = name
    return call


def _class_of(part):
    """Return the class that a part's type stands for; a part may be handed on by its address."""
    at = part.dtype if isinstance(part, types.CPointer) else part
    return getattr(at, "instance_class", None)


def by_having(name, having, lacking):
    """Make ``f(part, *args)`` that runs ``having`` where the part's type has the method ``name``, else ``lacking``."""
    return by_class(lambda cls: hasattr(cls, name), having, lacking)


def by_class(question, yes, no):
    """Make ``f(part, *args)`` that runs ``yes`` where ``question`` of the part's class holds, else ``no``."""

    def call(part, *args):
        return (yes if question(type(part)) else no)(part, *args)

    @overload(call, jit_options=_ABSORBED, strict=False)
    def compiled(part, *args):
        return yes if question(_class_of(part)) else no

    return call


def complaint(function, *arguments):
    """Return why a user's function cannot be compiled to give a number for such arguments, or None where it can."""
    if not COMPILED:
        return None
    dispatcher = njit(**_HOUSE)(function)
    try:
        dispatcher.compile(tuple(numba.typeof(argument) for argument in arguments))
    except Exception as error:  # noqa: BLE001, Numba's errors share no class
        return f"does not compile: {_reason(str(error), function)}"
    returned = dispatcher.nopython_signatures[0].return_type
    return None if isinstance(returned, (types.Number, types.Boolean)) else f"must return a number, not {returned}"


def _reason(message, function):
    """Find, in what Numba says, the one sentence and the line of source it is about."""
    if "NRT required" in message or "Only accept returning of array" in message:
        text = "it makes an array or a list, which takes memory; loop over stats[k] instead"
    else:
        said = [line.strip() for line in message.splitlines() if line.strip()]
        said = [line for line in said if not line.startswith("Failed in nopython")] or [type(function).__name__]
        text = " ".join(said[:2]) if said[0].endswith(":") else said[0]
    lines = re.findall(r'File ".*", line (\d+):', message)
    source = linecache.getline(function.__code__.co_filename, int(lines[-1])).strip() if lines else ""
    return f"{text} (line {lines[-1]}: {source})" if source else text


if COMPILED:
    with_item = tuple_setitem  # a tuple with one item changed

    @intrinsic
    def take_ticket(typingctx, counter):
        """Return counter[0] and add one to it, atomically: the workers of a task share out its items by it."""

        def codegen(context, builder, signature, args):
            array = context.make_array(signature.args[0])(context, builder, args[0])
            return builder.atomic_rmw("add", array.data, ir.Constant(ir.IntType(64), 1), "monotonic")

        return types.int64(counter), codegen

    @intrinsic
    def take_many(typingctx, counter, amount):
        """Return counter[0] and add an amount to it, atomically."""

        def codegen(context, builder, signature, args):
            array = context.make_array(signature.args[0])(context, builder, args[0])
            return builder.atomic_rmw("add", array.data, args[1], "monotonic")

        return types.int64(counter, types.int64), codegen

    @intrinsic
    def lowest_bit(typingctx, word):
        """Index of the lowest set bit of a uint64 that is not zero."""

        def codegen(context, builder, signature, args):
            return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

        return types.uint64(types.uint64), codegen

    @intrinsic
    def bit_count(typingctx, word):
        """Return how many bits of a uint64 are set."""

        def codegen(context, builder, signature, args):
            return builder.ctpop(args[0])

        return types.uint64(types.uint64), codegen

    def ask_for(builder, pointer):
        """Ask for the cache line of a pointer, to be read soon; for those who write instructions."""
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        asked = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        builder.call(asked, [builder.bitcast(pointer, byte), word(0), word(3), word(1)])

    @intrinsic
    def prefetch(typingctx, array, i, j):
        """Ask for the cache line of array[i] of a C-ordered array, ``j`` items on, to be read soon."""

        def codegen(context, builder, signature, args):
            view = context.make_array(signature.args[0])(context, builder, args[0])
            items = args[1]
            for axis in range(1, signature.args[0].ndim):
                items = builder.mul(items, builder.extract_value(view.shape, axis))
            ask_for(builder, builder.gep(view.data, [builder.add(items, args[2])]))
            return context.get_dummy_value()

        return types.void(array, types.uint64, types.uint64), codegen

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
        """Do as ``running_sums`` in int32, for n a multiple of 16 and items high << 32 | low.

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

    @intrinsic
    def choose_leaves(typingctx, columns, offsets, ranks, tree, leaves, at):
        """Write to leaves[at:at + 64] which leaf of a complete tree of depth 6 each of 64 rows ends in.

        Node k of the tree, of 63 in breadth-first order, sends left the rows r with columns[offset + r] <= rank, where
        the two numbers are item 63 * tree + k of ``offsets`` and ``ranks``. Vectors of the compiler's, without a branch
        or a gather: a comparison and a selection a node for all rows.
        """
        rows = 64

        def codegen(context, builder, signature, args):
            whole, wide = ir.IntType(64), ir.VectorType(ir.IntType(16), rows)
            bytes_ = ir.VectorType(ir.IntType(8), rows)
            column, offset, rank, leaf = (
                context.make_array(signature.args[i])(context, builder, args[i]).data for i in (0, 1, 2, 4)
            )
            first = builder.mul(args[3], ir.Constant(whole, rows - 1))
            none = ir.Constant(wide, ir.Undefined)
            lane_0 = ir.Constant(ir.IntType(32), 0)
            all_lanes = ir.Constant(ir.VectorType(ir.IntType(32), rows), [0] * rows)

            def choose(node):
                if node >= rows - 1:
                    return ir.Constant(bytes_, [node - (rows - 1)] * rows)
                item = builder.add(first, ir.Constant(whole, node))
                start = builder.zext(builder.load(builder.gep(offset, [item])), whole)
                x = builder.load(builder.bitcast(builder.gep(column, [start]), wide.as_pointer()), align=2)
                bound = builder.insert_element(none, builder.load(builder.gep(rank, [item])), lane_0)
                goes_left = builder.icmp_unsigned("<=", x, builder.shuffle_vector(bound, none, all_lanes))
                left = choose(2 * node + 1)
                return builder.select(goes_left, left, choose(2 * node + 2))

            target = builder.bitcast(builder.gep(leaf, [args[5]]), bytes_.as_pointer())
            builder.store(choose(0), target, align=1)
            return context.get_dummy_value()

        return types.void(columns, offsets, ranks, types.int64, leaves, types.int64), codegen

    @intrinsic
    def address_of(typingctx, value):
        """Return a pointer to a copy of a value, good until the caller returns: what kernels pass to one another.

        Its items can be read off a pointer like those of the tuple: ``job.codes``, and like its own those of the item
        that its type ``embeds``. An item that is a NamedTuple with ``by_address = True`` is read as a pointer in turn.
        A tuple of fifty arrays passed by value took a kernel of thirty lines minutes to compile, because every look at
        an item copied all of them.
        """

        def codegen(context, builder, signature, args):
            model = context.data_model_manager[signature.args[0]]
            data = model.as_data(builder, args[0])
            slot = alloca_once(builder, data.type)
            builder.store(data, slot)
            return slot

        return types.CPointer(value)(value), codegen

    @intrinsic
    def value_at(typingctx, pointer):
        def codegen(context, builder, signature, args):
            model = context.data_model_manager[signature.return_type]
            value = model.load_from_data_pointer(builder, args[0])
            return impl_ret_borrowed(context, builder, signature.return_type, value)

        return pointer.dtype(pointer), codegen

    def _path_to(kind, name):
        """Return the positions that lead to an item of a NamedTuple or of what it ``embeds``, or None."""
        if not isinstance(kind, types.BaseNamedTuple):
            return None
        if name in kind.fields:
            return [kind.fields.index(name)]
        within = getattr(kind.instance_class, "embeds", None)
        at = kind.fields.index(within) if within else -1
        rest = _path_to(kind[at], name) if within else None
        return None if rest is None else [at, *rest]

    def _item_at(kind, path):
        for at in path:
            kind = kind[at]
        return kind

    def _is_by_address(item):
        return getattr(getattr(item, "instance_class", None), "by_address", False)

    @infer_getattr
    class _Items(AttributeTemplate):
        key = types.CPointer

        def generic_resolve(self, pointer, name):
            path = _path_to(pointer.dtype, name)
            if path is None:
                return None
            item = _item_at(pointer.dtype, path)
            return types.CPointer(item) if _is_by_address(item) else item

    @lower_getattr_generic(types.CPointer)
    def _item_of(context, builder, pointer, value, name):
        path = _path_to(pointer.dtype, name)
        item = _item_at(pointer.dtype, path)
        place = builder.gep(value, [ir.Constant(ir.IntType(32), at) for at in (0, *path)])
        if _is_by_address(item):
            return place
        loaded = context.data_model_manager[item].load_from_data_pointer(builder, place)
        return impl_ret_borrowed(context, builder, item, loaded)

    @intrinsic
    def call_at(typingctx, entry, pointer, a, b, c):
        """Call a kernel by what ``entry_of`` returned, with a pointer and three integers; return its integer."""

        def codegen(context, builder, signature, args):
            word, address = ir.IntType(64), ir.IntType(8).as_pointer()
            result = alloca_once(builder, word)
            kind = ir.FunctionType(ir.IntType(32), [word.as_pointer(), address, args[1].type, word, word, word])
            unread = builder.bitcast(alloca_once(builder, word), address)  # an exception, which kernels do not raise
            builder.call(builder.inttoptr(args[0], kind.as_pointer()), [result, unread, *args[1:]])
            return builder.load(result)

        return types.int64(types.int64, pointer, types.int64, types.int64, types.int64), codegen

else:

    def with_item(items, i, value):
        return (*items[:i], value, *items[i + 1 :])

    def take_ticket(counter):
        ticket = int(counter[0])
        counter[0] += 1
        return ticket

    def take_many(counter, amount):
        before = int(counter[0])
        counter[0] += amount
        return before

    def lowest_bit(word):
        word = int(word)
        return (word & -word).bit_length() - 1

    def bit_count(word):
        return int(word).bit_count()

    def prefetch(array, i, j):
        pass

    def copy_row(rows, i, to, j):
        to[j] = rows[i]

    def nonzero_among_64(array, at):
        return np.uint64(sum(int(array[int(at) + k] != 0) << k for k in range(64)))

    def at_most_among_64(array, at, bound):
        return np.uint64(sum(int(array[int(at) + k] <= bound) << k for k in range(64)))

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

    def largest_of(array, at, n):
        return max((float(value) for value in array[int(at) : int(at + n)] if value == value), default=-np.inf)

    def least_above_among_64(array, at, bound, among):
        found = [int(array[int(at) + k]) for k in range(64) if int(among) >> k & 1]
        return np.uint64(min((value for value in found if value > bound), default=np.iinfo(array.dtype).max))

    def above_among_8(array, at, bound):
        return np.uint64(sum(int(array[int(at) + k] > bound) << k for k in range(8)))

    def turn_8_by_8(codes, rows, i, first, turned, at):
        for j in range(8):
            for c in range(8):
                turned[int(at) + 64 * c + j] = codes[int(rows[int(i) + j]), int(first) + c]

    def at_least_among_16(array, at, bound):
        return np.uint64(sum(int(array[int(at) + k] >= np.float32(bound)) << k for k in range(16)))

    def at_least_among_8(array, at, bound):
        return np.uint64(sum(int(array[int(at) + k] >= bound) << k for k in range(8)))

    def add_up_to_8(bounds, at, codes, n, numbers, sums, n_cuts=8):
        for k in range(int(at), int(at) + n_cuts):
            rows = [i for i in range(int(n)) if codes[i] <= bounds[k]]
            for j in range(2):
                sums[j, k] = sum(int(numbers[2 * i + j]) for i in rows)

    def first_above(values, places, n, bound):
        found = [k for k in range(int(n)) if values[k] > bound]
        return np.uint64(min(found, key=lambda k: int(places[k])))

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

    def equal_among_64(array, at, bound):
        return np.uint64(sum(int(array[int(at) + k] == bound) << k for k in range(64)))

    def choose_leaves(columns, offsets, ranks, tree, leaves, at):
        for row in range(64):
            node = 0
            while node < 63:
                item = 63 * tree + node
                node = 2 * node + 1 + int(columns[int(offsets[item]) + row] > ranks[item])
            leaves[at + row] = node - 63

    def value_at(pointer):
        return pointer

    def address_of(value):
        return value

    def call_at(entry, pointer, a, b, c):
        return entry(pointer, a, b, c)


run = by_type("run")


@kernel
def _run_at(pointer, worker):
    run(value_at(pointer), worker)


if COMPILED:

    @intrinsic
    def _store(typingctx, task, buffer):
        """Copy a task into a buffer; return 0, or the bytes it needs where the buffer is too small."""

        def codegen(context, builder, signature, args):
            model = context.data_model_manager[signature.args[0]]
            data = model.as_data(builder, args[0])
            array = context.make_array(signature.args[1])(context, builder, args[1])
            size = ir.Constant(ir.IntType(64), context.get_abi_sizeof(data.type))
            is_large = builder.icmp_signed(">", size, builder.extract_value(array.shape, 0))
            with builder.if_else(is_large) as (large, fits):
                with large:
                    above = builder.block
                with fits:
                    builder.store(data, builder.bitcast(array.data, data.type.as_pointer()), align=8)
                    below = builder.block
            needed = builder.phi(ir.IntType(64))
            needed.add_incoming(size, above)
            needed.add_incoming(ir.Constant(ir.IntType(64), 0), below)
            return needed

        return types.int64(task, buffer), codegen

    @intrinsic
    def _call(typingctx, entry, address, worker):
        """Call a compiled ``_run_at`` by its address, with Numba's convention; its status is 0 if nothing raised."""

        def codegen(context, builder, signature, args):
            word, address = ir.IntType(64), ir.IntType(8).as_pointer()
            kind = ir.FunctionType(ir.IntType(32), [address, address, address, word])
            # Where a result and an exception would go; nobody looks at them.
            unread = [builder.bitcast(alloca_once(builder, word), address) for _ in range(2)]
            function = builder.inttoptr(args[0], kind.as_pointer())
            status = builder.call(function, [*unread, builder.inttoptr(args[1], address), args[2]])
            return builder.sext(status, word)

        return types.int64(types.int64, types.int64, types.int64), codegen

    @kernel
    def _prepare(task, buffer):
        return _store(task, buffer)

    # The only parallel kernel, compiled once for all tasks: it knows a task by its address, and calls it by its entry.
    # A prange of its own for each of the six tasks of a large fit took 1 s of compiling each.
    @kernel(parallel=True, _nrt=True)
    def _run_on_workers(entry, address, status):
        for worker in prange(len(status)):
            status[worker] = _call(entry, address, int64(worker))

    # Releases the GIL. Numba's convention: where the result goes, where an exception goes, the arguments.
    _ENTRY = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    # Kernel and kind of task, as Numba's dispatcher tells them apart: address of its code, what keeps it alive
    _compiled = {}


def _entry_of(task):
    """Return the address of the code of a task, compiled where need be.

    A kernel that linked this code in generated it a second time: 3 s of the 14 that a first forest took.
    """
    return _entry(_run_at, task, 1)


def entry_of(function, pointed):
    """Return what ``call_at`` calls a kernel by, which takes a pointer to such a tuple and three integers.

    A kernel that calls another one by its name generates that one's code once more, and all that it calls.
    """
    return _entry(function, pointed, 3) if COMPILED else function


def _entry(function, pointed, n_integers):
    kind = function, compute_fingerprint(pointed)
    found = _compiled.get(kind)
    if found is None:
        signature = (types.CPointer(numba.typeof(pointed)), *[int64] * n_integers)
        function.compile(signature)
        code = function.overloads[signature]
        address = code.library.get_pointer_to_function(code.fndesc.llvm_func_name)
        found = _compiled[kind] = (address, code)
    return found[0]


def is_compiled(task):
    """Tell whether the code of a task is there, in this process or on disk, so that ``launch`` starts at once."""
    if not COMPILED or (_run_at, compute_fingerprint(task)) in _compiled:
        return True
    holds = getattr(_run_at._cache, "holds", None)  # noqa: SLF001  ours, where Numba is one that is known
    return holds is not None and holds((types.CPointer(numba.typeof(task)), int64), _run_at.targetctx.codegen())


_pool_is_inherited = False  # a forked child inherits the threads' bookkeeping, but not the threads


def _start_pool():
    from numba.np.ufunc.parallel import _launch_threads

    _launch_threads()


def _after_fork():
    # GNU OpenMP kills a child that enters the pool of its parent, so the child works on one thread.
    global _pool_is_inherited  # noqa: PLW0603, a process is forked or is not
    pool = sys.modules.get("numba.np.ufunc.parallel")
    _pool_is_inherited = _pool_is_inherited or getattr(pool, "_is_initialized", True)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def n_workers(n_jobs):
    """Resolve ``n_jobs``: None is every core, but one core inside a worker of somebody else's pool."""
    cores = config.NUMBA_NUM_THREADS
    if _pool_is_inherited:
        return 1
    if n_jobs is None:
        is_main = threading.current_thread() is threading.main_thread()
        return cores if is_main and multiprocessing.parent_process() is None else 1
    return min(n_jobs, cores) if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def launch(task, workers=1, *, entitled=False):
    """Run ``type(task).run(task, worker)`` for every worker, on as many threads as there are workers.

    Falls back to one thread, with the same bits, wherever the pool must not be entered: in a forked child, and under
    ``workqueue`` from a second Python thread (unless it is ``entitled``: the main thread waits for it).
    """
    if not COMPILED:
        run(task, 0)
        return
    buffer = np.empty(_TASK_BYTES, np.uint8)
    needed = _prepare(task, buffer)
    if needed > 0:
        buffer = np.empty(needed, np.uint8)
        _prepare(task, buffer)
    entry, address = _entry_of(task), buffer.ctypes.data
    if workers > 1 and _may_enter_pool(entitled=entitled):
        status = _run_masked(entry, address, workers)
    else:
        unread = np.empty(2, np.int64)
        status = np.array([_ENTRY(entry)(unread.ctypes.data, unread.ctypes.data + 8, address, 0)])
    if status.any():
        msg = "a kernel raised an exception, which it cannot pass on; NUMBA_DISABLE_JIT=1 shows it"
        raise RuntimeError(msg)


def _may_enter_pool(*, entitled):
    """Several Python threads may enter a parallel kernel at once under tbb and omp; ``workqueue`` would abort."""
    if _pool_is_inherited:
        return False
    _start_pool()
    is_main = entitled or threading.current_thread() is threading.main_thread()
    return is_main or numba.threading_layer() != "workqueue"


def _run_masked(entry, address, workers):
    before = numba.get_num_threads()
    numba.set_num_threads(min(workers, config.NUMBA_NUM_THREADS))
    status = np.zeros(workers, np.int64)
    try:
        _run_on_workers(entry, address, status)
    finally:
        numba.set_num_threads(before)
    return status


__all__ = [
    "COMPILED",
    "above_among_8",
    "add_up_to_8",
    "add_up_to_16",
    "address_of",
    "at_least_among_8",
    "at_least_among_16",
    "at_most_among_64",
    "bit_count",
    "by_class",
    "by_having",
    "by_type",
    "call_at",
    "choose_leaves",
    "complaint",
    "copy_row",
    "entry_of",
    "equal_among_64",
    "first_above",
    "in_python",
    "inline",
    "int64",
    "is_compiled",
    "jitable",
    "kernel",
    "largest_of",
    "launch",
    "least_above_among_64",
    "lowest_bit",
    "n_workers",
    "part",
    "running_pairs",
    "running_sums",
    "sum_up_4",
    "sum_up_8",
    "take_many",
    "take_ticket",
    "turn_8_by_8",
    "value_at",
]
