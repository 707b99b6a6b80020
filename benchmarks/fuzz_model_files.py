"""Damaged and hostile model files: each is an error that says so, or answers as before.

    python benchmarks/fuzz_model_files.py [mutations] [seed]

Files of every kind of learner are changed at random: bits, bytes, lengths, places, headers. Where checksums are left as
they are, a file must be refused or answer as it did. Where they are made right again, it is the file of another model:
it must be refused, or answer (of trees of thresholds: as a reader of a few lines says). No other exception, no change
that takes long, no memory beyond what small files need.
"""

import json
import os
import random
import signal
import struct
import sys
import tempfile
import time
import tracemalloc
import warnings
import zlib
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np

from dtnumba import ModelFileError, load
from dtnumba.model_files import container, few_rows

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from naive import model_file as naive

with suppress(ImportError):  # which makes its own values, and whose import is no memory of a file
    import pandas as pd  # noqa: F401

_GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "data" / "model_files"
_PLAIN = {"tree.dtn", "tree_compact.dtn", "forest.dtn", "forest_compact.dtn"}
_PREAMBLE = struct.Struct("<8sIIQQII")
_SECONDS = 20  # that a file may take; they have a few kilobytes
_MEMORY = 8 << 20  # bytes that a load and a prediction may take at most, of files of a few kilobytes
_HOSTILE = (
    *(None, True, False, 0, 1, -1, 2, 3, 63, 255, 256, 65536, 2**31 - 1, 2**31, 2**32, 2**62, 2**63, 10**30),
    *(0.5, -0.0, 1e308, "", "a", "nan", "\u0000", "<f8", "|O", "PCG64", "subset", "os.system", [], [0], [1, 2, 3], {}),
    *([[]], [None], {"a": 1}, {"float": "nan"}, {"array": "a"}, {"absent": "x"}, {"object": "Trees"}, {"tuple": []}),
    *({"number": 3, "type": "<i8"}, {"objects": [1], "shape": [1]}, {"object": "criterion", "name": "Gini"}, [[[[]]]]),
    *({"spelled": "2020-01-01", "as": "date"}, {"spelled": "1/3", "as": "Fraction"}, "Timestamp", "UUID", "Period"),
    *({"spelled": "1E+99999", "as": "Decimal"}, {"spelled": "1 M8[s]", "as": "datetime64"}, {"interval": [0, 1]}),
)


def golden():
    """Yield the name, the bytes, the rows and the answers of a file of every kind."""
    told = json.loads((_GOLDEN / "answers.json").read_text(encoding="utf-8"))
    for name, one in told.items():
        has_words = any(isinstance(cell, str) for row in one["rows"] for cell in row)
        rows = np.array(one["rows"], object if has_words else float)
        yield name, (_GOLDEN / name).read_bytes(), rows, answers(load(_GOLDEN / name), rows)


def answers(model, X):
    """Return all that is compared, as bytes."""
    parts = [model.predict(X)]
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(X)
        parts += shares if isinstance(shares, list) else [shares]
    return b"|".join(repr(one.tolist()).encode() for one in parts)


def parts_of(raw):
    """Return the header, the arrays and the table of checksums of a file."""
    fields = _PREAMBLE.unpack(raw[:40])
    start = -(-(64 + fields[3]) // 64) * 64
    return raw[64 : 64 + fields[3]], raw[start : start + fields[4]]


def whole(text, data):
    """Return a file of a header and arrays, with right checksums."""
    table = b"".join(struct.pack("<I", zlib.crc32(data[k : k + 4096])) for k in range(0, len(data), 4096))
    first = _PREAMBLE.pack(b"\x93DTNUMBA", 1, 4096, len(text), len(data), zlib.crc32(text), zlib.crc32(table))
    pad = -(-(64 + len(text)) // 64) * 64 - 64 - len(text)
    return first.ljust(64, b"\0") + text + b" " * pad + data + table


def places(value, path=()):
    """Yield the way to every value of a header."""
    yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in pairs:
        yield from places(one, (*path, key))


def edited(text, draw):
    """Return a header of which a value is another, or is gone, or stands elsewhere."""
    header = json.loads(text)
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        ways = [path for path in places(header) if path]
        way = draw.choice(ways)
        owner = header
        for key in way[:-1]:
            owner = owner[key]
        what, old = draw.random(), owner[way[-1]]
        if what < 0.1:
            del owner[way[-1]]
        elif what < 0.35 and type(old) is int:
            owner[way[-1]] = old + draw.choice((-2, -1, 1, 2, 64, -64, 1 << 40))
        elif what < 0.6:
            other = header
            for key in draw.choice(ways):
                other = other[key]
            owner[way[-1]] = json.loads(json.dumps(other))
        else:
            owner[way[-1]] = json.loads(json.dumps(draw.choice(_HOSTILE)))
        if not isinstance(header, dict):
            break
    return json.dumps(header).encode()


def damaged(raw, draw):
    """Return a changed file, and whether its checksums were made right again."""
    kind, raw = draw.randrange(9), bytearray(raw)
    if kind == 0:
        for _ in range(draw.choice((1, 1, 2, 8))):
            raw[draw.randrange(len(raw))] ^= 1 << draw.randrange(8)
    elif kind == 1:
        at = draw.randrange(len(raw))
        raw[at : at + draw.randrange(1, 64)] = draw.randbytes(draw.randrange(1, 64))
    elif kind == 2:
        del raw[draw.randrange(len(raw)) :]
    elif kind == 3:
        a, b, n = draw.randrange(len(raw)), draw.randrange(len(raw)), draw.randrange(1, 200)
        raw[a : a + n], raw[b : b + n] = raw[b : b + n], raw[a : a + n]
    elif kind == 4:
        text, data = parts_of(raw)
        start = 64 + len(text)
        raw[64:start] = edited(text, draw)
    else:
        text, data = map(bytearray, parts_of(raw))
        if kind in {5, 6}:
            text = edited(bytes(text), draw)
        else:
            for _ in range(draw.choice((1, 1, 2, 8))):
                at, n = draw.randrange(len(data)), draw.choice((1, 2, 4, 8))
                data[at : at + n] = draw.choice((bytes(n), b"\xff" * n, draw.randbytes(n), b"\x01" + bytes(n - 1)))
        return whole(bytes(text), bytes(data)), True
    return bytes(raw), False


def _refuses(error):
    """Tell whether a model says that it was fitted to other columns, or asks for what it lacks, as any model does."""
    return isinstance(error, ValueError) and ("pass the column as it was in fit" in str(error) or "X has" in str(error))


def try_out(path, rows, wanted, plain, is_right):
    """Return what became of a file: "refused", "same", "another model", or what is wrong."""
    try:
        model = load(path)
        said = answers(model, rows)
    except ModelFileError as error:
        return "refused" if str(path) in str(error) else f"an error without the path: {error}"
    except Exception as error:  # noqa: BLE001  this is what is looked for
        if is_right and _refuses(error):
            return "another model"
        return f"{type(error).__name__}: {error}"
    if said == wanted:
        return "same"
    if plain and type(model).__name__.endswith("Classifier") and getattr(model, "voting", "soft") == "soft":
        shares = model.predict_proba(rows)
        if not isinstance(shares, list) and shares.tobytes() != naive.mean_values(path, rows).tobytes():
            return "a wrong answer"
    return "another model"


def run(n, seed, mapped):
    """Return how often each thing became of a file; print what is wrong."""
    container._SMALL = 0 if mapped else 1 << 22  # noqa: SLF001
    few_rows._NODES_A_ROW = 1  # noqa: SLF001
    found, draw = Counter(), random.Random(seed)  # noqa: S311
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, lambda *_: (_ for _ in ()).throw(TimeoutError("it took too long")))
    folder = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)  # noqa: PTH112, S108
    kinds = list(golden())
    for i in range(n):
        name, raw, rows, wanted = kinds[i % len(kinds)]
        path = Path(folder) / name
        changed, is_right = damaged(raw, draw)
        path.write_bytes(changed)
        watched = i % 16 == 0
        if watched:
            tracemalloc.start()
        signal.setitimer(signal.ITIMER_PROF, _SECONDS)  # of its own work
        became = try_out(path, rows, wanted, name in _PLAIN, is_right)
        signal.setitimer(signal.ITIMER_PROF, 0)
        if watched:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            became = f"{peak} bytes of memory, {became}" if peak > _MEMORY else became
        if became == "another model" and not is_right:
            became = "a wrong answer"
        if became not in {"same", "refused", "another model"}:
            print(f"{name}, mutation {i} of seed {seed}: {became}", flush=True)
            became = "WRONG"
        found[became] += 1
    return found


if __name__ == "__main__":
    count, first = (int(x) for x in (*sys.argv[1:], *("200000", "0")[len(sys.argv) - 1 :]))
    start = time.perf_counter()
    total = run(count // 2, first, mapped=False) + run(count - count // 2, first + 1, mapped=True)
    print(dict(total), f"{time.perf_counter() - start:.0f} s")
    sys.exit(total["WRONG"] > 0)
