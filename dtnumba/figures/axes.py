"""Axes to draw in, and text that is drawn as it is: never as mathematics, cut short where it is long."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dtnumba.export.pictures.words import clean
from dtnumba.figures.colours import DARK, LIGHT

if TYPE_CHECKING:
    from collections.abc import Sequence

_ISOLATES = {0x2068: None, 0x2069: None}
_ORDERS_SIGNS = (3, 11)  # the matplotlib that orders signs of both directions; earlier ones draw isolates as boxes
POINTS_PER_INCH = 72.0
LONGEST_NAME, LONGEST_LEVEL = 28, 20
_SIGNS_PER_INCH = 13.0
_MOST_IN_FULL = 10  # entries of a legend; more are written small, so that 20 stand in axes of the usual height
_UNREADABLE = 2.0  # points of text


def axes_for(ax: Any, what: str, size: tuple[float, float] | None = None, *, fill: bool = False) -> Any:
    """Return the axes to draw in: those given, or new ones of a figure of so many inches.

    Parameters
    ----------
    ax : matplotlib axes or None
        As the caller passed it.
    what : str
        Who draws, for errors.
    size : (float, float), optional
        Inches of a new figure.
    fill : bool
        Whether new axes take the whole figure.

    """
    check_axes(ax, what)
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=size)
    return figure.add_axes((0.0, 0.0, 1.0, 1.0)) if fill else figure.subplots()


def check_axes(ax: Any, what: str) -> None:
    """Say what to do where matplotlib is missing, or what was passed is no axes."""
    try:
        from matplotlib.axes import Axes
    except ImportError as error:
        raise ImportError(
            f"{what} draws with matplotlib, which is not installed: pip install 'dtnumba[plot]'"
        ) from error
    if ax is not None and not isinstance(ax, Axes):
        raise TypeError(
            f"{what}: ax={type(ax).__name__} is no axes of matplotlib; pass one of plt.subplots(), or leave it out"
        )


def ink(behind: Any) -> str:
    """Return the colour of lines and words that are read on axes or a figure, light or dark as these are."""
    from matplotlib import rcParams
    from matplotlib.colors import to_rgba

    *own, alpha = to_rgba(behind.get_facecolor())
    is_dark = _is_light(to_rgba(rcParams["text.color"])) if alpha < 0.5 else not _is_light(own)
    return LIGHT if is_dark else DARK


def _is_light(colour: Sequence[float]) -> bool:
    return 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2] > 0.5


def plain(text: Any) -> str:
    """Return a name as one line that fonts can draw."""
    return clean(text)


def sentence(text: str) -> str:
    """Return clean names and words between as a line that reads from the left, whatever directions its names have."""
    return text if _orders_signs() else text.translate(_ISOLATES)


@lru_cache(1)
def _orders_signs() -> bool:
    from matplotlib import __version_info__

    return bool(tuple(__version_info__[:2]) >= _ORDERS_SIGNS)


def short(value: Any, most: int) -> str:
    """Return a name in at most so many signs: its beginning and its end where it is longer."""
    text = str(value) if not isinstance(value, bytes) else repr(value)
    if len(text) <= most:
        return plain(text)
    tail = most // 3
    return plain(f"{text[: most - tail - 1]}…{text[len(text) - tail :]}")


def label_axes(ax: Any, x: str = "", y: str = "", title: str = "") -> None:
    """Write what the axes are."""
    ax.set_xlabel(x, parse_math=False, usetex=False)
    ax.set_ylabel(y, parse_math=False, usetex=False)
    if title:
        ax.set_title(title, parse_math=False, usetex=False)


def name_ticks(axis: Any, places: Sequence[float], names: Sequence[str]) -> None:
    """Write names at places of an axis, tilted where they would run into each other."""
    axis.set_ticks(list(places), labels=list(names))
    room = axis.axes.get_window_extent().width / axis.axes.figure.dpi * _SIGNS_PER_INCH
    is_tilted = axis.axis_name == "x" and max(map(len, names), default=0) * len(names) > room
    for text in axis.get_ticklabels():
        text.set_parse_math(False)
        if is_tilted:
            text.set(rotation=35, ha="right", rotation_mode="anchor")


def take_room(ax: Any, axes: Any) -> None:
    """Leave room for what is written around axes of a figure of its own."""
    if ax is None:
        axes.figure.set_layout_engine("tight")


def name_handles(ax: Any, handles: Sequence[Any], names: Sequence[str], title: str = "") -> None:
    """Add a legend; names that begin with "_" are shown, too."""
    many = {"fontsize": "x-small", "labelspacing": 0.2} if len(handles) > _MOST_IN_FULL else {}
    legend = ax.legend(list(handles), [str(k) for k in range(len(handles))], title=title or None, **many)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_text(name)
        text.set_parse_math(False)
    legend.get_title().set_parse_math(False)


@lru_cache(1)
def scaled_text() -> Any:
    """Return a class of text whose size is a number of units of the data; it is left out where it would be a smear."""
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

    def fit(text: Any, renderer: Any) -> bool:
        (_, low), (_, high) = text.axes.transData.transform([(0.0, 0.0), (0.0, 1.0)])
        pixels = abs(high - low)
        points = text.units * pixels * POINTS_PER_INCH / text.figure.dpi
        if points < _UNREADABLE:
            return False
        if text.fitted_to != (pixels, text.figure.dpi):
            text.fitted_to = (pixels, text.figure.dpi)
            most, power = text.wide * pixels + 1.0, 1
            text.set_fontsize(points)
            # Steps between letters are rounded to pixels: a long line may be too wide, and not yield to a little less
            while (wide := Text.get_window_extent(text, renderer).width) > most and points >= _UNREADABLE:
                points *= (most / wide) ** power
                power *= 2
                text.set_fontsize(points)
        return bool(text.get_fontsize() >= _UNREADABLE)

    def draw(self: Any, renderer: Any) -> None:
        if fit(self, renderer):
            Text.draw(self, renderer)

    def get_window_extent(self: Any, renderer: Any = None, dpi: Any = None) -> Any:
        return Text.get_window_extent(self, renderer, dpi) if fit(self, renderer) else Bbox.null()

    own = {"units": 9.0, "wide": 0.0, "fitted_to": None, "draw": draw, "get_window_extent": get_window_extent}
    return type("ScaledText", (Text,), own)


def text_width(text: str, units: float, *, bold: bool = False) -> float:
    """Return how wide a line of text is in the units of its size."""
    from matplotlib.textpath import text_to_path

    width, _, _ = text_to_path.get_text_width_height_descent(text, _font(units, bold=bold), ismath=False)
    return float(width)


@lru_cache(8)
def _font(units: float, *, bold: bool) -> Any:
    from matplotlib.font_manager import FontProperties

    return FontProperties(size=units, weight="bold" if bold else "normal")
