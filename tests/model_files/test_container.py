"""The file of a model: written whole or not at all, read without trust."""

import json
import os
import signal
import struct
import subprocess
import sys
import time
import zlib
from contextlib import suppress

import numpy as np
import pytest

from dtnumba import ModelFileError
from dtnumba.model_files import container
from dtnumba.model_files.container import read, write

ARRAYS = {"a": np.arange(5, dtype="<u2"), "empty": np.zeros(0), "b": np.linspace(0, 1, 6).reshape(2, 3)}


@pytest.fixture(params=["read", "mapped"])
def path(request, tmp_path, monkeypatch):
    if request.param == "mapped":
        monkeypatch.setattr(container, "_SMALL", 0)
    return tmp_path / "model"


def assert_read(path):
    content = read(path)
    assert content.header["said"] == [1, "ä"]
    for name, array in ARRAYS.items():
        found = content.array(name)
        assert found.dtype == array.dtype
        assert found.tolist() == array.tolist()


def test_arrays_come_back(path):
    write(path, {"said": [1, "ä"]}, ARRAYS)
    assert_read(path)
    assert_read(str(path))
    assert path.stat().st_size % 4 == 0
    assert [one.name for one in path.parent.iterdir()] == ["model"]


def test_every_byte_that_matters_is_covered(path):
    write(path, {"said": [1, "ä"]}, ARRAYS)
    whole = path.read_bytes()
    for at in range(len(whole)):
        for bit in (1, 128):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :])
            with suppress(ModelFileError):  # what is no error is what was written
                assert_read(path)
    for n in range(len(whole)):
        path.write_bytes(whole[:n])
        with pytest.raises(ModelFileError):
            read(path)


def test_what_is_reserved_is_zeros(path):
    write(path, {}, ARRAYS)
    whole = path.read_bytes()
    for at in range(40, 64):
        path.write_bytes(whole[:at] + b"\x01" + whole[at + 1 :])
        with pytest.raises(ModelFileError, match="bytes 40 to 63 are zeros in format 1, and are not; copy the file"):
            read(path)


def patched(path, header, n_data=None):
    """Write a file of a header with right checksums."""
    raw = path.read_bytes()
    fields = list(struct.unpack("<8sIIQQII", raw[:40]))
    start = -(-(64 + fields[3]) // 64) * 64
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    fields[3], fields[5] = len(text), zlib.crc32(text)
    pad = -(-(64 + len(text)) // 64) * 64 - 64 - len(text)
    path.write_bytes(struct.pack("<8sIIQQII", *fields).ljust(64, b"\0") + text + bytes(pad) + raw[start:])


@pytest.mark.parametrize(
    "table",
    [
        {"a": ["<f8", [1 << 40], 0]},
        {"a": ["<f8", [1 << 30, 1 << 30, 1 << 30], 0]},
        {"a": ["<f8", [0, 1 << 61], 0]},
        {"a": ["<f8", [-1], 0]},
        {"a": ["<f8", [1], 8]},
        {"a": ["<f8", [1], -64]},
        {"a": ["<f8", [1], 1 << 60]},
        {"a": ["<f8", [True], 0]},
        {"a": ["<f8", [1.0], 0]},
        {"a": ["|O", [1], 0]},
        {"a": ["<f8", [4], 0], "b": ["|u1", [2], 0]},
        {"a": ["<f8", [1] * 9, 0]},
        {"a": "x"},
        [],
        None,
    ],
)
def test_a_table_of_arrays_that_lies_is_refused(table, path):
    write(path, {"said": [1, "ä"]}, ARRAYS)
    patched(path, {"arrays": table})
    with pytest.raises(ModelFileError):
        read(path)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b'{"arrays":{}, "x": 1e400}',
        b'{"arrays":{}, "x": NaN}',
        b'{"arrays":{}, "arrays":{}}',
        b'{"arrays":{}, "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"arrays":{}, "x": ' + b"9" * 10_000 + b"}",
        b'{"arrays":{}, "x": "\xff"}',
        b"{" + b" " * (1 << 20) + b"}",
    ],
)
def test_a_header_that_is_no_header_is_refused(text, path):
    write(path, {"said": [1, "ä"]}, ARRAYS)
    patched(path, text)
    with pytest.raises(ModelFileError):
        read(path)


def test_a_file_of_a_newer_format_says_who_made_it(path):
    write(path, {"made_by": "dtnumba 7.1"}, ARRAYS)
    raw = bytearray(path.read_bytes())
    raw[8] = 9
    path.write_bytes(raw)
    with pytest.raises(ModelFileError, match=r"made by dtnumba 7.1, format 9; this one reads up to 1"):
        read(path)


def test_what_fails_leaves_the_earlier_file(tmp_path, run_python):
    """A disk that is full is a limit on the size of files."""
    path = tmp_path / "model"
    write(path, {"said": [1, "ä"]}, ARRAYS)
    code = f"""
import resource, signal
import numpy as np
from dtnumba.model_files.container import write
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    write({str(path)!r}, {{}}, {{"a": np.zeros(10_000)}})
except OSError as error:
    print(type(error).__name__, error)
"""
    assert "File too large" in run_python(code)
    assert_read(path)
    assert [one.name for one in tmp_path.iterdir()] == ["model"]
    with pytest.raises(ValueError, match="header of the file would have"):
        write(path, {"said": "x" * (1 << 21)}, {})
    with pytest.raises(FileNotFoundError):
        write(tmp_path / "nowhere" / "model", {}, {})
    assert_read(path)


WRITER = """
import sys
import numpy as np
from dtnumba.model_files.container import write
print("begins", flush=True)
for i in range(1_000_000):
    write(sys.argv[1], {"i": i}, {"a": np.full(50_000, i)})
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="signals of Linux")
def test_processes_that_are_killed_while_they_save_leave_whole_files_and_no_litter(tmp_path):
    path, random = tmp_path / "model", np.random.default_rng(0)
    write(path, {"i": -1}, {"a": np.full(50_000, -1)})
    for _ in range(8):
        writers = [
            subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, env=os.environ.copy())
            for _ in range(2)
        ]
        for one in writers:
            one.stdout.readline()
        for _ in range(3):
            time.sleep(random.uniform(0.0, 0.02))
            content = read(path)
            assert (content.array("a") == content.header["i"]).all()
        for one in writers:
            one.send_signal(signal.SIGKILL)
            one.communicate()
        content = read(path)
        assert (content.array("a") == content.header["i"]).all()
    assert len(list(tmp_path.iterdir())) <= 3
    write(path, {"said": [1, "ä"]}, ARRAYS)
    assert [one.name for one in tmp_path.iterdir()] == ["model"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="as above")
def test_processes_that_save_under_one_name_do_not_disturb_each_other(tmp_path):
    path = tmp_path / "model"
    code = WRITER.replace("1_000_000", "150").replace("50_000", "500")
    writers = [subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.DEVNULL) for _ in range(3)]
    assert [one.wait(timeout=100) for one in writers] == [0, 0, 0]
    content = read(path)
    assert (content.array("a") == content.header["i"]).all()
    assert [one.name for one in tmp_path.iterdir()] == ["model"]


def test_the_rights_of_a_file_stay_and_links_lead_on(tmp_path):
    path, link = tmp_path / "model", tmp_path / "link"
    write(path, {}, {})
    path.chmod(0o640)
    link.symlink_to(path)
    write(link, {"said": [1, "ä"]}, ARRAYS)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert_read(path)


def test_what_is_no_file_is_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="pipe: is a device or a pipe"):
        write(pipe, {}, {})
    assert pipe.is_fifo()
    assert [one.name for one in tmp_path.iterdir()] == ["pipe"]
