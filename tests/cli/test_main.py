"""The command line, run in this process: what it prints, what it exits with."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from strategies import interpreted_only

from dtnumba.cli.command import main
from dtnumba.cli.demo_table import STATES, sample_table
from dtnumba.cli.files import csv_file
from dtnumba.cli.files.read_table import read_table
from dtnumba.cli.files.reading import Reading
from dtnumba.cli.train import target_values
from dtnumba.tables.columns import NUMBER

FEW_ROWS = 600

FLOWERS = """\
petal,sepal,kind
1.4,5.1,rose
1.3,,rose
1.5,4.9,rose
1.4,5.0,rose
NA,5.2,rose
1.6,4.8,rose
4.7,7.0,lily
4.5,6.4,lily
?,6.9,lily
4.9,6.5,lily
4.6,NaN,lily
4.8,null,lily
"""


@pytest.fixture
def few_rows(monkeypatch):
    """Make the built-in table small: most of what is printed does not depend on its size."""
    monkeypatch.setattr("dtnumba.cli.train.sample_table", partial(sample_table, FEW_ROWS))


@pytest.fixture
def write(tmp_path):
    """Write a file for a command to read."""

    def write_file(text, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write_file


@pytest.fixture
def printed(capsys):
    """Run a command that succeeds; return what it prints, progress first."""

    def run(*argv):
        assert main(["train", *argv]) == 0
        out, err = capsys.readouterr()
        return err + "\n" + out

    return run


@pytest.fixture
def refusal(capsys):
    """Run a command that fails; return the one line it says on stderr."""

    def run(*argv, code=1):
        assert main(list(argv)) == code
        out, err = capsys.readouterr()
        assert out == ""
        assert err.endswith("\n")
        assert err.count("error: ") == 1
        return err.splitlines()[-1]

    return run


def number_after(label, text):
    return float(re.search(rf"{label}\s+(-?[\d.]+)", text).group(1))


def test_built_in_table_beats_the_majority_class_and_shows_its_top(printed, monkeypatch):
    if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":  # the whole table is for compiled kernels
        monkeypatch.setattr("dtnumba.cli.train.sample_table", partial(sample_table, 2_000))
    out = printed("--max-depth", "10")
    stages = [line.split(" ...")[0] for line in out.splitlines() if " ... " in line and " s  " in line]
    assert stages == ["reading", "splitting", "compile + fit", "fit again", "predict"]
    assert number_after("held-out accuracy", out) > number_after("majority class", out) + 0.1
    assert re.search(r"[\d,]+ leaves, [\d,]+ nodes; depth 10\n", out)
    top = out.split("top of the model for 'state'\n")[1].splitlines()
    assert top[0].startswith("all rows")
    assert [len(line) - len(line.lstrip()) for line in top[1:4]] == [2, 4, 6]
    assert all(state in top[0] for state in STATES)


@interpreted_only
def test_same_seed_prints_the_same_tree(few_rows, printed):
    def untimed(text):
        return re.sub(r" *\b\d+\.\d+ s\b", "", text)

    options = ("--max-depth", "4", "--splitter", "random", "--seed", "3")
    assert untimed(printed(*options)) == untimed(printed(*options))
    assert untimed(printed(*options)) != untimed(printed(*options[:-1], "4"))


def test_options_reach_the_tree(few_rows, printed):
    out = printed("--max-depth", "2", "--min-samples-leaf", "40", "--criterion", "entropy", "--max-bins", "16")
    assert "; depth 2\n" in out
    rows = [int(n.replace(",", "")) for n in re.findall(r"([\d,]+) rows  ", out.split("top of the model")[1])]
    assert len(rows) <= 7
    assert min(rows) >= 40
    assert rows[0] == FEW_ROWS * 3 // 4


def test_test_fraction_is_held_out(few_rows, printed):
    assert "480 rows to learn from, 120 held out" in printed("--test-fraction", "0.2")


def test_csv_with_missing_cells_and_a_target_of_strings(write, printed):
    out = printed(write(FLOWERS))
    assert "12 rows, 2 features, 20.8% missing; 'kind': 2 classes" in out
    assert number_after("held-out accuracy", out) == 1
    assert "petal <= " in out or "sepal <= " in out
    assert "lily 100%" in out


def test_target_may_be_any_column_and_its_empty_cells_cost_their_rows(write, printed):
    text = "kind,size\n" + "".join(f"{'big' if i > 20 else 'small'},{i}\n" for i in range(40)) + ",7\nNA,8\n"
    out = printed(write(text), "--target", "kind")
    assert "40 rows, 1 feature, 0.0% missing; 'kind': 2 classes; 2 rows without it left out" in out
    assert "or missing" not in out


def test_spellings_a_spreadsheet_leaves_behind(write, printed):
    rows = "".join(f'" {i}.50","{i % 2 + 1:.0f}.0"\r\n\r\n' for i in range(20))
    path = write("\ufeff width ,grade\r\n" + rows + "na,1\r\nNAN,2\r\n")
    out = printed(path, "--max-depth", "1", "--number", "grade")
    assert "22 rows, 1 feature, 9.1% missing; 'grade': 2 classes" in out
    assert "  width <= " in out


def test_float_target_of_many_values_is_regression(write, printed):
    rng = np.random.default_rng(0)
    x = rng.uniform(size=200)
    text = "x,y\n" + "".join(f"{a:.4f},{10 * a + 0.5:.4f}\n" for a in x)
    out = printed(write(text))
    assert "'y': numbers" in out
    assert number_after("held-out error", out) < number_after("mean alone", out) / 5
    assert re.search(r"held-out error .* R2 0\.9\d+", out)
    assert re.search(r"all rows +150 rows  mean 5\.\d+", out)


@pytest.mark.parametrize(("task", "kind"), [("auto", "3 classes"), ("class", "3 classes"), ("regression", "numbers")])
def test_task_decides_about_a_target_of_few_numbers(write, printed, task, kind):
    text = "x,y\n" + "".join(f"{i},{i // 10}.50\n" for i in range(30))
    assert f"'y': {kind}\n" in printed(write(text), "--task", task)


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow"])
def test_arrow_files_read_as_csv_does(write, printed, tmp_path, suffix):
    pa = pytest.importorskip("pyarrow")
    feather = pytest.importorskip("pyarrow.feather")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {
        "whole": [*range(28), None, None],
        "half": [i / 2 for i in range(30)],
        "flag": [i % 2 == 0 for i in range(30)],
        "nothing": [None] * 30,
        "kind": ["low"] * 14 + ["high"] * 15 + [None],
    }
    table = pa.table(columns)
    path = str(tmp_path / f"table{suffix}")
    if suffix == ".parquet":
        parquet.write_table(table, path)
    elif suffix == ".feather":
        feather.write_feather(table, path)
    else:
        with pa.OSFile(path, "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table)
    columns["flag"] = [int(cell) for cell in columns["flag"]]
    rows = [["" if cell is None else str(cell) for cell in row] for row in zip(*columns.values(), strict=True)]
    from_csv = printed(write("\n".join(",".join(row) for row in [columns, *rows])))
    from_arrow = printed(path)
    assert "29 rows, 4 features, 25.9% missing; 'kind': 2 classes; 1 row without it left out" in from_arrow
    scores_and_tree = slice(1, 3)
    assert from_arrow.split("\n\n")[scores_and_tree] == from_csv.split("\n\n")[scores_and_tree]


SHIRTS = "colour,size,kind\n" + '"red, dark",1,a\nblue,2,b\n,1,a\ngreen,2,b\n' * 10


def test_features_of_text_are_categories(write, printed):
    out = printed(write(SHIRTS))
    assert "40 rows, 2 features (1 category), 12.5% missing; 'kind': 2 classes" in out
    assert "held-out accuracy  1.0000" in out
    assert '\n  colour is "red, dark" (or missing) ' in out
    assert '\n  colour is not "red, dark" ' in out


def test_numbers_may_be_named_as_a_category(write, printed):
    text = "zip,y\n" + "".join(f"0{i % 5},{'in' if i % 5 in (0, 2, 4) else 'out'}\n" for i in range(60))
    out = printed(write(text), "--category", "zip", "--max-depth", "1")
    assert 'zip in {"01", "03"} ' in out
    assert "held-out accuracy  1.0000" in out


def test_a_test_for_missing_is_said_as_one(write, printed):
    out = printed(write("colour,kind\n" + "red,a\n,b\n" * 10))
    assert "\n  colour is known " in out
    assert "\n  colour is missing " in out


def test_the_blocks_of_a_file_share_their_levels(write, monkeypatch):
    monkeypatch.setattr(csv_file, "BLOCK_ROWS", 3)
    raw = read_table(write("c,n,y\n" + "b,,x\na,1,x\n?,2,x\nc,,x\n" * 2), None)
    assert raw.levels == [["a", "b", "c"], None]
    np.testing.assert_array_equal(raw.X[:4], [[1, np.nan], [0, 1], [np.nan, 2], [2, np.nan]])
    np.testing.assert_array_equal(raw.X[4:], raw.X[:4])


def test_arrow_columns_of_text_are_categories(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = str(tmp_path / "table.parquet")
    texts = pa.array(["red", "NA", None, "red"])
    table = pa.table({"t": texts, "d": texts.dictionary_encode(), "n": [3, 1, None, 3], "y": ["a", "b", "a", "b"]})
    parquet.write_table(table, path)
    raw = read_table(path, "y", Reading(categories=("n",)))
    assert raw.levels == [["NA", "red"], ["NA", "red"], ["1", "3"]]
    np.testing.assert_array_equal(raw.X, np.transpose([[1, 0, np.nan, 1]] * 3))


def test_arrow_column_of_neither_is_refused_by_name(tmp_path, refusal):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = str(tmp_path / "table.parquet")
    parquet.write_table(pa.table({"colour": [[1], [2]], "kind": ["a", "b"]}), path)
    for options in ((), ("--category", "colour")):
        line = refusal("train", path, *options)
        assert "column 'colour' has dtype list<" in line
        assert line.endswith("of which a cell is no single value: leave it out, or make a column of each part")


def test_decimals_that_float64_would_merge_are_refused(tmp_path, refusal):
    import decimal

    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = str(tmp_path / "table.parquet")
    numbers = pa.array([decimal.Decimal(2**60 + i) for i in range(8)], pa.decimal128(19, 0))
    parquet.write_table(pa.table({"a": numbers, "kind": ["a", "b"] * 4}), path)
    assert "column 'a' holds numbers (decimal128(19, 0)) that differ, and are the same" in refusal("train", path)
    assert len(read_table(path, None, Reading(categories=("a",))).levels[0]) == 8
    parquet.write_table(pa.table({"a": pa.array([decimal.Decimal("0.1")] * 8), "kind": ["a", "b"] * 4}), path)
    assert (read_table(path, None).X == 0.1).all()


def test_a_file_of_one_column_beside_the_index_of_a_frame_says_so(tmp_path, refusal):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = str(tmp_path / "table.parquet")
    pandas.DataFrame({"a": range(9)}, index=pandas.Index(range(1, 10), name="t").astype(str)).to_parquet(path)
    assert "beside the index of a pandas frame there is only 'a'; --target or --category" in refusal("train", path)
    assert read_table(path, "t").names == ["a"]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (FLOWERS, ["--target", "colour"], "no column is named 'colour' (--target); there are petal, sepal, kind"),
        (
            "a,b,y\n1,2,x\n\n3,red,x\n",
            [],
            "line 4: column 'b' holds 'red', which is text, and '2', which is a number",
        ),
        ("b,y\nred,x\n,x\n2,x\n", [], ", line 4: column 'b' holds '2', which is a number, and 'red', which is text"),
        ("a,y\n2,x\n1_000,x\n", [], "column 'a' holds '1_000', which is text, and '2', which is a number"),
        (FLOWERS, ["--category", "kid"], "no feature is named 'kid' (--category); there are petal, sepal, kind"),
        (FLOWERS, ["--number", "kind"], "column 'kind' holds 'lily', which is not a number; --number kind needs"),
        ("", [], "the file is empty"),
        ("\n\n", [], "the file is empty"),
        ("a,y\n", [], "the file names columns, but has no rows"),
        ("a,y\n1,x\n1,x,5\n", [], ", line 3: 3 cells separated by ',', but the first line has 2"),
        ("a,y\n1,x\n1\n", [], ", line 3: 1 cell separated by ',', but the first line has 2"),
        ("a:y\n1:2\n", [], "only one column, 'a:y'; a target and at least one feature are needed, separated by commas"),
        ("a,a,y\n1,2,3\n", [], "two columns are named 'a'"),
        (
            "x;y\n1,5;2\n2;3\n",
            [],
            "column 'x' holds '2', which is a number, and '1,5', which is text: say how numbers",
        ),
        ("x;y\n1,5;2\n", [], "column 'x' holds '1,5': say how numbers are written by --decimal , and --thousands ."),
        ("x;y\n1;2,5\n", [], "column 'y' holds '2,5': say how numbers are written by --decimal , and --thousands ."),
        ("x;y\n1;2\n3;4;5\n", [], ", line 3: 3 cells separated by ';', but the first line has 2"),
        ("x;y\n1;2\n" * 20 + "3;4;5\n", [], ", line 41: 3 cells separated by ';', but the first line has 2"),
        (",a,y\n0,1,2\n", [], "column 1 has no name"),
        ("5.1,3.5,0\n4.9,3.0,0\n", [], "the first line should name the columns, but holds only numbers"),
        ("a,y\n1,x\n2,\n3,NA\n4,?\n", [], "1 row with a value of 'y'; at least 4 are needed"),
        (FLOWERS, ["--task", "regression"], "column 'kind' holds 'lily', which is not a number; --task regression"),
        ('a,y\n1,"x\n2,x\n', [], "not a CSV file (unexpected end of data)"),
        ('a,y\n1,"' + "x" * 200_000, [], ".csv: a cell holds more than 131,072 characters: close the double quote"),
        (
            f"a,y\n{2**60},x\n?,x\n{2**60 + 1},x\n",
            [],
            f"line 4: column 'a' holds {2**60} and {2**60 + 1}, which are the same number in float64",
        ),
        (b"a,y\n1,\xff\n", [], "is not UTF-8 text"),
    ],
)
def test_files_that_cannot_be_used_are_refused_in_one_line(write, refusal, text, options, message):
    line = refusal("train", write(text), *options)
    assert line.startswith("dtnumba train: error: ")
    assert message in line


@pytest.mark.parametrize("sign", [";", "\t", "|"])
def test_what_separates_cells_is_guessed_and_said(write, capsys, sign):
    path = write(FLOWERS.replace("petal", "petal, of").replace(",", sign).replace(f"petal{sign} of", "petal, of"))
    assert main(["train", path]) == 0
    err = capsys.readouterr().err
    assert "12 rows, 2 features, 20.8% missing; 'kind': 2 classes" in err
    assert f"dtnumba train: {path}: taking {'tab' if sign == chr(9) else repr(sign)} as what separates cells\n" in err


@pytest.mark.parametrize(
    ("spelled", "labels"),
    [
        ([f"{2**60}", f"{2**60 + 1}"], np.array([2**60, 2**60 + 1])),
        ([f"{-(2**63)}", "3.0"], np.array([-(2**63), 3])),
        ([f"{2**64 + 1}", f"{2**64}"], [f"{2**64 + 1}", f"{2**64}"]),
        ([f"{2**60}.0", f"{2**60 + 1}.0", "0.50", "0.5"], [f"{2**60}.0", f"{2**60 + 1}.0", "0.5", "0.5"]),
        (["1e-99999999999999999999", "0.5"], ["0.0", "0.5"]),
        (["inf", "Infinity"], ["inf", "inf"]),
        ([f"{10**400}", f"{10**400 + 1}"], [f"{10**400}", f"{10**400 + 1}"]),
        ([f"{10**400}.5", "1e999", "inf"], [f"{10**400}.5", "1e999", "inf"]),
    ],
)
def test_labels_are_as_exact_as_their_text(spelled, labels):
    found, is_regression, remark = target_values(spelled, "y", "auto", asked=NUMBER)
    assert not is_regression
    assert remark == ""
    assert found.tolist() == list(labels)
    assert found.dtype == np.asarray(labels).dtype


@pytest.mark.parametrize(
    ("spelled", "pair"),
    [
        (["1", "01"], "'01' and '1'"),
        (["1", "1.0", "2"], "'1' and '1.0'"),
        (["1e0", "1", "0.5"], "'1' and '1e0'"),
        (["0.50", "0.5"], "'0.5' and '0.50'"),
        ([f"{2**60}", f"0{2**60}"], f"'0{2**60}' and '{2**60}'"),
        (["1", "01", "x"], None),
    ],
)
def test_labels_of_several_spellings_are_several_classes_and_that_is_said(spelled, pair):
    found, is_regression, remark = target_values(spelled, "y", "auto")
    assert not is_regression
    assert found.tolist() == spelled
    assert remark == ("" if pair is None else f"{pair} of 'y' are two classes, because their texts differ; --number "
                                              "'y' takes equal numbers for one")  # fmt: skip


def test_the_caller_says_whether_labels_are_text_or_numbers(write, capsys):
    path = write("x,y\n" + "".join(f"{i % 4},{('1', '01', '2', '2')[i % 4]}\n" for i in range(40)))
    for options, said, n in (((), "'01' and '1' of 'y' are two classes", 3), (("--number", "y"), "", 2),
                             (("--category", "y"), "", 3)):  # fmt: skip
        assert main(["train", path, *options]) == 0
        err = capsys.readouterr().err
        assert f"'y': {n} classes" in err
        assert said in err
        assert ("two classes" in err) == bool(said)
    assert main(["train", path, "--category", "y", "--task", "regression"]) == 1


def test_categories_are_as_exact_as_their_text_and_numbers_with_zeros_are_remarked(write, capsys, monkeypatch):
    text = "zip,y\n" + "".join(f"{('1', '01', '1.0', '1e0')[i % 4]},{'abcd'[i % 4]}\n" for i in range(40))
    for is_long in (False, True):
        monkeypatch.setattr(csv_file, "LONG_BYTES", 1 if is_long else 1 << 23)
        assert read_table(write(text), None, Reading(categories=("zip",))).levels == [["01", "1", "1.0", "1e0"]]
        assert main(["train", write(text)]) == 0
        assert "'zip' is taken for numbers, '01' for that without the zero; --category 'zip'" in capsys.readouterr().err
        assert main(["train", write(text.replace("01", "0"))]) == 0
        assert "without the zero" not in capsys.readouterr().err


def test_large_whole_labels_are_told_apart(write, printed):
    text = "x,y\n" + "".join(f"{i % 2},{2**60 + i % 2}\n" for i in range(40))
    assert f"{2**60} 0%, {2**60 + 1} 100%" in printed(write(text))


def test_large_whole_features_may_be_rounded_but_not_merged(write, printed):
    text = "x,y\n" + "".join(f"{2**60 + 1000 * i + 1},{'ab'[i > 20]}\n" for i in range(40))
    assert "held-out accuracy  1.0000" in printed(write(text))
    merged = "x,y\n" + "".join(f"{2**60 + i},{'ab'[i > 20]}\n" for i in range(40))
    out = printed(write(merged), "--category", "x", "--max-depth", "1")
    assert out.count(f'  x in {{"{2**60}"') + out.count(f'  x not in {{"{2**60 + 21}"') == 1


def test_arrow_integers_that_would_be_merged_are_refused(tmp_path, refusal):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = str(tmp_path / "table.parquet")
    parquet.write_table(pa.table({"id": [2**60, None, 2**60 + 1, 0], "kind": ["a", "b"] * 2}), path)
    assert f"column 'id' holds {2**60} and {2**60 + 1}, which are the same number" in refusal("train", path)


def test_dates_are_days_in_files_of_every_kind(tmp_path, write, capsys):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = str(tmp_path / "table.parquet")
    days = [0, 1, -2, 20_000]
    noons = [day * 86_400_000 + 43_200_000 for day in days]
    table = {"when": pa.array(days, pa.date32()), "at": pa.array(noons, pa.timestamp("ms"))}
    parquet.write_table(pa.table(table | {"kind": ["a", "b"] * 2}), path)
    raw = read_table(path)
    np.testing.assert_array_equal(raw.X, [[d, d + 0.5] for d in days])
    assert raw.kinds.said() == "when, at are dates, in days since 1970"
    text = "when,at,kind\n1970-01-01,1970-01-01T12:00:00Z,a\n2.1.1970,1970/01/02 14:00+02:00,b\n,?,b\n"
    raw = read_table(write(text))
    np.testing.assert_array_equal(raw.X, [[0, 0.5], [1, 1.5], [np.nan, np.nan]])
    assert main(["train", write(text + "3.1.1970,,a\n" * 20)]) == 0
    assert "when, at are dates, in days since 1970" in capsys.readouterr().err
    assert read_table(write(text), None, Reading(categories=("when",))).levels[0] == ["1970-01-01", "2.1.1970"]


@interpreted_only
@pytest.mark.parametrize("name", [None, "row"])
def test_the_index_of_a_pandas_frame_is_left_out(tmp_path, capsys, name):
    pytest.importorskip("pyarrow")
    pd = pytest.importorskip("pandas")
    index = pd.Index(np.arange(40)[::-1], name=name)
    frame = pd.DataFrame({"x": np.arange(40), "kind": ["a", "b"] * 20}, index=index)
    path = str(tmp_path / "table.parquet")
    frame.to_parquet(path)
    shown = name or "__index_level_0__"
    assert main(["train", path]) == 0
    err = capsys.readouterr().err
    assert "40 rows, 1 feature, 0.0% missing; 'kind': 2 classes" in err
    assert f"dtnumba train: {path}: leaving out the index of a pandas frame, {shown!r}\n" in err
    assert main(["train", path, "--target", shown]) == 0
    assert f"2 features (1 category), 0.0% missing; {shown!r}" in capsys.readouterr().err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")  # noqa: PTH110
@pytest.mark.parametrize("argv", [["train"], ["train", "--help"], ["--help"]], ids=" ".join)
def test_a_full_disk_is_said_in_one_line(argv):
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "dtnumba", *argv], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    said = done.stderr.splitlines()[-1]
    assert said == "dtnumba: error: what was to be printed cannot be written: No space left on device"


def test_missing_file(refusal, tmp_path):
    for name in ("none.csv", "none.parquet"):
        assert f"{name}: No such file or directory" in refusal("train", str(tmp_path / name))


@pytest.mark.parametrize("name", ["table.parquet", "table.feather", "table.arrow"])
def test_text_that_pretends_to_be_arrow(write, refusal, name):
    pytest.importorskip("pyarrow")
    assert f"{name}: not a .{name.split('.')[1]} file" in refusal("train", write(FLOWERS, name))


def test_arrow_file_without_pyarrow_says_what_to_install(write, refusal, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "needs pyarrow: pip install 'dtnumba[frames]'" in refusal("train", write(b"PAR1", "table.parquet"))


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["guess", "table.csv"], "invalid choice: 'guess'"),
        (["train", "--criterion", "beauty"], "--set criterion=beauty: The 'criterion' parameter of DecisionTree"),
        (["train", "--max-depth", "0"], "argument --max-depth: '0' is not a whole number of at least 1"),
        (["train", "--seed", "-1"], "argument --seed"),
        (["train", "--test-fraction", "1"], "argument --test-fraction: '1' is not a number between 0 and 1"),
        (["train", "--test-fraction", "half"], "argument --test-fraction: 'half' is not a number between 0 and 1"),
        (["train", "--splitter", "worst"], "The 'splitter' parameter of DecisionTreeClassifier must be a str among"),
        (["train", "--depth", "3"], "unrecognized arguments: --depth"),
        (["train", "--task", "regression"], "--task regression need a FILE"),
    ],
)
def test_options_that_cannot_be_used_are_refused_in_one_line(refusal, argv, message):
    assert message in refusal(*argv, code=2)


def test_interrupt_ends_without_a_traceback(monkeypatch, capsys):
    def interrupt(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr("dtnumba.cli.train.sample_table", interrupt)
    assert main(["train"]) == 130
    assert capsys.readouterr().err.endswith("\ndtnumba train: interrupted\n")


def test_reading_the_command_line_imports_nothing_heavy():
    code = (
        "import sys, dtnumba; before = set(sys.modules); import dtnumba.cli.command as m; m.build_parser(); "
        "new = {name.split('.')[0] for name in set(sys.modules) - before}; "
        "assert not new & {'numpy', 'pandas', 'pyarrow', 'polars', 'sklearn', 'scipy'}, new"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_module_runs_as_a_program():
    done = subprocess.run([sys.executable, "-m", "dtnumba", "train", "--seed", "x"], capture_output=True, text=True,
                          check=False)  # fmt: skip
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("dtnumba: error: argument --seed: 'x' is not a whole number of at least 0")


def test_sample_table_is_the_same_for_a_seed_and_holds_what_it_promises():
    X, y, names = sample_table()
    again, labels, _ = sample_table()
    assert X.tobytes() == again.tobytes()
    assert (y == labels).all()
    assert X.shape == (20_000, 12)
    assert len(set(names)) == 12
    assert set(y) == set(STATES)
    assert 0.4 < np.mean(y == "sound") < 0.55
    assert 0.04 < np.isnan(X).mean() < 0.06
    assert np.isnan(X).any(axis=0).all()
    assert sample_table(seed=1)[0].tobytes() != X.tobytes()
