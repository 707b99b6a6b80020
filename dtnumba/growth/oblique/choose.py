# mypy: ignore-errors
"""Which search a fit takes, and the splitter of sums around the one of single columns."""

import numpy as np

from dtnumba.growth.oblique.binned.search import binned_sums
from dtnumba.growth.oblique.node_columns import UNIT_RANGE, UNIT_SPREAD, UNIT_WIDEST
from dtnumba.growth.oblique.searches.cart_lc import CartLC
from dtnumba.growth.oblique.searches.discriminant import Discriminant
from dtnumba.growth.oblique.searches.oc1 import OC1
from dtnumba.growth.oblique.searches.responses import ClassResponses, responses_of
from dtnumba.growth.oblique.searches.soft_entropy import SoftEntropy
from dtnumba.growth.oblique.searches.soft_loss import ClassLoss, NumberLoss
from dtnumba.growth.oblique.searches.sparse_sums import MOST_DRAWN, RandomSums
from dtnumba.growth.oblique.splitter import ObliqueLevelSplitter, ObliqueSplitter
from dtnumba.growth.settings import UNLIMITED
from dtnumba.growth.splitters.histogram import DrawnHistogram, Histogram
from dtnumba.growth.targets.contract import is_ranked
from dtnumba.tables.cells import cells_of, values_of

MOST_COLUMNS = 100  # that a search looks at in a node: the best by themselves
_SCALINGS = {"min_max": UNIT_RANGE, "standard": UNIT_SPREAD, None: UNIT_WIDEST}
_ROUNDS = 20  # of CART's search
_MOST_BINS = 255  # of a sum: a code is a byte
_PAIR = 2  # columns of a drawn sum, if not said otherwise: 0.7 points better than three on average
_FEWEST_SUMS = 6  # that a node draws, if not said otherwise: as many as features, but not less
_ONE_BY_ONE = 8  # classes that are parted from the rest, beyond the leading direction


def _discriminant(responses, settings):
    penalty = 1.0 if settings.search == "ridge" else 0.0
    return Discriminant(responses, penalty, _ONE_BY_ONE)


def _soft(responses, settings):
    if isinstance(responses, ClassResponses):
        loss, first = ClassLoss(responses.n_classes), responses.first
    else:
        n_outputs = responses.said.shape[1]
        loss, first = NumberLoss(1 + n_outputs), np.arange(n_outputs + 1)
    return SoftEntropy(responses, loss, first, 0.0, settings.n_restarts)


def _oc1(responses, settings):
    return OC1(settings.n_restarts)


def _cart_lc(responses, settings):
    return CartLC(_ROUNDS)


_MAKERS = {
    "soft_entropy": _soft,
    "oc1": _oc1,
    "cart_lc": _cart_lc,
    "lda": _discriminant,
    "ridge": _discriminant,
}


def with_sums(splitter, table, outcome, weights, whole, target):
    """Return the splitter, or one around it that tests sums as well where two columns are numbers."""
    settings = whole.sums
    p, nominal = table.n_features, getattr(table, "nominal", None)
    is_number = np.ones(p, np.uint8) if nominal is None else (~np.asarray(nominal)).astype(np.uint8)
    most_terms = min(settings.most_terms, int(is_number.sum()), MOST_COLUMNS)
    if settings.search == "random":
        most_terms = min(most_terms, _PAIR if settings.most_terms == UNLIMITED else MOST_DRAWN)
    if most_terms < 2:
        return splitter
    numbers, n_sums = getattr(splitter, "inner", splitter), settings.n_projections or max(whole.n_drawn, _FEWEST_SUMS)
    if settings.search == "random" and isinstance(numbers, (Histogram, DrawnHistogram)) and not is_ranked(type(target)):
        search = binned_sums(n_sums, is_number, min(whole.max_bins, _MOST_BINS), numbers)
    elif settings.search == "random":
        search = RandomSums(n_sums)
    else:
        search = _MAKERS[settings.search](responses_of(outcome, weights), settings)
    left = np.array([0, 1], np.uint8)
    own = p, MOST_COLUMNS, most_terms, float(settings.axis_bias), _SCALINGS[settings.scaling], table.n_rows, left
    codes = getattr(splitter, "codes", np.zeros((0, 0), np.uint8))
    kind = ObliqueLevelSplitter if hasattr(splitter, "note_levels") else ObliqueSplitter
    return kind(splitter, dense_cells(table), search, is_number, *own, codes)


def dense_cells(table):
    """Return the cells of a table, written out where it is sparse."""
    if table.cells is not None:
        return table.cells
    whole = np.empty((table.n_rows, table.n_features), table.dtype)
    for first, cells in table.row_blocks():
        whole[first : first + cells.n_rows] = values_of(cells)
    return cells_of(whole)
