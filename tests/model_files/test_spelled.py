"""Values by one exact text each: what is written comes back as it was, and hostile text is refused."""

import datetime as dt
import uuid
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtnumba.model_files.spelled import KINDS, kind_of, read, spell

ZONES = st.sampled_from([None, dt.timezone.utc, dt.timezone(dt.timedelta(minutes=-90)), ZoneInfo("Europe/Berlin")])
MOMENTS = st.integers(-(2**63) + 1, 2**63 - 1)
VALUES = st.one_of(
    st.dates(),
    st.datetimes(timezones=ZONES, allow_imaginary=True),
    st.times(timezones=st.sampled_from([None, dt.timezone.utc, dt.timezone(dt.timedelta(seconds=3723))])),
    st.timedeltas(),
    st.decimals(allow_nan=False),
    st.sampled_from([Decimal("NaN"), Decimal("-NaN12")]),
    st.fractions(),
    st.uuids(),
    st.builds(np.datetime64, MOMENTS, st.sampled_from(["D", "ns", "s", "Y", "25us"])),
    st.builds(np.timedelta64, MOMENTS, st.sampled_from(["D", "ns", "generic"])),
)


@given(VALUES)
def test_a_value_comes_back_as_it_was(value):
    kind = kind_of(value)
    assert kind == type(value).__name__
    text = spell(value)
    again = read(kind, text)
    assert type(again) is type(value)
    assert repr(again) == repr(value)
    assert again == value or value.is_nan()


def test_values_of_pandas_come_back():
    pd = pytest.importorskip("pandas")
    for value in (
        pd.Timestamp("2020-02-03 04:05:06.000000007"),
        pd.Timestamp(2020, 1, 1, tz="UTC"),
        pd.Timestamp("2020-10-25 01:30", tz="UTC").tz_convert("Europe/Berlin"),
        pd.Timestamp("2020-07-01", tz="Europe/Berlin"),
        pd.Timestamp("2020-07-01T00:00:00-01:30"),
        pd.Timestamp("2020-07-01").as_unit("s"),
        pd.Timedelta(-1, "ns"),
        pd.Period("2020-02", "M"),
        pd.Period("2020", "Y-MAR"),
    ):
        again = read(kind_of(value), spell(value))
        assert type(again) is type(value)
        assert repr(again) == repr(value)
        assert again == value


def test_the_texts_are_those_of_format_1():
    told = {
        "2026-11-20": dt.date(2026, 11, 20),
        "2026-11-20T08:30:00": dt.datetime(2026, 11, 20, 8, 30),  # noqa: DTZ001  of no zone
        "2026-11-20T08:30:00.000007 UTC+02:00": dt.datetime(
            2026, 11, 20, 8, 30, 0, 7, tzinfo=dt.timezone(dt.timedelta(hours=2))
        ),
        "2026-10-25T02:30:00 Europe/Berlin (fold)": dt.datetime(
            2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1
        ),
        "08:30:00 UTC": dt.time(8, 30, tzinfo=dt.timezone.utc),
        "-1 86399 0": dt.timedelta(seconds=-1),
        "1.10": Decimal("1.10"),
        "2/3": Fraction(2, 3),
        "00000000-0000-0000-0000-000000000001": uuid.UUID(int=1),
        "18262 M8[D]": np.datetime64("2020-01-01"),
        "3 m8[25us]": np.timedelta64(3, (np.str_("us"), 25)),
    }
    for text, value in told.items():
        assert spell(value) == text
        assert repr(read(kind_of(value), text)) == repr(value)


def test_what_no_text_gives_back_has_none():
    class Day(dt.date):
        pass

    assert [kind_of(one) for one in (Day(2020, 1, 1), "text", 1.5, None, np.float32(1), (1, 2))] == [""] * 6
    named = dt.datetime(2020, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=1), "CET"))
    assert spell(named) is None
    assert spell(Decimal("1" * 5000)) is None
    assert spell(Fraction(1, 10**4001)) is None


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("date", "2020-02-30"),
        ("date", "2020-2-3"),
        ("datetime", "2020-01-01T00:00:00 No/Where"),
        ("datetime", "2020-01-01T00:00:00 ../../etc/passwd"),
        ("datetime", "2020-01-01T00:00:00 Europe"),
        ("datetime", "2020-01-01T00:00:00 UTC+25:00"),
        ("time", "25:00:00"),
        ("timedelta", "999999999 99999 999999999"),
        ("timedelta", "999999999 99999 999999"),
        ("Decimal", "1e5"),
        ("Decimal", "1E+99999999999999999999"),
        ("Fraction", "1/0"),
        ("Fraction", "9" * 5000),
        ("UUID", "-" * 36),
        ("datetime64", f"{2**63} M8[s]"),
        ("datetime64", "1 M8[0s]"),
        ("datetime64", "1 m8[s]"),
        ("timedelta64", "1 m8[999999999999s]"),
        ("datetime64", "\u0661 M8[s]"),
    ],
)
def test_text_that_spells_nothing_is_refused(kind, text):
    with pytest.raises(ValueError, match="spells no"):
        read(kind, text)


@given(st.sampled_from(sorted(KINDS)), st.text(st.sampled_from("0123456789-+:./TE M8m[snsD]UTCaB"), max_size=30))
def test_no_text_does_anything_else(kind, text):
    try:
        value = read(kind, text)
    except ValueError:
        return
    assert type(value).__name__ == kind


def test_one_value_of_each_kind_is_tried():
    tried = {"date", "datetime", "time", "timedelta", "Decimal", "Fraction", "UUID", "datetime64", "timedelta64"}
    assert set(KINDS) == tried | {"Timestamp", "Timedelta", "Period"}
    assert kind_of(uuid.UUID(int=1)) == "UUID"
