"""Tests on sums over several columns: what a format does not say is refused, and never written wrongly."""

import pytest
from exported import SUMS, made
from strategies import interpreted_only

from dtnumba import export

FORMATS = ("text", "json", "python", "c", "sql", "onnx", "treelite")


@interpreted_only
@pytest.mark.parametrize("name", sorted(SUMS))
@pytest.mark.parametrize("written", FORMATS)
def test_a_format_that_knows_no_sums_says_so(name, written):
    model, _ = made(name)
    with pytest.raises(export.ExportError, match=r"sum|several columns"):
        getattr(export, written)(model)


@interpreted_only
def test_rules_test_one_column_at_a_time():
    model, _ = made("sums")
    with pytest.raises(ValueError, match="tests of sums over several"):
        export.rules(model)
