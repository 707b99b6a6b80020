# mypy: ignore-errors
"""Many texts as numbers: equal ones get the same, in the order in which they are first met."""

import numpy as np

from dtnumba.runtime.kernels import kernel

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
    first, hashes, known = np.empty(n_slots // 2, np.int64), np.empty(n_slots // 2, np.uint64), np.zeros(2, np.int64)
    while True:
        slots = np.full(n_slots, -1, np.int64)
        fill_slots(hashes, known[0], slots)
        with np.errstate(over="ignore"):  # as kernels do
            is_done = put_texts((memory, starts, stops), codes, (slots, first, hashes), known)
        if is_done:
            return codes, first[: known[0]].copy()
        n_slots *= 4
        first, hashes = _longer(first, n_slots // 2), _longer(hashes, n_slots // 2)


def _longer(array, n):
    longer = np.empty(n, array.dtype)
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


@kernel
def put_texts(texts, codes, table, known):
    """Number texts from row known[1] on; return whether all rows are done, False where the table is half full.

    known: how many numbers there are, and how many rows have one (in, out)
    """
    memory, starts, stops = texts
    slots, first, hashes = table
    last = np.uint64(len(slots) - 1)
    n, one = known[0], np.uint64(1)
    for i in range(known[1], len(starts)):
        start, stop = starts[i], stops[i]
        mixed = np.uint64(0xCBF29CE484222325)
        for at in range(start, stop):
            mixed = (mixed ^ np.uint64(memory[at])) * np.uint64(0x100000001B3)
        mixed ^= mixed >> np.uint64(29)
        slot = mixed & last
        while True:
            code = slots[slot]
            if code < 0:
                break
            if hashes[code] == mixed:
                other = starts[first[code]]
                length = stop - start
                if stops[first[code]] - other == length:
                    k = 0
                    while k < length and memory[start + k] == memory[other + k]:
                        k += 1
                    if k == length:
                        break
            slot = (slot + one) & last
        if code < 0:
            if n == len(first):
                known[0], known[1] = n, i
                return False
            code = n
            slots[slot], first[n], hashes[n] = n, i, mixed
            n += 1
        codes[i] = code
    known[0], known[1] = n, len(starts)
    return True
