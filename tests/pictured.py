"""Models that are hard to show, and what the tests of pages and pictures share."""

import chromium
import numpy as np
import pytest
from exported import ALL_KINDS

from dtnumba import DecisionTreeClassifier, RandomForestClassifier
from dtnumba.prediction.tree_view import TreeView
from dtnumba.trees.layout import depths, joined

needs_browser = pytest.mark.skipif(bool(chromium.why_absent()), reason=chromium.why_absent() or "there is one")
RULES = {"rules", "rules, votes", "decision list"}
NASTY = [
    "</script><script>window.broken = 1</script>",
    "<img src=x onerror='window.broken = 2'>",
    '"\' onmouseover="window.broken = 3" x=\'',
    "two\nlines\r\nand a\ttab \u2028 \u2029",
    "\u05e2\u05d1\u05e8\u05d9\u05ea \u202e turned \u0627\u0644\u0639\u0631\u0628\u064a\u0629",
    "very long " * 60,
    "&lt;b&gt; @TITLE@ @DATA@ {} %s \\",
    "\ud800 alone",
]


def name_of(kind):
    return kind if isinstance(kind, str) else kind.values[0]


def kinds(*names):
    """Return some kinds of models, with the marks that say where they are shown."""
    return [own for own in ALL_KINDS if name_of(own) in names]


TREES = [own for own in ALL_KINDS if name_of(own) not in RULES]


def nasty_model(forest=False):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, len(NASTY))).astype(object)
    X[:, 0] = [NASTY[k] for k in rng.integers(0, len(NASTY), 200)]
    y = np.array([NASTY[k] for k in (X[:, 1] > 0) * 3 + (X[:, 2] > 0.5) + 2 * (X[:, 0] == NASTY[2])], object)
    kind = RandomForestClassifier(3, random_state=0) if forest else DecisionTreeClassifier()
    model = kind.fit(X, y)
    return model, X, y


def overlaps(boxes):
    left, top, right, bottom = boxes.T
    across = (left[:, None] < right - 0.01) & (left < right[:, None] - 0.01)
    along = (top[:, None] < bottom - 0.01) & (top < bottom[:, None] - 0.01)
    return int((across & along).sum() - len(boxes))


def random_trees(rng, like, n_leaves, n_features):
    """Return a tree of random tests and so many leaves, of the classes of other trees."""
    m, n_classes = 2 * n_leaves - 1, like.value.shape[1]
    feature, left, parent = np.full(m, -1, np.int32), np.full(m, -1, np.int32), np.full(m, -1)
    leaves = [0]
    for child in range(1, m, 2):
        k = int(rng.integers(len(leaves)))
        node = leaves[k]
        leaves[k] = leaves[-1]
        leaves.pop()
        feature[node], left[node], parent[child : child + 2] = rng.integers(n_features), child, node
        leaves += [child, child + 1]
    inner = feature >= 0
    counts = rng.integers(0, 3, (m, n_classes)) * ~inner[:, None]
    counts[~inner, rng.integers(0, n_classes, n_leaves)] += 1
    for node in range(m - 1, 0, -1):
        counts[parent[node]] += counts[node]
    n = counts.sum(axis=1)
    return like._replace(
        root=np.array([0, m]),
        feature=feature,
        threshold=np.where(inner, rng.normal(size=m) * 10.0 ** rng.integers(-6, 9, m), np.nan),
        left=left,
        right=np.where(inner, left + 1, -1).astype(np.int32),
        missing_left=rng.integers(0, 2, m).astype(np.uint8) * inner,
        value=counts / n[:, None],
        n_samples=n,
        weight=n.astype(float),
        impurity=rng.random(m),
        gain=rng.random(m) * inner,
    )


def large_tree(n_leaves, n_classes):
    """Return a model of a random tree of so many leaves, that no table has grown."""
    rng = np.random.default_rng(0)
    model = DecisionTreeClassifier(max_depth=1).fit(rng.normal(size=(40, 20)), np.arange(40) % n_classes)
    model.tree_ = TreeView(random_trees(rng, model.trees_, n_leaves, 20), 20, [n_classes])
    assert model.tree_.n_leaves == n_leaves
    return model


def many_trees(n_trees):
    """Return a model that holds many random trees of at most eight tests on a path, and nasty names of its columns."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 8)), np.array([NASTY[k] for k in np.arange(60) % 6], object)
    model = DecisionTreeClassifier(max_depth=1).fit(X, y)
    drawn = []
    while len(drawn) < n_trees:
        own = random_trees(rng, model.trees_, int(rng.integers(1, 40)), 8)
        if depths(own).max() <= 8:
            drawn.append(own)
    model.tree_ = TreeView(joined(drawn), 8, [6])
    return model, NASTY
