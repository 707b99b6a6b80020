# mypy: ignore-errors
"""Many texts as numbers: equal ones get the same, in the order in which they are first met."""

import numpy as np

from dtnumba.runtime.kernels import inline, kernel

_FEW = 1 << 18  # rows that Python numbers before the kernel below would be there


def number_texts(memory, starts, stops):
    """Return the number of each text, and the row in which each number is first met.

    memory: uint8, of which text i is memory[starts[i]:stops[i]].
    """
    if len(starts) <= _FEW:
        return _in_python(memory, starts, stops)
    return in_a_table(memory, starts, stops)


def _in_python(memory, starts, stops):
    data, number, first = memoryview(memory), {}, []
    codes = np.empty(len(starts), np.int64)
    for i, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
        text = bytes(data[start:stop])
        code = number.get(text)
        if code is None:
            code = number[text] = len(first)
            first.append(i)
        codes[i] = code
    return codes, np.array(first, np.int64)


def in_a_table(memory, starts, stops, n_slots=1 << 12):
    """Number texts by a table of hashes, which grows as it fills."""
    codes = np.empty(len(starts), np.int64)
    first, known = np.empty((n_slots // 2, 3), np.int64), np.zeros(2, np.int64)
    hashes = np.empty(n_slots // 2, np.uint64)
    while True:
        slots = np.full(n_slots, -1, np.int64)
        fill_slots(hashes, known[0], slots)
        with np.errstate(over="ignore"):  # as kernels do
            is_done = put_texts((memory, starts, stops), codes, (slots, first, hashes), known)
        if is_done:
            return codes, first[: known[0], 0].copy()
        n_slots *= 4
        first, hashes = _longer(first, n_slots // 2), _longer(hashes, n_slots // 2)


def _longer(array, n):
    longer = np.empty((n, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


@kernel
def fill_slots(hashes, n, slots):
    """Put the numbers below n into the slots of a table without any: at their hash, or behind."""
    last = np.uint64(len(slots) - 1)
    for k in range(n):
        at = hashes[k] & last
        while slots[at] >= 0:
            at = (at + np.uint64(1)) & last
        slots[at] = k


@inline
def eight_bytes(memory, at):
    """Return eight bytes as a number; compilers make one load of it."""
    low = _two(memory, at) | _two(memory, at + np.uint64(2)) << np.uint64(16)
    high = _two(memory, at + np.uint64(4)) | _two(memory, at + np.uint64(6)) << np.uint64(16)
    return low | high << np.uint64(32)


@inline
def _two(memory, at):
    return np.uint64(memory[at]) | np.uint64(memory[at + np.uint64(1)]) << np.uint64(8)


@kernel
def put_texts(texts, codes, table, known):
    """Number texts from row known[1] on; return whether all rows are done, False where the table is half full.

    Eight bytes are hashed at a time, the last ones of a text overlapping those before. Texts of one length up to eight
    have different hashes, so that only longer ones are compared.

    known: how many numbers there are, and how many rows have one (in, out)
    first: of each number its first row, where the text begins there, and its length
    """
    memory, starts, stops = texts
    slots, first, hashes = table
    last = np.uint64(len(slots) - 1)
    n, one, eight, factor = known[0], np.uint64(1), np.uint64(8), np.uint64(0x9E3779B97F4A7C15)
    for i in range(known[1], len(starts)):
        start, length = np.uint64(starts[i]), np.uint64(stops[i] - starts[i])
        mixed, word = length * factor, np.uint64(0)
        if length >= eight:
            at, ends = start, start + length - eight
            while at < ends:
                mixed = (mixed ^ eight_bytes(memory, at)) * factor
                mixed ^= mixed >> np.uint64(29)
                at += eight
            word = eight_bytes(memory, ends)
        else:
            for k in range(length):
                word = word << eight | np.uint64(memory[start + np.uint64(k)])
        mixed = (mixed ^ word) * factor
        mixed = (mixed ^ mixed >> np.uint64(32)) * factor  # bytes at the end change the lowest bits, too
        mixed ^= mixed >> np.uint64(29)
        slot = mixed & last
        while True:
            code = slots[slot]
            if code < 0:
                break
            if hashes[code] == mixed and np.uint64(first[code, 2]) == length:
                if length <= eight:
                    break
                at, ends, other = start, start + length - eight, np.uint64(first[code, 1])
                apart = other - start
                while at < ends and eight_bytes(memory, at) == eight_bytes(memory, at + apart):
                    at += eight
                if at >= ends and eight_bytes(memory, ends) == eight_bytes(memory, ends + apart):
                    break
            slot = (slot + one) & last
        if code < 0:
            if n == len(first):
                known[0], known[1] = n, i
                return False
            code = n
            slots[slot], hashes[n] = n, mixed
            first[n, 0], first[n, 1], first[n, 2] = i, starts[i], stops[i] - starts[i]
            n += 1
        codes[i] = code
    known[0], known[1] = n, len(starts)
    return True
