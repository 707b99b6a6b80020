"""Which columns of a table are categories, and what their levels are: in ``fit``, in ``predict`` and over batches.

All three answer the same two questions about column j: whether it is read as categories, and as which numbers.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from dtnumba.tables.category_codes import (
    MetValues,
    changed,
    encode,
    learn,
    mixed,
    shown,
)
from dtnumba.tables.columns import CATEGORY, NUMBER, SPELLED_NUMBER, ArrayColumn, Column, refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dtnumba.tables.category_codes import CodedColumn


FROM_DTYPE = "from_dtype"
_SAY_DTYPE = f"pass categorical_features={FROM_DTYPE!r}"


def is_choice(wanted: Any) -> bool:
    """Tell whether ``categorical_features`` may be this, whatever the table."""
    if wanted is None or isinstance(wanted, str):
        return wanted in {None, FROM_DTYPE}
    listed = wanted.tolist() if hasattr(wanted, "tolist") else wanted
    if not isinstance(listed, (list, tuple, set, range)):
        return False
    is_mask = [isinstance(one, (bool, np.bool_)) for one in listed]
    return all(is_mask) or (not any(is_mask) and all(isinstance(one, (str, int, np.integer)) for one in listed))


CATEGORICAL_FEATURES_ARE = (
    f"{FROM_DTYPE!r}, a list of names or indices of columns, a mask with a bool for each column or None"
)


class Categories(Protocol):
    """Questions of the gate to whoever knows the categories."""

    @property
    def levels(self) -> tuple[NDArray[Any] | None, ...] | None:
        """The levels of each column, None of one of numbers; None where all are."""

    @property
    def nominal(self) -> NDArray[np.bool_] | None:
        """Which columns have levels without an order; None where none has."""

    def begin(self, n_features: int, names: NDArray[np.object_] | None) -> None:
        """Look at the extent of a table, before its columns."""

    def reads_all(self, array: NDArray[Any]) -> bool:
        """Tell whether an array of numbers is read as it is."""

    def takes(self, j: int, column: Column) -> bool:
        """Tell whether a column is read as categories; an error of one that is neither that nor numbers."""

    def numbers(self, j: int, column: Column) -> NDArray[Any]:
        """Return the level of each row of a column of categories, NaN where it is missing."""


class Choice:
    """Columns that ``categorical_features`` names in one table.

    Parameters
    ----------
    wanted : "from_dtype", list of names or indices, boolean mask or None
        The parameter.
    caller : str
        Name of the estimator, for messages.

    """

    def __init__(self, wanted: Any, caller: str) -> None:
        self.wanted = wanted
        self._caller = caller
        self._listed: NDArray[np.bool_] | None = None

    def reads_all(self, array: NDArray[Any]) -> bool:
        """Tell whether an array of numbers is read as it is."""
        return self._listed is None or not self._listed.any()

    def begin(self, n_features: int, names: NDArray[np.object_] | None) -> None:
        """Find the listed columns in a table."""
        if not (isinstance(self.wanted, str) and self.wanted == FROM_DTYPE):
            listed = [] if self.wanted is None else self.wanted
            self._listed = listed_columns(listed, n_features, names, self._caller)

    def is_listed(self, j: int) -> bool:
        """Tell whether a list names a column."""
        return self._listed is not None and bool(self._listed[j])

    def takes(self, j: int, column: Column) -> bool:
        """Tell whether a column is categories; an error of one that is neither that nor numbers."""
        if self._listed is None:
            if column.kind == SPELLED_NUMBER:
                raise refusal(column, "list it in categorical_features, or pass an object array")
            return column.kind == CATEGORY
        if not self._listed[j] and column.kind in {CATEGORY, SPELLED_NUMBER}:
            raise refusal(column, _SAY_DTYPE if self.wanted is None else "list it in categorical_features, too,")
        return bool(self._listed[j])


def listed_columns(
    wanted: Any,
    n_features: int,
    names: NDArray[np.object_] | None,
    caller: str,
    parameter: str = "categorical_features",
) -> NDArray[np.bool_]:
    """Return a mask of the columns that a list of names or indices, or a mask, stands for."""
    given = [one.item() if isinstance(one, np.generic) else one for one in wanted]
    said = f"{parameter}={shown(wanted)}: {caller}"
    mask = np.zeros(n_features, bool)
    if given and all(isinstance(one, bool) for one in given):
        if len(given) != n_features:
            raise ValueError(f"{said} has {n_features} columns, and the mask {len(given)} entries: pass one for each")
        return np.array(given)
    for one in given:
        if isinstance(one, str):
            if names is None:
                raise ValueError(f"{said} cannot find {one!r}, because X has no column names: pass indices, or a frame")
            at = np.flatnonzero(names == one)
            if not len(at):
                raise ValueError(f"{said} has no column {one!r}; there are {', '.join(map(repr, names[:20]))}")
            mask[at] = True
        elif not 0 <= one < n_features:
            raise ValueError(f"{said} has no column {one}: indices go from 0 to {n_features - 1}")
        else:
            mask[one] = True
    return mask


def check_same_levels(fitted: Sequence[NDArray[Any] | None] | None, table: Any) -> None:
    """Raise ValueError where a table has other levels than the one that trees were grown on."""
    n = table.n_features
    for j, (before, now) in enumerate(zip(fitted or [None] * n, table.levels or [None] * n, strict=True)):
        is_same = before is now if before is None or now is None else before.tolist() == now.tolist()
        if not is_same:
            name = j if table.names is None else table.names[j]
            one, other = ("numbers" if known is None else f"the categories {shown(known)}" for known in (before, now))
            raise ValueError(
                f"warm_start=True: column {name!r} had {one}, and now it has {other}; give both fits the same levels "
                "(a dtype does not do: only those that occur count), or set warm_start=False"
            )


class LearnedLevels(Choice):
    """In ``fit``: the levels are those that occur; or all that a dtype declares, as those of R's factors.

    Parameters
    ----------
    wanted : "from_dtype", list of names or indices, boolean mask or None
        The parameter ``categorical_features``.
    caller : str
        Name of the estimator, for messages.
    declared : bool
        Whether levels that a dtype declares are levels where no row has them, too.

    """

    def __init__(self, wanted: Any, caller: str, *, declared: bool = False) -> None:
        super().__init__(wanted, caller)
        self._declared = declared

    def begin(self, n_features: int, names: NDArray[np.object_] | None) -> None:
        """Find the listed columns in a table."""
        super().begin(n_features, names)
        self._levels: list[NDArray[Any] | None] = [None] * n_features
        self._nominal = np.zeros(n_features, bool)

    def numbers(self, j: int, column: Column) -> NDArray[Any]:
        """Return the level of each row."""
        coded = column.coded()
        self._levels[j], floats = learn(coded, column.name, declared=self._declared)
        self._nominal[j] = self.is_listed(j) or not coded.is_ordered
        return floats

    @property
    def levels(self) -> tuple[NDArray[Any] | None, ...] | None:
        """The levels of each column, None of one of numbers; None where all are."""
        return None if all(levels is None for levels in self._levels) else tuple(self._levels)

    @property
    def nominal(self) -> NDArray[np.bool_] | None:
        """Which columns have levels without an order; None where none has."""
        return self._nominal if self._nominal.any() else None


class KnownLevels:
    """In ``predict``: the levels are those of ``fit``, and any other is missing.

    Parameters
    ----------
    levels : sequence of array or None
        Of each column; None of one of numbers.
    unseen : str, optional
        What to say of a value that is not among them, where that is an error.

    """

    nominal = None

    def __init__(self, levels: Sequence[NDArray[Any] | None] | None, unseen: str = "") -> None:
        self.levels = None if levels is None else tuple(levels)
        self._unseen = unseen

    def reads_all(self, array: NDArray[Any]) -> bool:
        """Tell whether an array of numbers is read as it is."""
        return self.levels is None

    def begin(self, n_features: int, names: NDArray[np.object_] | None) -> None:
        """Need nothing: ``read_table`` has compared the number and the names of the columns, or will."""

    def takes(self, j: int, column: Column) -> bool:
        """Tell whether a column was categories in ``fit``; an error of one that is and was not, if it has values."""
        if self.levels is not None and j < len(self.levels) and self.levels[j] is not None:
            return True
        if column.kind in {CATEGORY, SPELLED_NUMBER}:
            value = column.first()
            if value is not None:
                raise changed(column.name, value, "in fit the column held numbers")
        return False

    def numbers(self, j: int, column: Column) -> NDArray[Any]:
        """Return the level of each row, NaN where it is missing or unseen."""
        assert self.levels is not None
        levels = self.levels[j]
        assert levels is not None
        floats, others = encode(column.coded(), levels, column.name)
        if self._unseen and len(others):
            raise ValueError(f"column {column.name!r} holds {shown(others[0])}, {self._unseen}")
        return floats


class GatheredLevels(Choice):
    """Over batches: each value gets a number when it is first met, and ``finish`` says which level it is in the end."""

    levels = None
    nominal = None

    def __init__(self, wanted: Any, caller: str) -> None:
        super().__init__(wanted, caller)
        self._names: list[Any] = []
        self._met: list[MetValues | None] = []
        self._number: list[Any] = []  # one that a column held, which is no category then

    def begin(self, n_features: int, names: NDArray[np.object_] | None) -> None:
        """Find the listed columns in a batch."""
        super().begin(n_features, names)
        n_new = n_features - len(self._met)
        self._met += [None] * n_new
        self._number += [None] * n_new
        self._names += list(range(len(self._names), n_features))

    def reads_all(self, array: NDArray[Any]) -> bool:
        """Tell whether an array of numbers is read as it is."""
        if not super().reads_all(array) or any(met is not None for met in self._met):
            return False
        for j in range(array.shape[1]):
            if self._number[j] is None:
                self._number[j] = ArrayColumn(array[:, j], j).first()
        return True

    def takes(self, j: int, column: Column) -> bool:
        """Tell whether a column is categories; an error of one that was numbers in an earlier batch."""
        self._names[j] = column.name
        if self._met[j] is not None:
            return True
        if not super().takes(j, column):
            if self._number[j] is None and column.kind == NUMBER:
                self._number[j] = column.first()
            return False
        if self._number[j] is not None:
            value = column.first()
            if value is not None:
                raise mixed(column.name, self._number[j], value)
            return False
        self._met[j] = MetValues()
        return True

    def numbers(self, j: int, column: Column) -> NDArray[Any]:
        """Return the number of each row's value."""
        met = self._met[j]
        assert met is not None
        return met.see(column.coded(), column.name)

    def copied(self) -> GatheredLevels:
        """Return the same, to meet others without this one."""
        other, met = copy.copy(self), [None if one is None else one.copied() for one in self._met]
        vars(other).update(_names=list(self._names), _number=list(self._number), _met=met)
        return other

    @property
    def has_categories(self) -> bool:
        """Whether a column is one."""
        return any(met is not None for met in self._met)

    def stored(self) -> list[dict[str, Any]]:
        """Return what was met of each column, of which ``restore`` makes the same."""
        return [
            {"number": number} if met is None else met.stored()
            for met, number in zip(self._met, self._number, strict=True)
        ]

    def restore(self, stored: list[dict[str, Any]]) -> None:
        """Have met what was stored."""
        self._names = list(range(len(stored)))
        self._number = [one.get("number") for one in stored]
        self._met = [None if "number" in one else MetValues.of_stored(one) for one in stored]

    def join(self, shown: Sequence[tuple[Any, CodedColumn | None, Any]]) -> None:
        """Take in a batch that somebody else has seen: of each column its name, its categories or None, a number."""
        for j, (name, coded, number) in enumerate(shown):
            self._names[j] = name
            met, known = self._met[j], self._number[j]
            if coded is not None:
                if known is not None and len(coded.codes):
                    raise mixed(name, known, coded.values[coded.codes[0]])
                met = self._met[j] = met or MetValues()
                met.see(coded, name)
            elif number is not None and met is not None and met.number:
                raise mixed(name, next(iter(met.number)), number)
            elif known is None:
                self._number[j] = number

    def finish(self) -> Gathered:
        """Return the levels of all batches."""
        if all(met is None for met in self._met):
            return NO_CATEGORIES
        found = [None if met is None else met.levels(self._names[j]) for j, met in enumerate(self._met)]
        nominal = np.array([
            met is not None and (self.is_listed(j) or not met.is_ordered) for j, met in enumerate(self._met)
        ])  # fmt: skip
        return Gathered(
            tuple(None if one is None else one[0] for one in found),
            nominal if nominal.any() else None,
            [None if one is None else one[1] for one in found],
        )


class Gathered(NamedTuple):
    """The levels of all batches."""

    levels: tuple[NDArray[Any] | None, ...] | None
    nominal: NDArray[np.bool_] | None
    places: list[NDArray[np.float64] | None]  # of each column, which level each number of ``GatheredLevels`` is


NO_CATEGORIES = Gathered(None, None, [])
