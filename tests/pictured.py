"""Models that are hard to show, and what the tests of pages and pictures share."""

import chromium
import numpy as np
import pytest
from exported import ALL_KINDS

from dtnumba import DecisionTreeClassifier, RandomForestClassifier

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
