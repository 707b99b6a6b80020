import pytest

from dtnumba.runtime.cluster import VersionsDifferError, client_of, demand_version, versions

pytest.importorskip("distributed")


def test_without_a_client_the_error_shows_the_two_lines_that_start_one():
    lines = r"from dask\.distributed import Client\n    client = Client\(\)$"
    with pytest.raises(ValueError, match=lines):
        client_of()
    with pytest.raises(TypeError, match=lines):
        client_of("tcp://127.0.0.1:8786")


def test_other_versions_are_refused_with_both():
    demand_version(versions(), "This worker")
    other = versions() | {"numba": "0.1.2"}
    both = r"This worker runs dtnumba .*comes from dtnumba .* with Numba 0\.1\.2"
    with pytest.raises(VersionsDifferError, match=both):
        demand_version(other, "This worker")
