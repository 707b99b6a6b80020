"""Files of every kind, read by kernels in small blocks and by Python: the same cells, numbers and levels.

usage: python benchmarks/read_soak.py [--seconds 60] [--seed 0]

A file that is read in two ways with two outcomes is kept, and its name is printed with the seed.
"""

import argparse
import random
import struct
import sys
import tempfile
import time
from pathlib import Path

from dtnumba.cli.command import CommandError
from dtnumba.cli.files import byte_rows, csv_file
from dtnumba.cli.files.read_table import read_table
from dtnumba.cli.files.reading import Reading

USUAL = csv_file.LONG_BYTES, byte_rows.BLOCK_BYTES
WORDS = ["red", "blue", "dark blue", "é", "\u4e2d", "", "NA", "nan", "?", "n/a", "2020-01-02", "1.2.2020 10:30", "1_0"]
ODD = ["inf", "-Infinity", "+nan", " 7", "8 ", "1e400", "1e-400", "0x10", "١٢", "1,5", "-", ".", "\x00", "1e", "--1"]


def number(draw):
    """Return a number, spelled in one of many ways."""
    (value,) = struct.unpack("d", draw.getrandbits(64).to_bytes(8, "little"))
    scaled = draw.random() * 10.0 ** draw.randint(-30, 30)
    value = draw.choice([value, draw.gauss(0, 1), float(draw.randint(-99, 99)), scaled])
    digits = draw.randint(0, 25)
    return draw.choice([repr(value), f"{value:.{digits}e}", f"{value:.4g}", str(draw.getrandbits(draw.randint(1, 80)))])


def cell(draw, kind):
    """Return a cell of a column of a kind."""
    if draw.random() < 0.002:
        return draw.choice(WORDS + ODD)
    if kind == "number" and draw.random() < 0.1:
        return draw.choice(["", "NA", "nan", "inf", " 7", "-Infinity", "8 ", "1e400", "?"])
    return draw.choice(WORDS) if kind == "text" else number(draw)


def text(draw):
    """Return a file, and how it is to be read."""
    width, sign = draw.randint(2, 5), draw.choice(",,,;\t|")
    kinds = [draw.choice(["text", "number", "number"]) for _ in range(width)]
    end = draw.choice(["\n", "\n", "\r\n"])
    rows = [[cell(draw, kind).replace(sign, "") for kind in kinds] for _ in range(draw.randint(1, 60))]
    # Most rows are of one kind a column, so that most files can be read.
    lines = [sign.join(f"column {j}" for j in range(width)), *(sign.join(row) for row in rows)]
    for _ in range(draw.choice([0, 0, 0, 1, 2])):
        quoted = sign.join(['"a ""b"""'] * width)
        odd = draw.choice(["", quoted, sign.join(["1"] * (width + 1)), '"two\nlines"', " ", "x\ry"])
        lines.insert(draw.randint(0, len(lines)), odd)
    data = (end.join(lines) + draw.choice(["", end])).encode("utf-8", "surrogatepass")
    if draw.random() < 0.02:
        at = draw.randrange(len(data))
        data = data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :]
    categories = [f"column {j}" for j, kind in enumerate(kinds[:-1]) if kind == "text"]
    return data, Reading(separator=sign, categories=tuple(categories) if draw.random() < 0.7 else ())


def outcome(path, reading, sizes):
    """Return what a file holds, or None where something is wrong with it: of several things any may be told."""
    csv_file.LONG_BYTES, byte_rows.BLOCK_BYTES = sizes
    try:
        raw = read_table(str(path), None, reading)
    except CommandError:
        return None
    return raw.names, raw.X.tobytes(), raw.levels, raw.target_cells, raw.kinds.said()


def main():
    """Read files until the time is over; exit with 1 where two ways differ."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    draw, end, n_files, n_errors = random.Random(options.seed), time.monotonic() + options.seconds, 0, 0  # noqa: S311
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        while time.monotonic() < end:
            data, reading = text(draw)
            path.write_bytes(data)
            expected = outcome(path, reading, USUAL)
            found = outcome(path, reading, (draw.randint(1, 200), draw.randint(1, 64)))
            n_files, n_errors = n_files + 1, n_errors + (expected is None)
            if found != expected:
                kept = Path(f"read_soak_{options.seed}_{n_files}.csv")
                kept.write_bytes(data)
                print(f"{kept}: {reading}\n  by Python:  {expected!r}\n  by kernels: {found!r}")
                sys.exit(1)
    print(f"{n_files:,} files, {n_errors:,} of them with an error, read alike")


if __name__ == "__main__":
    main()
