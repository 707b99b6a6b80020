"""A page of a model: its data and its marks in Python, and what it does in a real browser."""

import json
import re
import time

import chromium
import numpy as np
import pytest
from exported import ALL_KINDS, made
from pictured import (
    NASTY,
    RULES,
    TREES,
    large_tree,
    many_trees,
    name_of,
    nasty_model,
    needs_browser,
    overlaps,
)
from strategies import compiled_where, interpreted_only

from dtnumba import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RuleSetClassifier,
    export,
)
from dtnumba.export.replay import model_answers

OUTSIDE = re.compile(r"""(?:src|href|action)\s*=\s*["']?\s*(?:https?:)?//|@import|url\(""", re.IGNORECASE)


def data_of(page):
    found = re.search(r'<script type="application/json" id="model">(.*?)</script>', page, re.DOTALL)
    return json.loads(found[1])


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    own = chromium.Browser(tmp_path_factory.mktemp("pages"))
    yield own
    own.close()


# In Python


@pytest.mark.parametrize("name", ALL_KINDS)
def test_a_page_is_one_file_without_addresses(name):
    model, X = made(name)
    page = export.html(model, X)
    assert isinstance(page, str)
    assert page.startswith("<!DOCTYPE html>")
    assert page.count("<script") == page.count("</script>") == 2
    assert not OUTSIDE.search(page)
    page.encode("utf-8")


def test_no_name_breaks_out():
    model, X, y = nasty_model()
    page = export.html(model, X, y, feature_names=NASTY, title=NASTY[0])
    assert page.count("<script") == page.count("</script>") == 2
    assert "<img" not in page
    assert "\u202e" not in page
    assert page.count("<!DOCTYPE") == 1
    page.encode("utf-8")
    data = data_of(page)
    assert data["names"][3].startswith("two\u21b5lines")
    assert data["names"][0] == NASTY[0]


@interpreted_only
def test_bad_input_is_named():
    model, X = made("tree")
    with pytest.raises(ValueError, match="not fitted"):
        export.html(DecisionTreeClassifier())
    with pytest.raises(TypeError, match="must be a fitted estimator"):
        export.html(3)
    with pytest.raises(ValueError, match="pass X="):
        export.html(model, y=[1])
    with pytest.raises(ValueError, match="2 names for 4 columns"):
        export.html(model, feature_names=["a", "b"])
    with pytest.raises(TypeError, match="sequence of names"):
        export.html(model, feature_names="abcd")
    with pytest.raises(ValueError, match="class_names"):
        export.html(model, class_names=["a"])
    with pytest.raises(ValueError, match="has no classes"):
        export.html(made("regression")[0], class_names=["a"])
    for wrong in (0, 2, True, "all"):
        with pytest.raises(ValueError, match="n_trees"):
            export.html(model, n_trees=wrong)
    with pytest.raises(ValueError, match="numbers of samples"):
        export.html(model, X, ["no"])


def test_labels_need_not_be_text():
    X = [[1.0], [2.0], [3.0], [4.0]]
    for labels in ([True, False] * 2, [1.0, 2.0] * 2, [b"a", b"<b>"] * 2, np.array([1, 2, 1, 2])):
        page = export.html(DecisionTreeClassifier().fit(X, labels))
        assert all(isinstance(own, str) for own in data_of(page)["classes"][0])


def test_a_forest_says_how_many_of_its_trees_are_there():
    model, _ = made("forest")
    data = data_of(export.html(model, n_trees=2))
    assert data["nTrees"] == 5


@pytest.mark.parametrize(("n_leaves", "most"), [(5_000, 2e6), (50_000, 12e6)])
def test_pages_are_small(n_leaves, most):
    for k in (2, 26):
        page = export.html(large_tree(n_leaves, k))
        assert len(page.encode()) <= most


# In a browser


@needs_browser
@pytest.mark.parametrize("name", TREES)
def test_a_traced_row_gets_the_answer_of_the_model(browser, name):
    model, X = made(name)
    assert browser.open(export.html(model, X)) == []
    table = model.table_of(X)
    numbers = np.unique(np.linspace(0, len(X) - 1, min(200, len(X))).astype(int))
    rows = np.array([[table.values_at([i], [j])[0] for j in range(table.n_features)] for i in numbers])
    said = browser.js(
        "const {model, answer} = window.treePage, x = model.decode(model.data.rows.x), p = model.data.names.length;"
        "return model.data.rows.numbers.map((_, k) => answer(x.slice(k * p, (k + 1) * p)));"
    )
    expected = model_answers(model, rows.astype(table.dtype))
    shares = np.array([one["numbers"] for one in said])
    assert shares == pytest.approx(np.asarray(expected.numbers), abs=1e-9)
    if expected.codes is not None:
        assert [one["codes"] for one in said] == expected.codes.tolist()


@needs_browser
@pytest.mark.parametrize("name", [own for own in ALL_KINDS if name_of(own) in RULES])
def test_rules_are_a_table(browser, name):
    model, _ = made(name)
    assert browser.open(export.html(model)) == []
    rows = browser.find("[data-rule]")
    assert len(rows) == len(model.rules_)
    field = browser.one("#rule-filter")
    field.send_keys(str(model.classes_[0]))
    browser.settle()
    shown = [row for row in rows if row.is_displayed()]
    assert 0 < len(shown) <= len(rows)
    assert all(str(model.classes_[0]) in row.text for row in shown)


@needs_browser
@pytest.mark.parametrize("name", [own for own in ALL_KINDS if name_of(own) in RULES])
def test_a_row_that_is_traced_through_rules_gets_their_answer(browser, name):
    model, X = made(name)
    assert browser.open(export.html(model, X)) == []
    table = model.table_of(X)
    numbers = np.unique(np.linspace(0, len(X) - 1, min(200, len(X))).astype(int))
    rows = np.array([[table.values_at([i], [j])[0] for j in range(table.n_features)] for i in numbers])
    rows = np.concatenate([rows, np.where(np.eye(len(rows), rows.shape[1]) > 0, np.nan, rows), rows * np.nan])
    said = browser.js(
        "const nan = (x) => x === null ? NaN : x;"
        "return arguments[0].map((row) => window.rulePage.answer(Float64Array.from(row, nan)));",
        [[None if x != x else x for x in row] for row in rows.tolist()],
    )
    expected = model_answers(model, rows.astype(table.dtype))
    assert [one["code"] for one in said] == expected.codes[:, 0].tolist()
    assert np.array([one["shares"] for one in said]) == pytest.approx(np.asarray(expected.numbers), abs=1e-9)


@needs_browser
def test_rules_that_hold_are_marked_by_real_clicks(browser):
    X = np.array([[1.0, 0.0], [2.0, 1.0], [8.0, 0.0], [9.0, 1.0], [8.5, 5.0], [1.5, 6.0]])
    tree = DecisionTreeClassifier().fit(X, ["low", "low", "high", "high", "odd", "low"])
    model = tree.to_rules()
    page = export.html(model, X, ["low", "low", "high", "high", "odd", "low"], feature_names=["size", "age"])
    assert browser.open(page) == []
    browser.one("#pick option[value='4']").click()
    browser.settle()
    assert "answers: odd" in browser.one("#answer").text
    assert "It is: odd" in browser.one("#answer").text
    (holding,) = browser.find("[data-rule].passed")
    assert holding.get_attribute("class") == "passed decides"
    assert "answers" in holding.text
    assert "odd" in holding.text
    assert browser.find("[data-rule] .fails")
    browser.one("#only-passed").click()
    assert [row for row in browser.find("[data-rule]") if row.is_displayed()] == [holding]
    field = browser.one("#value-0")
    field.clear()
    field.send_keys("1")
    browser.settle()
    assert "answers: low" in browser.one("#answer").text
    browser.one(".to-rule").click()
    assert browser.js("return document.activeElement.matches('.decides')")
    browser.one("#clear").click()
    assert browser.find(".passed") == []
    assert len([row for row in browser.find("[data-rule]") if row.is_displayed()]) == len(model.rules_)
    assert browser.console() == []


@needs_browser
@pytest.mark.parametrize("forest", compiled_where([False, True], [False]))
def test_nasty_names_are_text_in_the_browser(browser, forest):
    model, X, y = nasty_model(forest)
    page = export.html(model, X, y, feature_names=NASTY, title=NASTY[1])
    assert browser.open(page) == []
    for button in ("unfold-all", "fit"):
        browser.one(f"#{button}").click()
    browser.one("#row-tab").click()
    browser.js(
        "document.getElementById('pick').value = '3';document.getElementById('pick').dispatchEvent(new Event('change'))"
    )
    browser.settle()
    assert browser.js("return window.broken === undefined")
    assert browser.find("img") == []
    assert browser.console() == []
    assert "broken" in browser.one("h1").text


FROM_THE_LEFT = """
    const test = / is (not )?(small|large)/;
    const where = (one, at) => {
      if (one.getExtentOfChar) return one.getExtentOfChar(at).x;
      const range = document.createRange(), walk = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
      let k = at, node = walk.nextNode();
      while (k >= node.length) { k -= node.length; node = walk.nextNode(); }
      range.setStart(node, k); range.setEnd(node, k + 1);
      return range.getBoundingClientRect().left;
    };
    return Array.from(document.querySelectorAll(arguments[0]))
      .filter((one) => test.test(one.textContent) && one.getBoundingClientRect().width > 0)
      .map((one) => {
        const text = one.textContent, said = test.exec(text), end = said.index + said[0].length - 1;
        const [name, is, last] = [text.indexOf("\u05d0"), said.index + 1, end].map((at) => where(one, at));
        return name < is && is < last;
      });
"""


@needs_browser
def test_conditions_of_names_that_read_from_the_right_read_from_the_left(browser):
    X = np.array([["small"], ["large"]] * 9, dtype=object)
    name = "\u05d0" * 3
    tree = DecisionTreeClassifier().fit(X, [0, 1] * 9)
    assert browser.open(export.html(tree, feature_names=[name])) == []
    browser.find("[data-node]")[-1].click()
    browser.settle()
    in_boxes, in_panel = browser.js(FROM_THE_LEFT, "svg text"), browser.js(FROM_THE_LEFT, "#node-panel bdi")
    assert len(in_boxes) >= 1
    assert len(in_panel) >= 1
    assert all(in_boxes + in_panel)
    browser.open(f"<!DOCTYPE html><meta charset='utf-8'>{export.svg(tree, feature_names=[name])}")
    assert set(browser.js(FROM_THE_LEFT, "svg text")) == {True}
    rules = RuleSetClassifier(categorical_features=[0]).fit(X, [0, 1] * 9)
    browser.open(export.html(rules, feature_names=[name]))
    assert set(browser.js(FROM_THE_LEFT, "[data-test]")) == {True}
    browser.one("#rule-filter").send_keys(f"{name} is small")
    browser.settle()
    assert sum(row.is_displayed() for row in browser.find("[data-rule]")) == 1


def shown_nodes(browser):
    return sorted(int(one.get_attribute("data-node")) for one in browser.find("[data-node]"))


@interpreted_only
@needs_browser
def test_all_levels_of_a_column_are_what_is_known(browser):
    def said(levels, labels):
        X = np.array(levels * 5, object)[:, None]
        model = DecisionTreeClassifier().fit(X, labels * 5)
        assert browser.open(export.html(model)) == []
        found = []
        for node in range(1, model.n_nodes_):
            browser.js("window.treePage.view.select(arguments[0])", node)
            found += [line.text for line in browser.find("#node-panel .rule li")]
        return sorted(found)

    assert said(["a", "b", "c", None], ["yes", "yes", "yes", "no"]) == ["x0 known", "x0 missing"]
    both = said(["a", "b", "missing", None], ["yes", "yes", "no", "no"])  # a level of that name
    assert both == ["x0 is missing or missing", "x0 is not missing"]


@needs_browser
def test_nodes_fold_by_clicks_and_by_keys(browser):
    model, _ = made("tree")
    assert browser.open(export.html(model)) == []
    browser.one("#fold-all").click()
    browser.settle()
    assert shown_nodes(browser) == [0]
    browser.one("[data-fold='0']").click()
    browser.settle()
    children = model.tree_.children(0).tolist()
    assert shown_nodes(browser) == [0, *children]
    browser.one("[data-fold='0']").click()
    browser.settle()
    assert shown_nodes(browser) == [0]
    tree = browser.one("#tree")
    tree.send_keys("\ue014")  # right: unfold
    browser.settle()
    assert shown_nodes(browser) == [0, *children]
    tree.send_keys("\ue014")  # right: the first child
    browser.settle()
    assert browser.one("[aria-selected='true'][data-node]").get_attribute("data-node") == str(children[0])
    tree.send_keys("\ue015")  # down
    browser.settle()
    assert browser.one("[aria-selected='true'][data-node]").get_attribute("data-node") == str(children[1])
    tree.send_keys("\ue012")  # left: its parent, as it is folded
    browser.settle()
    assert browser.one("[aria-selected='true'][data-node]").get_attribute("data-node") == "0"
    assert browser.one("[data-node='0']").get_attribute("aria-expanded") == "true"
    tree.send_keys("\ue012")
    browser.settle()
    assert shown_nodes(browser) == [0]
    assert browser.console() == []


@interpreted_only
@needs_browser
def test_a_long_name_leaves_room_for_the_threshold(browser):
    X = np.arange(20.0)[:, None]
    model = DecisionTreeRegressor(max_depth=1).fit(X, X[:, 0] > 9)
    name = "a very long name of a column that has no end"
    assert browser.open(export.html(model, feature_names=[name])) == []
    browser.settle()
    ways = [one.text for one in browser.find(".way")]
    assert [way.rpartition("\u2026")[2] for way in ways[1:]] == [" \u2264 9.5", " > 9.5"]
    assert all(way.startswith("a very long") for way in ways[1:])


@needs_browser
def test_search_finds_columns_and_classes(browser):
    model, _ = made("tree")
    assert browser.open(export.html(model, feature_names=["alpha", "beta", "gamma", "delta"])) == []
    tree = model.tree_
    field = browser.one("#search")
    field.send_keys("Alpha")
    splits = np.flatnonzero(tree.feature == 0)
    browser.settle()
    assert browser.one("#found").text == f"{len(splits)} found"
    field.send_keys("\ue007")
    browser.settle()
    assert browser.one("#found").text == f"1 of {len(splits)}"
    assert browser.one("[aria-selected='true'][data-node]").get_attribute("data-node") == str(splits[0])
    browser.one("#find-before").click()
    browser.settle()
    assert browser.one("[aria-selected='true'][data-node]").get_attribute("data-node") == str(splits[-1])
    field.clear()
    field.send_keys("it's")
    leaves = np.flatnonzero((tree.feature < 0) & (model.classes_[tree.value[:, 0].argmax(axis=1)] == "it's"))
    browser.settle()
    assert browser.one("#found").text == f"{len(leaves)} found"
    field.send_keys("\ue00c")  # escape
    browser.settle()
    assert browser.one("#found").text == ""
    assert browser.find(".hit") == []


@interpreted_only
@needs_browser
def test_a_row_is_typed_and_picked(browser):
    model, X = made("surrogates")
    y = model.predict(X)
    assert browser.open(export.html(model, X, y)) == []
    browser.one("#row-tab").click()
    browser.one("#pick option[value='5']").click()
    browser.settle()
    row = int(browser.one("#pick option[value='5']").text.split(":")[0].removeprefix("row "))
    assert browser.one(".said strong").text == str(y[row])
    leaf = browser.one("[aria-selected='true'][data-node]").get_attribute("data-node")
    assert leaf == str(model.apply(X[row : row + 1])[0])
    assert len(browser.find(".passed")) >= 2
    field = browser.find("#inputs input[type='text']")[0]
    column = int(field.get_attribute("id").removeprefix("value-"))
    typed = X[row : row + 1].copy()
    for value in ("-2.5", "2.5", ""):
        field.clear()
        field.send_keys(value or " ")
        browser.settle()
        typed[0, column] = float(value) if value else None
        assert browser.one(".said strong").text == str(model.predict(typed)[0])
    field.send_keys("what")
    assert field.get_attribute("aria-invalid") == "true"
    browser.one("#clear").click()
    browser.settle()
    assert browser.find(".passed") == []


@needs_browser
def test_how_many_nodes_are_below_fits_between_columns(browser):
    assert browser.open(export.html(made("tree")[0])) == []
    wide = browser.js(
        "const {View} = {View: window.treePage.view}, text = View.make('text', {class: 'more'}, '1000k');"
        "document.getElementById('scene').append(text); View.state.view.k = 1; const wide = text.getBBox().width;"
        "text.remove(); return [wide, View.STEP - View.W - 24];"
    )
    assert 0 < wide[0] <= wide[1]


COVERED = """
const rects = (selector) => Array.from(document.querySelectorAll(selector), (one) => one.getBoundingClientRect());
const under = rects('#legend > span, .zoom button'), boxes = rects('#tree .box');
const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
return [boxes.length, boxes.filter((box) => under.some((one) => meet(box, one))).length];
"""


@interpreted_only
@needs_browser
@pytest.mark.parametrize("n_classes", [2, 40])
def test_the_legend_covers_no_box_of_a_tree_that_is_shown_whole(browser, n_classes):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 4)), np.array([f"a class of a long name {k}" for k in np.arange(400) % n_classes])
    model = DecisionTreeClassifier(max_depth=4).fit(X, y)
    assert browser.open(export.html(model)) == []
    browser.one("#unfold-all").click()
    browser.one("#fit").click()
    browser.settle()
    assert browser.js(COVERED) == [model.n_nodes_, 0]
    for node in range(model.n_nodes_):  # what is asked for is brought there
        browser.js("const V = window.treePage.view; V.state.view.k = 1; V.select(arguments[0], true);", node)
        browser.settle()
        assert browser.js(COVERED.replace("#tree", f"#node-{node}")) == [1, 0]


@needs_browser
def test_trees_of_a_forest_are_picked(browser):
    model, X = made("forest")
    assert browser.open(export.html(model, X)) == []
    root = model.trees_.root
    browser.one("#tree-next").click()
    browser.settle()
    assert shown_nodes(browser)[0] == root[1]
    field = browser.one("#tree-picker")
    field.clear()
    field.send_keys("3\ue007")
    browser.settle()
    assert shown_nodes(browser)[0] == root[3]
    field.clear()
    field.send_keys("99\ue007")
    browser.settle()
    assert field.get_attribute("aria-invalid") == "true"
    assert shown_nodes(browser)[0] == root[3]


MEASURED = """
const V = window.treePage.view, boxes = [], wrong = [];
for (const i of V.state.ids.slice()) if (i % 5 || i === V.root()) V.toggle(i, true);
V.layOut(); V.state.view.k = 1; V.drawNow();
const seen = new Set();
const b = V.state.box;
for (let y = b.y - 50; y < b.y + b.height + 50; y += 500) for (let x = -50; x < b.width + 50; x += 700) {
  V.state.view.x = -x; V.state.view.y = -y; V.drawNow();
  for (const g of document.querySelectorAll("[data-node]")) {
    const i = Number(g.dataset.node), box = g.querySelector(".box").getBoundingClientRect();
    const own = V.svg.getBoundingClientRect();
    for (const text of g.querySelectorAll("text:not(.more)")) {
      const r = text.getBoundingClientRect();
      if (r.left < box.left || r.right > box.right + 0.5 || r.top < box.top || r.bottom > box.bottom + 0.5)
        wrong.push([i, text.textContent]);
    }
    const says = g.querySelector(".says"), rows = g.querySelector(".rows");
    if (says && rows && says.getBoundingClientRect().right > rows.getBoundingClientRect().left) wrong.push([i, "both"]);
    const more = g.querySelector(".more");
    if (more) {
      const r = more.getBoundingClientRect();
      for (const other of document.querySelectorAll(".box")) {
        const b = other.getBoundingClientRect();
        if (r.left < b.right && b.left < r.right && r.top < b.bottom && b.top < r.bottom)
          wrong.push([i, more.textContent]);
      }
    }
    if (seen.has(i)) continue;
    seen.add(i);
    boxes.push([i, box.left - own.left + x, box.top - own.top + y, box.right - own.left + x, box.bottom - own.top + y]);
  }
}
return { boxes, wrong, n: V.state.ids.length };
"""


@needs_browser
def test_random_trees_have_no_overlap_and_their_text_is_in_its_boxes(browser):
    model, names = many_trees(150)
    assert browser.open(export.html(model, feature_names=names)) == []
    assert browser.js("return window.treePage.model.c.root.length") == 151
    for t in range(150):
        found = browser.js("window.treePage.view.tree(arguments[0]);" + MEASURED, t)
        assert found["wrong"] == [], t
        assert len(found["boxes"]) == found["n"]
        assert overlaps(np.array(found["boxes"])[:, 1:]) == 0, t
    assert browser.console() == []


@needs_browser
@pytest.mark.parametrize("seed", range(12))
def test_no_box_overlaps_and_every_text_is_in_its_box(browser, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 250))
    X = rng.normal(size=(n, 4)).astype(object)
    X[:, 0] = [NASTY[k] for k in rng.integers(0, len(NASTY), n)]
    y = np.array([NASTY[k] for k in rng.integers(0, 4, n)], object)
    ways = {"categorical_split": "multiway" if seed % 2 else "subset", "max_depth": int(rng.integers(2, 9))}
    model = DecisionTreeClassifier(**ways).fit(X, y)
    assert browser.open(export.html(model, feature_names=["a", *NASTY[4:7]])) == []
    found = browser.js(MEASURED)
    assert found["wrong"] == []
    assert len(found["boxes"]) == found["n"]
    boxes = np.array(found["boxes"])[:, 1:]
    assert overlaps(boxes) == 0


@needs_browser
@pytest.mark.parametrize(("n_leaves", "seconds"), [(5_000, 1.0), (50_000, 3.0)])
def test_large_trees_open_fold_and_are_searched_quickly(browser, n_leaves, seconds):
    page = export.html(large_tree(n_leaves, 5))
    took = []
    for _ in range(3):  # of a machine that others use as well, the best
        start = time.perf_counter()
        assert browser.open(page) == []
        browser.settle()
        took.append(time.perf_counter() - start)
        if took[-1] <= seconds:
            break
    assert min(took) <= seconds
    timed = "const start = performance.now(); {} window.treePage.view.drawNow(); return performance.now() - start;"
    folding = [browser.js(timed.format("window.treePage.view.toggle(0);")) for _ in range(5)]
    assert min(folding) <= 1000 * seconds
    assert browser.js(timed.format("window.treePage.view.unfoldAll();")) <= 1000 * seconds
    search = (
        "const field = document.getElementById('search'); field.value = '{}';field.dispatchEvent(new Event('input')); "
    )
    searching = [browser.js(timed.format(search.format(text))) for text in ("x1", "x2", "3")]
    assert min(searching) <= 200 * n_leaves / 5000
    assert browser.console() == []


@interpreted_only
@needs_browser
def test_a_compact_model_says_what_is_missing(browser):
    X = np.arange(40.0)[:, None]
    model = DecisionTreeRegressor().fit(X, np.sin(X[:, 0])).compact()
    page = export.html(model)
    assert browser.open(page) == []
    browser.one("#about-tab").click()
    assert "compact() has dropped" in browser.one("#about-part").text
    assert browser.find(".rows")[0].text == ""


@needs_browser
def test_a_level_more_is_read_where_all_of_it_would_be_empty_boxes(browser):
    X = np.arange(512.0)[:, None]
    model = DecisionTreeRegressor(max_depth=6).fit(X, X[:, 0])  # 127 nodes
    assert browser.open(export.html(model)) == []
    for _ in range(4):
        browser.one("#unfold-level").click()
        browser.settle()
        assert browser.find("#tree .way")
    browser.one("#fit").click()
    browser.settle()
    assert browser.find("#tree .way") == []
