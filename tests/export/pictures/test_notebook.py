"""A model in a notebook: every learner, fitted and not, small, well-formed, and text as names are."""

from html.parser import HTMLParser

import chromium
import numpy as np
import pytest
from exported import ALL_KINDS, KINDS, made
from pictured import NASTY, RULES, nasty_model, needs_browser
from strategies import compiled_where, interpreted_only

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestClassifier

TAGS = {"style", "div", "strong", "span", "details", "summary", "dl", "dt", "dd", "bdi", "b", "ol", "li"}


class Reader(HTMLParser):
    """Checks that every tag is closed in its turn."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.text, self.attributes = [], set(), [], set()

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] != ["style"]:
            self.text.append(data)


def read(markup):
    reader = Reader()
    reader.feed(markup)
    reader.close()
    assert reader.open == []
    assert reader.seen <= TAGS
    assert reader.attributes <= {"class", "open", "dir"}
    return "".join(reader.text)


@pytest.mark.parametrize("name", ALL_KINDS)
def test_every_model_is_shown(name):
    model, _ = made(name)
    markup = model._repr_html_()
    said = read(markup)
    assert type(model).__name__ in said
    assert len(markup) < 60_000
    assert ("otherwise" if name in RULES else "all rows") in said
    assert all(field in said for field in model.get_params())


@pytest.mark.parametrize("name", ALL_KINDS)
def test_so_is_one_that_is_not_fitted(name):
    model = type(KINDS[name][0])()
    assert "not fitted" in read(model._repr_html_())


def test_a_bundle_holds_what_is_asked_for():
    model = DecisionTreeClassifier(max_depth=3)
    assert model._repr_mimebundle_() == {"text/plain": repr(model), "text/html": model._repr_html_()}
    assert set(model._repr_mimebundle_(include={"text/plain"})) == {"text/plain"}
    assert set(model._repr_mimebundle_(exclude={"text/html"})) == {"text/plain"}
    assert model._repr_mimebundle_(include={"image/png"}) == {}


def test_parameters_that_were_set_stand_out():
    said = DecisionTreeClassifier(max_depth=3, class_weight={NASTY[0]: 2.0})._repr_html_()
    assert '<dt class="changed">max_depth</dt><dd class="changed"><bdi>3</bdi></dd>' in said
    assert "<dt>max_leaf_nodes</dt>" in said
    assert "2 set" in said
    read(said)


@pytest.mark.parametrize("forest", compiled_where([False, True], [False]))
def test_names_are_text(forest):
    model, _, _ = nasty_model(forest)
    said = read(model._repr_html_())
    assert "<script>" in said
    assert "\u202e" not in said
    assert not any("\ud800" <= sign <= "\udfff" for sign in said)


@interpreted_only
def test_a_tree_is_cut_where_it_is_wide():
    X = np.array([[f"level {k}"] for k in range(500)], object)
    model = DecisionTreeRegressor(categorical_split="multiway").fit(X, np.arange(500.0))
    markup = model._repr_html_()
    assert "+ 500 nodes below" in read(markup)
    assert len(markup) < 20_000


@interpreted_only
def test_a_compact_model_is_shown():
    X = np.arange(40.0)[:, None]
    for model in (DecisionTreeRegressor(), RandomForestClassifier(3, random_state=0)):
        read(model.fit(X, np.arange(40) % 3).compact()._repr_html_())


@needs_browser
def test_it_unfolds_in_a_browser(tmp_path):
    model, _ = made("tree")
    browser = chromium.Browser(tmp_path)
    try:
        assert browser.open(f"<!DOCTYPE html><link rel=icon href='data:,'>{model._repr_html_()}") == []
        tree = browser.find(".dtnumba > details")[1]
        node = browser.find(".dtnumba > details details, .dtnumba > details .leaf")[0]
        assert not node.is_displayed()
        tree.click()
        assert node.is_displayed()
    finally:
        browser.close()
