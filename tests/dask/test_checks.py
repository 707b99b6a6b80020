"""What is wrong with collections is said: what Dask knows before anything is read, the rest with the partition."""

import numpy as np
import pandas as pd
import pytest

import dtnumba.dask
from dtnumba.dask.checks import check_collections

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

X = da.ones((10, 2), chunks=5)
y = da.ones(10, chunks=5)


def unreadable():
    raise AssertionError("read")


def refused(match, *given, kind=ValueError):
    with pytest.raises(kind, match=match):
        check_collections(*given, "Forest")


def test_good_collections_pass():
    check_collections(X, y, None, "Forest")
    check_collections(X, np.ones(10), 2.0, "Forest")
    check_collections([dask.delayed(unreadable)()] * 2, [dask.delayed(unreadable)()] * 2, None, "Forest")
    frame = dd.from_pandas(pd.DataFrame({"a": range(10), "b": range(10)}), npartitions=2)
    check_collections(frame[["a"]], frame.b, frame.b, "Forest")
    check_collections(frame[["a"]].clear_divisions(), frame.b, y, "Forest")
    check_collections(X[X[:, 0] > 0], y[X[:, 0] > 0], None, "Forest")


def test_rows_beyond_what_ids_hold_are_refused_unread():
    block = dask.delayed(unreadable)()
    column = da.concatenate([da.from_delayed(block, (1 << 27, 1), float)] * 16)
    assert column.shape == (1 << 31, 1)
    refused(r"X has 2147483648 rows: at most 1073741823 have numbers", column, column[:, 0], None)


def test_lengths_that_differ_are_told():
    refused("y has 9 rows, and X has 10", X, y[:9], None)
    refused("y has 9 rows, and X has 10", X, np.ones(9), None)
    refused("sample_weight has 11 rows, and X has 10", X, y, da.ones(11))


def test_shapes_are_those_of_tables():
    refused("got a Dask Array of 1 dimensions", y, y, None)
    refused("got a Dask Array of 3 dimensions", da.ones((2, 2, 2)), y, None)
    refused(r"0 feature\(s\)", da.ones((10, 0)), y, None)
    refused("Complex data not supported", X.astype(complex), y, None)
    refused("y should be of one column, or a column an output", X, da.ones((10, 1, 1)), None)
    refused("sample_weight should be of one column; it is a Dask Array of 2", X, y, X)
    refused("the target y is None", X, None, None)


def test_frames_are_cut_alike_where_that_is_known():
    frame = pd.DataFrame({"a": np.arange(12.0), "b": np.arange(12.0)})
    two, three = (dd.from_pandas(frame, npartitions=n) for n in (2, 3))
    refused("y and X are cut at other values of the index: y at 0, 4, 8, 11, X at 0, 6, 11", two[["a"]], three.b, None)
    refused("Dask Series of 1 dimensions", two.a, two.b, None)
    refused("string names", two.rename(columns={"a": 3}), two.b, None, kind=TypeError)


def test_a_fit_without_a_client_shows_the_two_lines_that_start_one():
    with pytest.raises(ValueError, match=r"from dask\.distributed import Client\n    client = Client\(\)$"):
        dtnumba.dask.DecisionTreeClassifier().fit(X, y)


FRAME = pd.DataFrame({"age": [20.0, 30.0, 40.0, 50.0], "town": pd.Categorical(["Ulm", "Bonn", "Ulm", "Bonn"])})
LABELS = np.array(["no", "no", "yes", "yes"])


def fitted(client, *frames, labels=None):
    labels = [LABELS[: len(frame)] for frame in frames] if labels is None else labels
    tree = dtnumba.dask.DecisionTreeClassifier()
    return tree.fit([dask.delayed(frame) for frame in frames], [dask.delayed(one) for one in labels], client=client)


def test_partitions_that_disagree_are_named(client):
    with pytest.raises(ValueError, match=r"partition 1 of X has the columns \['age', 'city'\], and partition 0 has"):
        fitted(client, FRAME, FRAME.rename(columns={"town": "city"}))
    with pytest.raises(ValueError, match="partition 2 of X has 1 columns, and partition 0 has 2"):
        fitted(client, FRAME, FRAME, FRAME[["age"]])
    with pytest.raises(ValueError, match="partition 1 of X"):
        fitted(client, FRAME, FRAME.assign(town=[1.0, 2.0, 3.0, 4.0]))
    with pytest.raises(ValueError, match="old"):
        fitted(client, FRAME, FRAME.assign(age=["old", "young", "old", "young"]))
    with pytest.raises(ValueError, match=r"[34]"):
        fitted(client, FRAME, FRAME, labels=[LABELS, LABELS[:3]])
    with pytest.raises(ValueError, match="2 partitions"):
        fitted(client, FRAME, FRAME, labels=[LABELS])


def test_empty_partitions_and_levels_of_one_partition_are_no_harm(client):
    other = FRAME.assign(town=pd.Categorical(["Rom", "Bonn", "Rom", "Bonn"]))
    found = fitted(client, FRAME[:0], FRAME, other, FRAME[:0])
    whole = pd.DataFrame({"age": [*FRAME.age, *other.age], "town": [*FRAME.town, *other.town]})
    local = dtnumba.DecisionTreeClassifier(max_bins=255).fit(whole.astype({"town": "category"}), [*LABELS, *LABELS])
    assert found.categories_[0] is None
    assert found.categories_[1].tolist() == ["Bonn", "Rom", "Ulm"]
    assert np.array_equal(found.predict_proba(whole), local.predict_proba(whole))
    with pytest.raises(ValueError, match="2 partitions and no rows"):
        fitted(client, FRAME[:0], FRAME[:0])


def test_divisions_need_not_be_known(client):
    lazy = dd.from_pandas(FRAME.assign(buys=LABELS), npartitions=2).clear_divisions()
    found = dtnumba.dask.DecisionTreeClassifier().fit(lazy[["age", "town"]], lazy.buys, client=client)
    assert found.predict(FRAME).tolist() == LABELS.tolist()
    assert found.predict(lazy[["age", "town"]]).compute().tolist() == LABELS.tolist()
