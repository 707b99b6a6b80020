"""A few rows through mapped forests: the bits of all other ways, and nothing read that they do not pass."""

import numpy as np
import pytest

from dtnumba import (
    ExtraTreesClassifier,
    ModelFileError,
    RandomForestClassifier,
    RandomForestRegressor,
    load,
)
from dtnumba.model_files import container, few_rows

X = np.random.default_rng(0).normal(size=(400, 5)).astype(np.float32)
X[::7, 1] = np.nan
Z = X[:, 0] + np.nan_to_num(X[:, 1]) * X[:, 2]
Y = np.digitize(Z, [-0.5, 0.5])
FEW = {"n_estimators": 5, "random_state": 0}
COSTS = [[0, 1, 2], [3, 0, 1], [2, 2, 0]]


@pytest.fixture(autouse=True)
def _mapped(monkeypatch):
    monkeypatch.setattr(container, "_SMALL", 0)
    monkeypatch.setattr(few_rows, "_NODES_A_ROW", 0.1)


def forests():
    yield RandomForestClassifier(**FEW), Y
    yield RandomForestClassifier(**FEW), Y == 1
    yield RandomForestClassifier(**FEW, voting="hard"), Y
    yield RandomForestClassifier(**FEW, costs=COSTS, voting="hard"), Y
    yield RandomForestClassifier(**FEW, class_weight={0: 0.3}), Y
    yield RandomForestClassifier(**FEW), np.stack([Y, Y == 1], axis=1)
    yield ExtraTreesClassifier(**FEW, max_bins=30), Y
    yield RandomForestRegressor(**FEW), Z
    yield RandomForestRegressor(**FEW), np.stack([Z, -Z], axis=1)


def bits(answer):
    return [one.tobytes() for one in (answer if isinstance(answer, list) else [answer])]


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("i", range(9))
@pytest.mark.parametrize("rows", [X, X[:1].astype(np.float64), np.asfortranarray(X)[::-3]])
def test_a_few_rows_have_the_bits_of_all_others(i, compact, rows, tmp_path):
    model, target = list(forests())[i]
    model.fit(X, target).save(tmp_path / "model", compact=compact)
    again = load(tmp_path / "model")
    asked = "predict_proba" if hasattr(model, "predict_proba") else "predict"
    assert bits(getattr(again, asked)(rows)) == bits(getattr(model, asked)(rows))
    assert again.apply(rows).tolist() == model.apply(rows).tolist()
    assert not again.forest_._stored.is_read
    assert again.trees_.is_compact == compact
    assert bits(getattr(again, asked)(rows)) == bits(getattr(model, asked)(rows))


def test_many_rows_and_deep_trees_read_the_forest(tmp_path, monkeypatch):
    model = RandomForestClassifier(**FEW).fit(X, Y)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    monkeypatch.setattr(few_rows, "_NODES_A_ROW", again.forest_._stored.n_nodes // 10)
    again.predict(X[:8])
    assert not again.forest_._stored.is_read
    assert again.predict(X[:8]).tolist() == model.predict(X[:8]).tolist()
    assert again.forest_._stored.is_read
    again = load(tmp_path / "model")
    monkeypatch.setattr(few_rows, "_MOST_STEPS", 2)
    assert again.predict(X[:1]).tolist() == model.predict(X[:1]).tolist()
    assert again.forest_._stored.is_read


def test_damage_on_the_way_is_seen_and_elsewhere_it_is_not_looked_at(tmp_path, monkeypatch):
    monkeypatch.setattr(container, "BLOCK", 256)
    model = RandomForestClassifier(**FEW).fit(X, np.arange(len(X)) % 3)
    path = tmp_path / "model"
    model.save(path)
    whole, content = path.read_bytes(), container.read(path)
    start = len(whole) - 4 * len(content._checksums) - len(content._data)
    seen = 0
    for block in range(len(content._checksums)):
        at = start + min(block * 256 + 128, len(content._data) - 1)
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        try:
            answer = load(path).predict_proba(X[:1])
        except ModelFileError:
            seen += 1
            continue
        assert answer.tobytes() == model.predict_proba(X[:1]).tobytes()
        with pytest.raises(ModelFileError, match="checksum differs"):
            load(path).trees_  # noqa: B018
    assert 0 < seen < len(content._checksums)


def test_where_missing_values_go_is_read_where_a_value_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(container, "BLOCK", 64)
    model = RandomForestClassifier(**FEW).fit(X, Y)
    path = tmp_path / "model"
    model.save(path)
    content = container.read(path)
    one = content.stored("forest_.missing_left")
    raw = bytearray(path.read_bytes())
    start = len(raw) - content._checksums.nbytes - len(content._data) + one.offset
    raw[start : start + one.n_bytes] = bytes(b ^ 1 for b in raw[start : start + one.n_bytes])
    path.write_bytes(raw)
    whole = X[~np.isnan(X).any(axis=1)][:3]
    assert bits(load(path).predict_proba(whole)) == bits(model.predict_proba(whole))
    with pytest.raises(ModelFileError, match="are not what was written"):
        load(path).predict_proba(np.full((3, 5), np.nan))
