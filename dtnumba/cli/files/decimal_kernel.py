# mypy: ignore-errors
"""Cells of bytes, and the numbers in them: the nearest float64, as Python's ``float`` has it.

A number of at most 19 digits is a whole number times a power of ten. Where both are floats, one multiplication rounds
right (Clinger 1990); else the product with 128 bits of the power says the result (Lemire, "Number parsing at a gigabyte
per second", 2021). What neither settles is left to Python.
"""

import numpy as np

from dtnumba.runtime.kernels import inline, kernel

NEWLINE, RETURN, QUOTE = 10, 13, 34
UNEVEN, UNREAD = -1, -2  # what index_cells says in place of a number of rows
_LEAST, _MOST = -300, 290  # powers of ten that results which are normal floats have
_DIGITS = 19  # of a whole number that 64 bits hold


def _powers_of_five():
    """Return the first 128 bits of 5**q, as two words."""
    words = np.empty((_MOST - _LEAST + 1, 2), np.uint64)
    for q in range(_LEAST, _MOST + 1):
        power = 5 ** abs(q)
        if q < 0:
            width = (power - 1).bit_length()
            bits = (1 << (width + 127 if q >= -27 else 2 * width + 128)) // power + 1
        else:
            bits = power << 128
        bits >>= bits.bit_length() - 128
        words[q - _LEAST] = bits >> 64, bits & ((1 << 64) - 1)
    return words


POWERS = _powers_of_five()
TENS = np.array([10.0**k for k in range(23)])


@kernel
def index_cells(data, separator, width, starts, lines):
    """Find the cells of rows; return how many rows there are, and where reading ended, or what is wrong there.

    Cell (i, j) is data[starts[i, j] : starts[i, j + 1] - 1]; a return before the newline is no part of the last one.
    data (n,) uint8, which ends with a newline · starts (rows, width + 1) int32 out · lines (rows,) int32 out
    """
    n_rows, n_lines, at, n = 0, 0, 0, len(data)
    while at < n:
        n_lines += 1
        if data[at] == NEWLINE or (data[at] == RETURN and at + 1 < n and data[at + 1] == NEWLINE):
            at += 1 if data[at] == NEWLINE else 2
            continue
        j, start = 0, at
        starts[n_rows, 0] = at
        while True:
            sign = data[at]
            if sign == separator:
                j += 1
                if j < width:
                    starts[n_rows, j] = at + 1
            elif sign == NEWLINE:
                break
            elif sign == QUOTE or (sign == RETURN and data[at + 1] != NEWLINE):
                return UNREAD, n_lines, 0
            at += 1
        if j + 1 != width:
            return UNEVEN, n_lines, j + 1
        end = at
        if end > start and data[end - 1] == RETURN:
            end -= 1
        starts[n_rows, width] = end + 1
        lines[n_rows] = n_lines
        n_rows += 1
        at += 1
    return n_rows, n_lines, 0


@inline
def _high_and_low(a, b):
    """Return the product of two 64-bit numbers as two words."""
    mask, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    a0, a1, b0, b1 = a & mask, a >> half, b & mask, b >> half
    low, middle, other = a0 * b0, a1 * b0, a0 * b1
    carried = (low >> half) + (middle & mask) + (other & mask)
    return a1 * b1 + (middle >> half) + (other >> half) + (carried >> half), a * b


@inline
def _rounded(whole, q, powers, bits):
    """Write whole * 10**q as the bits of the nearest float64; return whether that is settled."""
    one = np.uint64(1)
    zeros = 0
    while whole >> np.uint64(63) == 0:
        whole <<= one
        zeros += 1
    high, low = _high_and_low(whole, powers[q - _LEAST, 0])
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):
        more, _ = _high_and_low(whole, powers[q - _LEAST, 1])
        low += more
        if low < more:
            high += one
    if low == np.uint64(0xFFFFFFFFFFFFFFFF) and (q < -27 or q > 55):
        return False
    upper = np.int64(high >> np.uint64(63))
    shift = np.uint64(upper + 9)
    mantissa = high >> shift
    exponent = ((217706 * q) >> 16) + 63 + upper - zeros + 1023
    if low <= one and -4 <= q <= 23 and mantissa & np.uint64(3) == one and mantissa << shift == high:
        mantissa &= ~one
    mantissa += mantissa & one
    mantissa >>= one
    if mantissa >= np.uint64(1 << 53):
        mantissa = np.uint64(1 << 52)
        exponent += 1
    if exponent <= 0 or exponent >= 2047:
        return False
    bits[0] = (mantissa & np.uint64((1 << 52) - 1)) | (np.uint64(exponent) << np.uint64(52))
    return True


@kernel
def parse_numbers(data, bounds, numbers, hard, scratch):
    """Write the numbers of cells, NaN of empty ones; return how many others there are, which are listed in ``hard``.

    bounds: starts and stops (n,) int32 · numbers (n,) float64 out · hard (n,) int32 out
    scratch: a float64 and the same eight bytes as uint64, and the powers of five and of ten
    """
    starts, stops = bounds
    value, bits, powers, tens = scratch
    n_hard, ten, zero = 0, np.uint64(10), np.uint64(48)
    for i in range(len(starts)):
        at, stop = starts[i], stops[i]
        if at == stop:
            numbers[i] = np.nan
            continue
        is_negative = data[at] == 45
        if is_negative or data[at] == 43:
            at += 1
        whole, n_digits, n_read, q = np.uint64(0), 0, 0, 0
        while at < stop and 48 <= data[at] <= 57:
            whole = whole * ten + (np.uint64(data[at]) - zero)
            n_digits += 1 if whole > 0 or n_digits > 0 else 0
            n_read += 1
            at += 1
        if at < stop and data[at] == 46:
            at += 1
            while at < stop and 48 <= data[at] <= 57:
                whole = whole * ten + (np.uint64(data[at]) - zero)
                n_digits += 1 if whole > 0 or n_digits > 0 else 0
                n_read += 1
                q -= 1
                at += 1
        is_read = n_read > 0 and n_digits <= _DIGITS
        if is_read and at < stop and (data[at] | 32) == 101:
            at += 1
            is_below = at < stop and data[at] == 45
            if at < stop and (is_below or data[at] == 43):
                at += 1
            power, n_power = 0, 0
            while at < stop and 48 <= data[at] <= 57 and n_power < 5:
                power = power * 10 + (np.int64(data[at]) - 48)
                n_power += 1
                at += 1
            is_read = n_power > 0
            q += -power if is_below else power
        is_read = is_read and at == stop
        if is_read and whole == 0:
            value[0] = 0.0
        elif is_read and whole <= np.uint64(1 << 53) and -22 <= q <= 22:
            value[0] = np.float64(whole) / tens[-q] if q < 0 else np.float64(whole) * tens[q]
        elif is_read:
            is_read = _LEAST <= q <= _MOST and _rounded(whole, q, powers, bits)
        if is_read:
            numbers[i] = -value[0] if is_negative else value[0]
        else:
            hard[n_hard] = i
            n_hard += 1
    return n_hard
