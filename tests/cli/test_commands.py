"""Models from the shell: trained, saved, asked, shown, written another way; and what files may look like."""

from __future__ import annotations

import csv
import gzip
import io
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import interpreted_only

import dtnumba
from dtnumba.cli.command import DataError, build_parser, main
from dtnumba.cli.files import csv_file
from dtnumba.cli.files.read_table import read_table
from dtnumba.cli.files.reading import Reading
from dtnumba.cli.files.spelling import Spelling, as_days
from dtnumba.cli.help_texts import HELP
from dtnumba.cli.learners import SHORT, meant, tasks_of

ROWS = "when,colour,size,kind\n" + "".join(
    f"2020-01-{1 + i % 28:02d},{'red' if i % 3 else 'blue'},{i / 4},{'big' if i > 20 else 'small'}\n" for i in range(40)
)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(ROWS)
    return str(path)


@pytest.fixture
def run(capsys):
    """Run a command; return its exit code, what it prints, and what it remarks."""

    def command(*argv):
        code = main([str(one) for one in argv])
        out, err = capsys.readouterr()
        return code, out, err

    return command


@pytest.fixture
def saved(table, run, tmp_path):
    """Train a model of a name on the table; return its file."""

    def train(model="tree", *options):
        path = tmp_path / f"{model}.model"
        code, _, err = run("train", table, "--model", model, "--out", path, *options)
        assert code == 0, err
        return path

    return train


# Compiled, one of them shows what the others show: each would compile for seconds.
LEARNERS = ["tree", *(pytest.param(name, marks=interpreted_only) for name in [*list(SHORT)[1:], "C45Classifier"])]


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_is_trained_saved_asked_and_shown(saved, run, table, name):
    path = saved(name)
    code, out, err = run("predict", path, table)
    assert code == 0
    assert "the model does not know kind, which is left out" in err
    model = dtnumba.load(path)
    assert model.feature_names_in_.tolist() == ["when", "colour", "size"]
    assert model.categories_[1].tolist() == ["blue", "red"]
    assert model.column_kinds_.tolist() == ["date", "category", "number"]
    raw = read_table(table)
    frame = np.column_stack([raw.X[:, 0], np.array(raw.levels[1], object)[raw.X[:, 1].astype(int)], raw.X[:, 2]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        expected = model.predict(frame)
    assert out.splitlines() == ["prediction", *expected]
    assert run("show", path)[0] == 0
    code, out, _ = run("info", path)
    assert code == 0
    assert f"learner    {type(model).__name__}\nclasses    big, small\ncolumns    3\n" in out
    assert "column     when: date\ncolumn     colour: category of blue, red\ncolumn     size: number\n" in out


@interpreted_only
def test_shares_and_numbers_are_written_in_full(saved, run, table, tmp_path):
    path = saved("forest", "--set", "n_estimators=7")
    code, out, _ = run("predict", path, table, "--proba")
    rows = list(csv.reader(io.StringIO(out)))
    assert code == 0
    assert rows[0] == ["big", "small"]
    shares = np.array(rows[1:], float)
    assert shares.shape == (40, 2)
    assert (shares.sum(axis=1) == 1).all()
    regression = tmp_path / "numbers.model"
    options = ("--target", "size", "--task", "regression", "--model", "forest", "--out", regression)
    assert run("train", table, *options)[0] == 0
    code, out, _ = run("predict", regression, table)
    numbers = [float(line) for line in out.splitlines()[1:]]
    model = dtnumba.load(regression)
    assert code == 0
    assert len(set(numbers)) > 10
    assert model.n_features_in_ == 3
    assert run("predict", regression, table, "--proba")[:2] == (2, "")


def test_blocks_change_no_answer(saved, run, table, monkeypatch):
    path = saved()
    whole = run("predict", path, table)[1]
    monkeypatch.setattr(csv_file, "BLOCK_ROWS", 7)
    assert run("predict", path, table)[1] == whole


def test_columns_are_found_by_name_and_unseen_categories_are_missing(saved, run, tmp_path):
    path = saved()
    other = tmp_path / "other.csv"
    other.write_text("size;colour;extra;when\n9.5;violet;1;2020-01-05\n0.5;;2;\n")
    code, out, err = run("predict", path, other)
    assert (code, out) == (0, "prediction\nbig\nsmall\n")
    assert "taking ';' as what separates cells" in err
    assert "the model does not know extra, which is left out" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("size,when\n1,2020-01-01\n", "no column is named colour, which the model was trained on; there are size,"),
        ("size,when,colour\nred,2020-01-01,red\n", "line 2: column 'size' holds 'red', which is text, and the model"),
        ("size,when,colour\n1,17,red\n", "line 2: column 'when' holds '17', which is a number, and the model takes"),
        ("size,when,colour\n1,2020-01-01,red\n1\n", "line 3: 1 cell separated by ',', but the first line has 3"),
    ],
)
def test_files_that_do_not_fit_the_model_are_refused_and_no_file_is_written(saved, run, tmp_path, text, message):
    path, out = saved(), tmp_path / "out.csv"
    out.write_text("what was there")
    other = tmp_path / "other.csv"
    other.write_text(text)
    code, printed, err = run("predict", path, other, "--out", out)
    assert (code, printed) == (1, "")
    assert message in err
    assert out.read_text() == "what was there"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["other.csv", "out.csv", "table.csv", "tree.model"]


def test_answers_go_to_a_file_whole(saved, run, table, tmp_path):
    path, out = saved(), tmp_path / "out.csv"
    assert run("predict", path, table, "--out", out)[:2] == (0, "")
    assert out.read_text() == run("predict", path, table)[1]
    assert run("predict", path, table, "--out", tmp_path)[0] == 1
    code, _, err = run("predict", path, table, "--out", tmp_path / "none" / "out.csv")
    assert code == 1
    assert "out.csv: it cannot be written: there is no folder" in err


def test_a_file_that_is_read_is_not_written_over(saved, run, table, tmp_path):
    path, link = saved(), tmp_path / "link.csv"
    link.symlink_to(table)
    before = path.read_bytes()
    for argv in (
        ("train", table, "--out", table),
        ("train", table, "--out", link),
        ("predict", path, table, "--out", table),
        ("predict", path, table, "--out", path),
        ("convert", path, "--to", "json", "--out", path),
    ):
        code, out, err = run(*argv)
        assert (code, out) == (2, "")
        assert "that file is read, and would be lost; name another" in err
    assert (tmp_path / "table.csv").read_text() == ROWS
    assert path.read_bytes() == before


def test_a_place_that_cannot_be_written_is_refused_before_training(run, table, tmp_path):
    for place, said in ((tmp_path / "none" / "m", "there is no folder"), (tmp_path, "that is a folder")):
        code, out, err = run("train", table, "--out", place)
        assert (code, out) == (1, "")
        assert said in err
        assert "compile + fit" not in err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_answers_go_into_a_pipe_and_links_lead_on(saved, run, table, tmp_path):
    path, pipe = saved(), tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert run("predict", path, table, "--out", pipe)[0] == 0
        answers = os.read(reader, 1 << 16).decode()
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    assert answers == run("predict", path, table)[1]
    out, link = tmp_path / "out.csv", tmp_path / "link"
    out.write_text("")
    out.chmod(0o600)
    link.symlink_to(out)
    assert run("predict", path, table, "--out", link)[0] == 0
    assert link.is_symlink()
    assert out.read_text() == answers
    assert out.stat().st_mode & 0o777 == 0o600


def test_a_model_is_shown_as_a_page(saved, run, tmp_path):
    path, page = saved(), tmp_path / "page.html"
    assert run("show", path, "--html", page) == (0, "", "")
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "tree.model" in text
    assert '"names":["when","colour","size"]' in text
    assert run("show", path, "--html", tmp_path)[0] == 1
    code, _, err = run("show", path, "--html", path)
    assert code == 2
    assert f"--html {path}: that file is read, and would be lost" in err
    assert run("show", path)[0] == 0
    code, _, err = run("show", tmp_path)
    assert code == 1
    assert err.count(str(tmp_path)) == 1


def test_splines_are_shown_as_terms(run, tmp_path):
    X = np.linspace(0.0, 10.0, 60)[:, None]
    path, page = tmp_path / "splines.model", tmp_path / "page.html"
    rows = "".join(f"{x},{max(x - 4.0, 0.0)}\n" for x in X[:, 0].tolist())
    (tmp_path / "rows.csv").write_text("do\x1bse,y\n" + rows)
    code, printed, err = run("train", tmp_path / "rows.csv", "--model", "mars", "--out", path)
    assert code == 0, err
    assert "h(do\\x1bse-" in printed
    code, shown, _ = run("show", path)
    assert code == 0
    assert "h(do\\x1bse-" in shown
    assert all(line.isprintable() for line in shown.split("\n"))
    code, _, err = run("show", path, "--html", page)
    assert code == 1
    assert "--html: MARSRegressor is a sum of " in err
    assert not page.exists()
    assert run("predict", path, tmp_path / "rows.csv")[0] == 0
    for name in ("python", "c", "sql", "json", "text"):
        assert run("convert", path, "--to", name)[0] == 0


def test_signs_of_control_are_spelled(run, tmp_path):
    pd = pytest.importorskip("pandas")
    colour = np.array(["re\nd\x1b[31m", "blue\ttoo"] * 10, object)
    X = pd.DataFrame({"col\rour": colour, "size": np.arange(20.0)})
    model = dtnumba.DecisionTreeClassifier().fit(X, np.where(colour == colour[0], "st\nop", "go\x85"))
    model.save(tmp_path / "m")
    for command in ("info", "show"):
        code, out, _ = run(command, tmp_path / "m")
        assert code == 0
        assert all(line.isprintable() for line in out.split("\n"))
        assert "classes    go\\x85, st\\nop\n" in out
    assert "column     col\\rour: category of blue\\ttoo, re\\nd\\x1b[31m\n" in run("info", tmp_path / "m")[1]


def test_what_is_written_for_one_class_asks_for_it(saved, run, tmp_path):
    code, _, err = run("convert", saved(), "--to", "dnf")
    assert code == 2
    assert "--to dnf: it is written for one class: --set class=LABEL says which, of big, small" in err
    X = np.arange(8.0)[:, None]
    for y in (["01", "1"] * 4, [1, 2] * 4):
        dtnumba.DecisionTreeClassifier().fit(X, y).save(tmp_path / "m")
        code, out, err = run("convert", tmp_path / "m", "--to", "dnf", "--set", "class=1")
        assert code == 0, err
        assert out.count("x0") > 1


def test_a_model_is_converted(saved, run, tmp_path):
    path, out = saved(), tmp_path / "rules.txt"
    code, printed, _ = run("convert", path, "--to", "rules")
    assert code == 0
    assert printed.startswith("if ")
    assert run("convert", path, "--to", "rules", "--out", out)[:2] == (0, "")
    assert out.read_text() == printed
    code, _, err = run("convert", path, "--to", "poem")
    assert code == 2
    assert "--to poem: no such format; there are " in err
    for name in ("network", "c", "python", "json", "sql", "dot", "text"):
        assert run("convert", path, "--to", name)[0] == 0
    assert run("convert", saved("forest"), "--to", "dnf", "--set", "class=big")[0] == 1
    code, _, err = run("convert", path, "--to", "dnf", "--set", "rhyme=yes")
    assert code == 2
    assert "its options are: class_" in err


def test_what_is_no_model_is_refused(run, table, tmp_path):
    for command in (["predict", table, table], ["show", table], ["info", table], ["convert", table, "--to", "rules"]):
        code, _, err = run(*command)
        assert code == 1
        assert err.count("\n") == 1
        assert "table.csv" in err
    assert run("show", tmp_path / "none")[0] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("max_depth=0", "--set max_depth=0: The 'max_depth' parameter of DecisionTreeClassifier must be an int"),
        ("max_depth=deep", "must be an int in the range [1, inf) or None. Got 'deep' instead"),
        ("depth=3", "DecisionTreeClassifier has no parameter 'depth'; did you mean 'max_depth'?"),
        ("max_depth", "argument --set: 'max_depth' is not of the form parameter=value"),
        ("random_state=-1", "--set random_state=-1: The 'random_state' parameter of DecisionTreeClassifier must be"),
        ("random_state=soon", "must be an int in the range [0, 2**64 - 1]"),
        ("numeric_split=multiway missing=surrogate", "a surrogate stands in for a test of two children"),
    ],
)
def test_parameters_that_are_none_are_refused_before_a_file_is_read(run, text, message):
    code, _, err = run("train", "none.csv", *(part for one in text.split() for part in ("--set", one)))
    assert code == 2
    assert message in err
    assert run("train", "none.csv", "--model", "forest", "--set", "bootstrap=false", "--set", "oob_score=true")[0] == 2
    medians = ("--criterion", "absolute_error", "--set", "min_significance=0.05", "--task", "regression")
    assert "its F test compares means" in run("train", "none.csv", *medians)[2]


@interpreted_only
def test_parameters_are_read_as_their_rules_allow(saved):
    given = ["max_depth=3", "min_samples_leaf=0.1", "max_features=none", "criterion=entropy"]
    given.append('priors={"big": 0.25, "small": 0.75}')
    path = saved("tree", *(part for one in given for part in ("--set", one)))
    model = dtnumba.load(path)
    assert (model.max_depth, model.min_samples_leaf, model.max_features) == (3, 0.1, None)
    assert (model.criterion, model.priors) == ("entropy", {"big": 0.25, "small": 0.75})
    assert meant("1") == [1, "1"]
    assert meant("true") == [True, "true"]
    assert meant("[1, 2]") == [[1, 2], "[1, 2]"]


def test_labels_that_are_numbers_are_keys_of_json(run, tmp_path):
    path, out = tmp_path / "numbers.csv", tmp_path / "m"
    path.write_text("x,y\n" + "".join(f"{i},{1 + (i > 20)}\n" for i in range(40)))
    given = ['class_weight={"1": 3, "2": 0.5}', 'priors={"1": 0.25, "2": 0.75}', 'costs={"1": {"2": 4}}']
    code, _, err = run("train", path, "--out", out, *(part for one in given for part in ("--set", one)))
    assert code == 0, err
    model = dtnumba.load(out)
    assert model.class_weight == {1: 3, 2: 0.5}
    assert (model.priors, model.costs) == ({1: 0.25, 2: 0.75}, {1: {2: 4}})
    code, _, err = run("train", path, "--set", 'class_weight={"3": 2}')
    assert code == 1
    assert "spell the classes as in y" in err


def test_names_of_models(run, table):
    assert tasks_of("forest") == {False: "RandomForestClassifier", True: "RandomForestRegressor"}
    assert tasks_of("c45") == {False: "C45Classifier"}
    code, _, err = run("train", table, "--model", "oak")
    assert code == 2
    assert "--model oak: no such learner; there are tree, forest" in err
    code, _, err = run("train", table, "--model", "c45", "--task", "regression")
    assert code == 2
    assert "c45 is not a learner of numbers" in err


@pytest.mark.parametrize("page", HELP)
def test_help_fits_a_screen_and_names_every_option(page):
    lines = HELP[page].splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    if page != "dtnumba":
        parser = build_parser()._subparsers._group_actions[0].choices[page.split()[1]]
        for action in parser._actions[1:]:  # but for --help itself
            assert any(option in HELP[page] for option in action.option_strings or [action.metavar]), action
    else:
        assert all(f"  {command}" in HELP[page] for command in build_parser()._subparsers._group_actions[0].choices)


def test_the_version_is_printed(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"dtnumba {dtnumba.__version__}\n"


def test_help_is_printed(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["predict", "--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == HELP["dtnumba predict"]


def shell(*argv, stdin=None):
    return subprocess.run(
        [sys.executable, "-m", "dtnumba", *map(str, argv)], input=stdin, capture_output=True, check=False, timeout=300
    )


@pytest.mark.skipif(sys.platform.startswith("win"), reason="pipes of a shell")
def test_standard_input_and_a_reader_that_has_seen_enough(saved, table):
    path = saved()
    with open(table, "rb") as file:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "dtnumba", "predict", path, "-"], stdin=file, capture_output=True, check=False
        )
    assert done.returncode == 0
    assert done.stdout.count(b"\n") == 41
    zipped = shell("predict", path, "-", stdin=gzip.compress(ROWS.encode()))
    assert zipped.stdout == done.stdout
    big = shell("predict", path, "-", stdin=(ROWS + ROWS.partition("\n")[2] * 400).encode())
    assert big.returncode == 0
    command = f"{sys.executable} -m dtnumba predict {path} - | head -n 1"
    text = (ROWS + ROWS.partition("\n")[2] * 400).encode()
    piped = subprocess.run(command, shell=True, input=text, capture_output=True, check=False)  # noqa: S602
    assert piped.stdout == b"prediction\n"
    assert b"Traceback" not in piped.stderr
    assert b"error" not in piped.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")  # noqa: PTH110
def test_answers_that_cannot_be_written_are_an_error(saved, table):
    with open("/dev/full", "w") as full:  # noqa: PTH123
        command = [sys.executable, "-m", "dtnumba", "predict", str(saved()), table]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


PLAIN = "a,b,y\n1,x,p\n2.5,y,q\n,x,p\n4,y,q\n"


@pytest.mark.parametrize(
    ("data", "reading"),
    [
        (PLAIN.encode(), {}),
        (b"\xef\xbb\xbf" + PLAIN.encode(), {}),
        (PLAIN.encode("utf-16"), {}),
        (PLAIN.encode("utf-16-le"), {"encoding": "utf-16-le"}),
        (gzip.compress(PLAIN.encode()), {}),
        (PLAIN.replace("\n", "\r\n").encode(), {}),
        (PLAIN.replace(",", "\t").encode(), {}),
        (PLAIN.replace(",", "|").encode(), {}),
        (PLAIN.replace(",", "~").encode(), {"separator": "~"}),
        (PLAIN.replace(",", ";").replace(".", ",").encode(), {"decimal": ","}),
        (PLAIN.replace("2.5", "2,5").replace("1,x", "1;x").replace(",x", ";x").replace("a,b,y", "a;b;y")
         .replace(",y", ";y").replace(",p", ";p").replace(",q", ";q").encode(), {"decimal": ","}),
        (PLAIN.replace("\n,x", "\n-,x").encode(), {"missing": ("-",)}),
        (PLAIN.replace("\n,x", "\n.,x").encode(), {"missing": (".", "-")}),
        ((PLAIN.partition("\n")[2]).encode(), {"has_header": False}),
    ],
)  # fmt: skip
def test_spellings_of_a_file_change_nothing(tmp_path, data, reading):
    path = tmp_path / "table.csv"
    path.write_bytes(data)
    raw = read_table(str(path), None, Reading(**reading))
    np.testing.assert_array_equal(raw.X, [[1, 0], [2.5, 1], [np.nan, 0], [4, 1]])
    assert raw.levels == [None, ["x", "y"]]
    assert raw.target_cells == ["p", "q", "p", "q"]
    assert raw.names == (["0", "1"] if reading.get("has_header") is False else ["a", "b"])


def test_accents_in_other_encodings(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes("größe,y\nklein,a\ngrößer,b\n".encode("latin-1"))
    with pytest.raises(DataError, match="is not UTF-8 text; save the file as UTF-8, or say how it is written"):
        read_table(str(path))
    raw = read_table(str(path), None, Reading(encoding="latin-1"))
    assert (raw.names, raw.levels) == (["größe"], [["größer", "klein"]])


def test_kinds_are_what_the_caller_says(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("zip,code,note,y\n1,0x,n,a\n2,7,n,b\n")
    with pytest.raises(DataError, match="line 3: column 'code' holds '7', which is a number, and '0x', which is text"):
        read_table(str(path))
    raw = read_table(str(path), None, Reading(categories=("zip", "code"), ignored=("note",)))
    assert raw.levels == [["1", "2"], ["0x", "7"]]
    with pytest.raises(DataError, match="line 2: column 'code' holds '0x', which is text, and --number says that"):
        read_table(str(path), None, Reading(numbers=("code",)))
    raw = read_table(str(path), None, Reading(numbers=("code",), missing=("0x",)))
    np.testing.assert_array_equal(raw.X[:, 1], [np.nan, 7])
    with pytest.raises(DataError, match="no feature is named 'nothing' \\(--ignore\\)"):
        read_table(str(path), None, Reading(ignored=("nothing",)))


@pytest.mark.parametrize(
    ("cell", "number"),
    [("1.234,5", 1234.5), ("1.234", 1234.0), ("-12,25", -12.25), ("1,5e3", 1500.0), ("1.2.3", None), ("12.34", None),
     ("1.234.567,0", 1234567.0), ("inf", np.inf), ("no", None)],
)  # fmt: skip
def test_decimal_commas_and_marks_of_thousands(cell, number):
    assert Spelling(decimal=",", thousands=".").as_number(cell) == number


@pytest.mark.parametrize(
    ("cell", "days"),
    [("1970-01-02", 1), ("1969/12/31", -1), ("3.1.1970", 2), ("1970-01-01T06:00", 0.25),
     ("1970-01-01 12:00:00.5Z", None), ("1970-01-01T02:00+02:00", 0), ("1970-13-01", None), ("1970-02-30", None),
     ("11/20/2026", None),
     ("1970-01/02", None)],
)  # fmt: skip
def test_dates(cell, days):
    if cell.endswith(".5Z"):
        days = 0.5 + 0.5 / 86_400
    assert as_days(cell) == days


NUMBERS = st.floats(allow_nan=False).map(repr) | st.integers().map(str)
CELLS = st.text(st.sampled_from('ab,"\n 1é'), max_size=4) | NUMBERS


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=12), st.integers(1, 5))
def test_cells_are_those_of_the_csv_module(tmp_path_factory, rows, block):
    text = io.StringIO()
    csv.writer(text).writerows([["a", "b", "y"], *rows])
    path = tmp_path_factory.mktemp("csv") / "table.csv"
    path.write_bytes(text.getvalue().encode())
    raw_rows = [row for row in csv.reader(io.StringIO(text.getvalue())) if row][1:]
    before, csv_file.BLOCK_ROWS = csv_file.BLOCK_ROWS, block
    try:
        raw = read_table(str(path), None, Reading(separator=",", categories=("a", "b")))
    finally:
        csv_file.BLOCK_ROWS = before
    assert raw.target_cells == [row[2] for row in raw_rows]
    for j in range(2):
        cells = [None if Spelling().is_missing(row[j]) else row[j].strip() for row in raw_rows]
        levels = raw.levels[j] or []
        assert [None if x != x else levels[int(x)] for x in raw.X[:, j].tolist()] == cells


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow"])
def test_other_files_get_the_answers_of_text(saved, run, table, tmp_path, suffix):
    pa = pytest.importorskip("pyarrow")
    feather, parquet = pytest.importorskip("pyarrow.feather"), pytest.importorskip("pyarrow.parquet")
    rows = [line.split(",") for line in ROWS.splitlines()[1:]]
    when, colour, size, _ = zip(*rows, strict=True)
    days = pa.array(when).cast(pa.date32())
    colours = pa.chunked_array([pa.array(colour[:15]).dictionary_encode(), pa.array(colour[15:]).dictionary_encode()])
    arrow = pa.table({"size": pa.array(size).cast(pa.float32()), "colour": colours, "extra": [[1]] * 40, "when": days})
    path = str(tmp_path / f"table{suffix}")
    if suffix == ".parquet":
        parquet.write_table(arrow, path, row_group_size=7)
    elif suffix == ".feather":
        feather.write_feather(arrow.combine_chunks(), path)
    else:
        with pa.OSFile(path, "wb") as file, pa.ipc.new_stream(file, arrow.schema) as writer:
            writer.write_table(arrow.unify_dictionaries(), max_chunksize=9)
    model = saved()
    code, out, err = run("predict", model, path)
    assert code == 0
    assert "the model does not know extra" in err
    assert out == run("predict", model, table)[1]
    numbers = pa.table({"size": [1.0], "colour": ["red"], "when": [1]})
    parquet.write_table(numbers, tmp_path / "numbers.parquet")
    code, _, err = run("predict", model, tmp_path / "numbers.parquet")
    assert code == 1
    assert "column 'when' holds 1 (int64), and the model takes a date there" in err


def test_moments_are_spelled_in_full(run, tmp_path):
    (tmp_path / "x.csv").write_text("a\n0\n1\n")
    moments = np.array(["2020-01-01", "2021-02-03T04:05:06.000000007"], "M8[ns]")
    model = dtnumba.DecisionTreeClassifier().fit([[0.0], [1.0]], moments)
    model.save(tmp_path / "m")
    written = ["2020-01-01T00:00:00.000000000", "2021-02-03T04:05:06.000000007"]
    assert run("predict", tmp_path / "m", tmp_path / "x.csv")[1].split() == ["prediction", *written]
    assert run("predict", tmp_path / "m", tmp_path / "x.csv", "--proba")[1].split() == [",".join(written), "1,0", "0,1"]
    assert f"classes    {', '.join(written)}\n" in run("info", tmp_path / "m")[1]


def test_a_model_of_an_array_takes_columns_as_they_stand(run, tmp_path):
    X = np.array([[k, k % 3] for k in range(30)], float)
    model = dtnumba.DecisionTreeClassifier(categorical_features=[1]).fit(X, (X[:, 0] > 9) & (X[:, 1] != 2))
    saved, table = tmp_path / "array.model", tmp_path / "rows.csv"
    model.save(saved)
    lines = [f"{a:g},{b:g}" for a, b in X.tolist()]
    table.write_text("\n".join(lines))
    code, out, _ = run("predict", saved, table, "--no-header")
    assert code == 0
    assert out.splitlines()[1:] == [str(label) for label in model.predict(X).tolist()]
    table.write_text("\n".join(["b,c", *lines]))
    assert run("predict", saved, table)[1] == out
    table.write_text("a,b,c\n1,2,3\n")
    code, _, err = run("predict", saved, table)
    assert code == 1
    assert "no column is named 0, 1, which the model was trained on; there are a, b, c" in err


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a pipe that a signal finds open")
def test_a_process_that_is_killed_leaves_the_file_as_it_was(saved, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("what was there")
    command = [sys.executable, "-m", "dtnumba", "predict", str(saved()), "-", "--out", str(out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        process.stdin.write((ROWS + ROWS.partition("\n")[2] * 400).encode())
        process.stdin.flush()
        process.kill()
    assert out.read_text() == "what was there"


def test_ctrl_c_ends_quietly_and_writes_nothing(saved, table, tmp_path, monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    out = tmp_path / "out.csv"
    path = str(saved())
    monkeypatch.setattr("dtnumba.cli.predict.AnswerLines.of", interrupt)
    assert main(["predict", path, table, "--out", str(out)]) == 130
    assert capsys.readouterr().err.endswith("dtnumba predict: interrupted\n")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["table.csv", "tree.model"]
