"""Categories the slow way: a value at a time, in plain Python."""

import math


def is_missing(value):
    return value is None or type(value).__name__ in {"NAType", "NaTType"} or (value != value) is True


def levels_of(column, order=None):
    """The values that occur, in the given order or sorted."""
    there = {value for value in column if not is_missing(value)}
    return sorted(there) if order is None else [value for value in order if value in there]


def numbers_of(column, levels):
    """The number of each row's level, NaN where it is missing or none of them."""
    return [math.nan if is_missing(value) or value not in levels else float(levels.index(value)) for value in column]
