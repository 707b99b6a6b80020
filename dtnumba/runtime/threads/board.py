# mypy: ignore-errors
# ruff: noqa: D103
"""A board on which one worker posts phases of its work, and others take items of them while they are free.

The one who posts takes items too, and waits only for items that somebody has taken: a thread that the system has not
scheduled keeps nobody waiting. Who finds nothing to take looks again at once for some microseconds, then lets other
threads run, then sleeps; so a busy machine loses nothing to those who wait.

The word of the board holds a phase, its items and the next of them, so that one atomic addition says of which phase an
item is. Below zero, the board is closed.
"""

import ctypes
import os
import platform
from functools import cache
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic

from dtnumba.runtime.kernels import COMPILED, inline
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.records import Twin

# Bits of the word: items taken (those who come too late add to them as well), items, phases.
_ITEM_BITS, _COUNT_BITS = 24, 20
MOST_ITEMS = 1 << (_COUNT_BITS - 1)
_ITEM, _COUNT = (1 << _ITEM_BITS) - 1, (1 << _COUNT_BITS) - 1
_PHASES = (1 << (63 - _ITEM_BITS - _COUNT_BITS)) - 1
# So far below zero that no one who comes too late and adds to it opens the board again.
_CLOSED = -(1 << 62)
# Looks at the board before a thread lets others run, and before it sleeps; on the machine measured some 20 ns and
# some 0.5 us each.
_LOOKS, _YIELDS = 1000, 60
_NAP = 100  # microseconds


class Board(NamedTuple):
    """What workers share; every array lies in cache lines of its own."""

    word: np.ndarray  # (1, 1, 1) int64: see above
    done: np.ndarray  # (1, 1, 1) int64: items done by those who help
    sum: np.ndarray  # (1, 1, 1) int64: of what items returned
    phase: np.ndarray  # (1, 1, 8) int64: what the phase in hand is about
    yield_at: int  # addresses of what lets other threads run, and of what sleeps; 0: neither
    nap_at: int
    nap: int  # what to pass to it


def new_board():
    yield_at, nap_at, nap = _waits() if COMPILED else (0, 0, 0)
    return Board(*(per_worker(1, n, np.int64, 0)[0, 0] for n in (1, 1, 1, 8)), yield_at, nap_at, nap)


@cache
def _waits():
    """Return the addresses of two functions of the system, and how long a nap is to the second one."""
    try:
        if os.name == "nt":
            kernel = ctypes.WinDLL("kernel32")
            found = kernel.SwitchToThread, kernel.Sleep, 1
        else:
            library = ctypes.CDLL(None)
            found = library.sched_yield, library.usleep, _NAP
        return *(ctypes.cast(function, ctypes.c_void_p).value for function in found[:2]), found[2]
    except (OSError, AttributeError):
        return 0, 0, 0


def add_to(array, amount):
    """Add an amount to array[0], in kernels atomically, and return what was there."""
    before = int(array[0])
    array[0] += amount
    return before


def look_at(array):
    """Return array[0] as others have left it."""
    return int(array[0])


def take_away(array, i):
    """Return array[i] and leave a zero there, in kernels atomically."""
    found = int(array[i])
    array[i] = 0
    return found


def post(array, value):
    """Write array[0] behind all that was written before."""
    array[0] = value


def let_go(address, argument):
    """Call a function of the system that waits."""


if COMPILED:

    def _place(context, builder, signature, args):
        return context.make_array(signature.args[0])(context, builder, args[0]).data

    def _define_add(typingctx, array, amount):
        def codegen(context, builder, signature, args):
            return builder.atomic_rmw("add", _place(context, builder, signature, args), args[1], "acq_rel")

        return types.int64(array, types.int64), codegen

    def _define_take(typingctx, array, i):
        def codegen(context, builder, signature, args):
            at = builder.gep(_place(context, builder, signature, args), [args[1]])
            return builder.atomic_rmw("xchg", at, ir.Constant(ir.IntType(64), 0), "acq_rel")

        return types.int64(array, types.int64), codegen

    def _define_look(typingctx, array):
        def codegen(context, builder, signature, args):
            return builder.load_atomic(_place(context, builder, signature, args), "acquire", 8)

        return types.int64(array), codegen

    def _define_post(typingctx, array, value):
        def codegen(context, builder, signature, args):
            builder.store_atomic(args[1], _place(context, builder, signature, args), "release", 8)
            return context.get_dummy_value()

        return types.void(array, types.int64), codegen

    def _define_wait(typingctx, address, argument):
        def codegen(context, builder, signature, args):
            word = ir.IntType(32)
            kind = ir.FunctionType(word, [word]).as_pointer()
            builder.call(builder.inttoptr(args[0], kind), [builder.trunc(args[1], word)])
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), codegen

    # What tells the processor that this is a loop that waits, and the number to pass.
    _HINTS = {"x86_64": ("llvm.x86.sse2.pause", []), "amd64": ("llvm.x86.sse2.pause", [])}
    _HINTS["aarch64"] = _HINTS["arm64"] = "llvm.aarch64.hint", [1]

    @intrinsic
    def hint(typingctx):
        def codegen(context, builder, signature, args):
            name, numbers = _HINTS.get(platform.machine().lower(), (None, []))
            if name:
                word = ir.IntType(32)
                kind = ir.FunctionType(ir.VoidType(), [word] * len(numbers))
                builder.call(get_or_insert_function(builder.module, kind, name), [word(k) for k in numbers])
            return context.get_dummy_value()

        return types.void(), codegen

    add_to, look_at = Twin("add_to", _define_add, add_to), Twin("look_at", _define_look, look_at)
    take_away, post = Twin("take_away", _define_take, take_away), Twin("post", _define_post, post)
    let_go = Twin("let_go", _define_wait, let_go)

else:

    def hint():
        pass


@inline
def begin_phase(board, n):
    """Post a phase of n items; what it is about stands in ``phase`` already, and no item of the last one is out."""
    board.done[0] = board.sum[0] = 0
    number = (np.int64(look_at(board.word)) >> (_ITEM_BITS + _COUNT_BITS)) + 1
    post(board.word, (((number & _PHASES) << _COUNT_BITS) | np.int64(n)) << _ITEM_BITS)


@inline
def close(board):
    """Tell all who look at the board that nothing will follow."""
    post(board.word, _CLOSED)


@inline
def is_closed(word):
    """Tell whether a word says that nothing will follow."""
    return word < 0


@inline
def has_item(word):
    """Tell whether a word offers an item."""
    return word >= 0 and (word & _ITEM) < ((word >> _ITEM_BITS) & _COUNT)


@inline
def item_in(word):
    """Return the item that a word offers."""
    return word & _ITEM


@inline
def take_word(board):
    """Take an item: return the word that offers it, if it offers one."""
    return np.int64(add_to(board.word, 1))


@inline
def phase_in(word):
    """Return the number of the phase of a word."""
    return word >> (_ITEM_BITS + _COUNT_BITS)


@inline
def rest(board, n_looks):
    """Wait a little, more the oftener one has looked in vain; return 1 where that was a nap."""
    if n_looks < _LOOKS or board.yield_at == 0:
        hint()
    elif n_looks < _LOOKS + _YIELDS:
        let_go(board.yield_at, 0)
    else:
        let_go(board.nap_at, board.nap)
        return np.int64(1)
    return np.int64(0)


@inline
def wait_for(board, counter, n):
    """Wait until a counter has come to n; return how many naps that took."""
    n_looks = naps = np.int64(0)
    while np.int64(look_at(counter)) < n:
        naps += rest(board, n_looks)
        n_looks += 1
    return naps
