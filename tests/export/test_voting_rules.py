"""Rules of C5.0, which vote: what says them, in each format to the bit, and what does not."""

from importlib.util import find_spec

import chromium
import numpy as np
import pytest
from exported import VOTING, fitted, made
from pictured import needs_browser
from strategies import interpreted_only

from dtnumba import C50Classifier, export
from dtnumba.export.replay import model_answers

without = pytest.mark.skipif(find_spec("duckdb") is None, reason="DuckDB is not installed")
NAMES = [pytest.param(name, marks=interpreted_only) for name in VOTING]
WRITE = {
    "python": export.python,
    "numpy": lambda model: export.python(model, "numpy"),
    "json": export.json,
    "sqlite": lambda model: export.sql(model, dialect="sqlite", proba=True),
    "duckdb": lambda model: export.sql(model, dialect="duckdb", proba=True),
    "rules": lambda model: export.rules(model, digits=None),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("format_", [pytest.param(own, marks=without if own == "duckdb" else ()) for own in WRITE])
def test_it_says_what_the_model_says(name, format_):
    model, X = made(name)
    assert export.verify(WRITE[format_](model), model, X)


@interpreted_only
@pytest.mark.parametrize("format_", ["python", "numpy", "json", "sqlite", "rules"])
def test_it_does_of_any_table(format_):
    n_sets = set()
    for seed in range(4):
        for name in VOTING:
            try:
                model, X = fitted(name, seed, 20 + 15 * seed)
            except ValueError:
                continue  # costs of three classes, and the table has two
            n_sets.add(model.n_trials_)
            assert export.verify(WRITE[format_](model), model, X)
    assert n_sets >= {1, 5}


@interpreted_only
def test_a_vote_that_is_changed_is_found():
    model, X = made("c50, rules")
    source = export.python(model)
    vote = source.partition("holding.append((")[2].partition(")")[0]
    other = type(source)(source.replace(f"(({vote})", f"(({vote.partition(',')[0]}, 1)", 1))
    vars(other).update(vars(source))
    with pytest.raises(export.ExportMismatchError, match="says"):
        export.verify(other, model, X)


@interpreted_only
def test_what_is_read_from_json_is_written_again():
    model, X = made("c50, rules, trials")
    again = export.from_json(export.json(model))
    assert export.json(again) == export.json(model)
    assert export.verify(export.python(again), model, X)


@interpreted_only
def test_formats_of_nodes_say_why_not():
    model, _ = made("c50, rules")
    for write in (export.c, export.onnx, export.treelite, export.network, export.dot, export.svg, export.frame):
        with pytest.raises(export.ExportError, match=r"answers by the votes of \d+ rules"):
            write(model)
    with pytest.raises(export.ExportError, match="are no nodes of a table"):
        export.sql(model, style="table")
    with pytest.raises(export.ExportError, match="votes of"):
        export.dnf(model, "yes")


@interpreted_only
def test_text_is_sentences_or_the_lines_of_c50():
    model, _ = made("c50, rules")
    assert export.text(model) == str(export.rules(model))
    assert export.text(model).count("\nif ") + 1 == len(model.rules_[0])
    assert export.text(model, "c50") in model.summary()
    many, _ = made("c50, rules, trials")
    assert export.text(many).count("# trial ") == many.n_trials_ == 5
    assert export.text(many, "c50").count("-----  Trial ") == 5


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    own = chromium.Browser(tmp_path_factory.mktemp("pages"))
    yield own
    own.close()


@needs_browser
@pytest.mark.parametrize("name", NAMES)
def test_a_row_that_is_traced_on_a_page_gets_the_answer_of_the_model(browser, name):
    model, X = made(name)
    assert browser.open(export.html(model, X)) == []
    assert len(browser.find("[data-rule]")) == sum(model.sizes_)
    table = model.table_of(X)
    rows = np.array([[table.values_at([i], [j])[0] for j in range(table.n_features)] for i in range(len(X))])
    rows = np.concatenate([rows, np.where(np.eye(len(rows), rows.shape[1]) > 0, np.nan, rows), rows * np.nan])
    said = browser.js(
        "const nan = (x) => x === null ? NaN : x;"
        "return arguments[0].map((row) => window.rulePage.answer(Float64Array.from(row, nan)));",
        [[None if x != x else float(x) for x in row] for row in rows.tolist()],
    )
    expected = model_answers(model, rows.astype(table.dtype))
    assert [one["code"] for one in said] == expected.codes[:, 0].tolist()
    assert np.array([one["shares"] for one in said]) == pytest.approx(np.asarray(expected.numbers), abs=1e-12)


@interpreted_only
def test_rules_of_one_class_say_it():
    model = C50Classifier(rules=True).fit([[1.0], [2.0]], ["a", "a"])
    for write in (export.python, export.json, export.rules):
        assert export.verify(write(model), model, [[1.0], [None]])
