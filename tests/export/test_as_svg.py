"""A picture of a tree: well-formed, nothing overlaps, text stays in its box, also as a browser draws it."""

import runpy
from pathlib import Path
from xml.etree import ElementTree as ET

import chromium
import numpy as np
import pytest
from exported import made
from pictured import NASTY, TREES, many_trees, nasty_model, needs_browser, overlaps
from strategies import interpreted_only

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, export
from dtnumba.export.pictures.text_widths import cut, width

SPACE = "{http://www.w3.org/2000/svg}"


def boxes_of(picture):
    """Return the left, upper, right and lower edge of every box."""
    found = []
    for group in ET.fromstring(picture.encode()).iter(f"{SPACE}g"):  # noqa: S314  our own text
        x, y = map(float, group.get("transform")[10:-1].split(","))
        box = group.find(f"{SPACE}rect")
        found.append((x, y, x + float(box.get("width")), y + float(box.get("height"))))
    return np.array(found)


@pytest.mark.parametrize("name", TREES)
def test_every_node_is_drawn_once_and_none_overlaps(name):
    model, _ = made(name)
    picture = export.svg(model, max_depth=None)
    boxes = boxes_of(picture)
    assert len(boxes) == int(model.trees_.root[1]) - np.count_nonzero(model.trees_.join >= 0)
    assert overlaps(boxes) == 0
    assert boxes[:, :2].min() >= 0


def test_below_max_depth_is_said_how_many_nodes_there_are():
    model, _ = made("tree")
    picture = export.svg(model, max_depth=2)
    drawn = model.tree_.compute_node_depths() <= 3
    assert len(boxes_of(picture)) == drawn.sum()
    said = [int(one.text[2:]) for one in ET.fromstring(picture).iter(f"{SPACE}text") if one.text.startswith("+ ")]  # noqa: S314
    assert sum(said) == (~drawn).sum()
    assert len(boxes_of(export.svg(model, max_depth=0))) == 1


def test_trees_of_a_forest_are_chosen():
    model, _ = made("forest")
    for t in range(5):
        assert len(boxes_of(export.svg(model, tree=t, max_depth=None))) == model.estimators_[t].n_nodes_


def test_names_that_are_markup_are_text():
    model, _, _ = nasty_model()
    picture = export.svg(model, max_depth=None, feature_names=NASTY)
    root = ET.fromstring(picture.encode())  # noqa: S314  our own text
    assert {one.tag.removeprefix(SPACE) for one in root.iter()} <= {
        *("svg", "title", "style", "path", "g", "rect", "text", "circle"),
    }
    assert any("<script>" in (one.text or "") for one in root.iter(f"{SPACE}title"))


@interpreted_only
def test_bad_input_is_named():
    model, _ = made("tree")
    with pytest.raises(ValueError, match="not fitted"):
        export.svg(DecisionTreeClassifier())
    with pytest.raises(TypeError, match="must be a fitted estimator"):
        export.svg("tree")
    for wrong in (-1, 1, 0.5, True, None):
        with pytest.raises(ValueError, match="from 0 to 0, as the model has 1 tree"):
            export.svg(model, tree=wrong)
    for wrong in (-1, 1.5, "2", True):
        with pytest.raises(ValueError, match="max_depth"):
            export.svg(model, max_depth=wrong)
    with pytest.raises(ValueError, match="1 names for 4 columns"):
        export.svg(model, feature_names=["a"])
    with pytest.raises(export.ExportError, match="no nodes for"):
        export.svg(made("rules")[0])


@interpreted_only
def test_a_compact_tree_shows_its_tests_and_leaves():
    X = np.arange(30.0)[:, None]
    picture = export.svg(DecisionTreeRegressor(max_depth=2).fit(X, np.sin(X[:, 0])).compact())
    assert len(boxes_of(picture)) == 7
    assert 'text-anchor="end"' not in picture


def test_text_is_cut_to_its_room():
    for text in NASTY[:-1]:
        for room in (5, 40, 170.5):
            assert width(cut(text, room, 12), 12) <= max(room, width("\u2026", 12))
    assert cut("short", 100, 12) == "short"
    assert cut("x" * 100, 60, 12).endswith("\u2026")


@interpreted_only
def test_a_long_name_leaves_room_for_the_threshold():
    X = np.arange(20.0)[:, None]
    model = DecisionTreeRegressor(max_depth=1).fit(X, X[:, 0] > 9)
    picture = export.svg(model, feature_names=["a very long name of a column that has no end"])
    ways = [one.text for one in ET.fromstring(picture).iter(f"{SPACE}text") if one.get("class") == "way"]  # noqa: S314
    assert [way.rpartition("\u2026")[2] for way in ways[1:]] == [" \u2264 9.5", " > 9.5"]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    own = chromium.Browser(tmp_path_factory.mktemp("pictures"))
    yield own
    own.close()


MEASURED = """
const wrong = [];
for (const g of document.querySelectorAll("g")) {
  const box = g.querySelector(".box").getBoundingClientRect(), texts = [...g.querySelectorAll("text:not(.dim)")];
  const rows = [...g.querySelectorAll("text.dim[text-anchor]")];
  for (const text of texts.concat(rows)) {
    const r = text.getBoundingClientRect();
    if (r.left < box.left || r.right > box.right + 0.5 || r.top < box.top || r.bottom > box.bottom + 0.5)
      wrong.push(text.textContent);
  }
  const says = g.querySelector(".says");
  if (says && rows.length && says.getBoundingClientRect().right > rows[0].getBoundingClientRect().left + 0.5)
    wrong.push([says.textContent, rows[0].textContent]);
}
return { wrong, n: document.querySelectorAll("g").length };
"""


@needs_browser
@pytest.mark.parametrize("seed", range(10))
def test_text_is_in_its_box_as_a_browser_draws_it(browser, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 200))
    X = rng.normal(size=(n, 4)).astype(object)
    X[:, 0] = [NASTY[k] for k in rng.integers(0, len(NASTY), n)]
    y = np.array([NASTY[k] for k in rng.integers(0, len(NASTY), n)], object)
    model = DecisionTreeClassifier(categorical_split=["subset", "multiway"][seed % 2]).fit(X, y)
    names = ["WWWW MMMM " * 9, *NASTY[2:5]]
    assert browser.open(export.svg(model, max_depth=8, feature_names=names), f"p{seed}.svg") == []
    found = browser.js(MEASURED)
    assert found["n"] > 1
    assert found["wrong"] == []


@needs_browser
def test_500_random_trees_have_no_overlap_and_their_text_is_in_its_boxes(browser):
    model, names = many_trees(500)
    drawn = [export.svg(model, tree=t, max_depth=8, feature_names=names) for t in range(500)]
    assert sum(overlaps(boxes_of(picture)) for picture in drawn) == 0
    assert browser.open("<!DOCTYPE html><meta charset=utf-8><link rel=icon href='data:,'>" + "".join(drawn)) == []
    found = browser.js(MEASURED)
    assert found["n"] == model.trees_.n_nodes
    assert found["wrong"] == []


@needs_browser
@pytest.mark.parametrize("name", TREES)
def test_text_of_every_kind_of_tree_is_in_its_box(browser, name):
    assert browser.open(export.svg(made(name)[0], max_depth=None), "kind.svg") == []
    assert browser.js(MEASURED)["wrong"] == []


@interpreted_only
def test_the_pictures_of_the_pages_are_those_that_the_script_writes():
    folder = Path(__file__).parents[2] / "benchmarks"
    drawn = runpy.run_path(str(folder / "tree_pictures.py"))["pictures"]()
    kept = {path.stem: path.read_text(encoding="utf-8") for path in (folder / "pictures").glob("*.svg")}
    assert drawn == kept
