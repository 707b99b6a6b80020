"""Figures are drawn without a screen, and none stays open."""

import pytest


@pytest.fixture(autouse=True)
def _without_a_screen():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    yield
    plt.close("all")
