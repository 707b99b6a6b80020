import hashlib
import tracemalloc

import numpy as np
import pytest
from strategies import same_trees

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeRegressor
from dtnumba.tables import table as tables
from dtnumba.tables.categories import LearnedLevels
from dtnumba.tables.cells import cells_of
from dtnumba.tables.table import Seen, Table, read_table
from dtnumba.trees.check import check

REAL = [np.float16, np.float32, np.float64, np.longdouble, *map(np.dtype, "bhilqBHILQ?")]


def written_out(table):
    """Every value of a table, as it is addressed by kernels."""
    parts = []
    for _, cells in table.columns(0, table.n_features):
        rows, columns = np.indices((cells.n_rows, cells.n_columns))
        parts.append(cells.flat[cells.offset + rows * cells.row_step + columns * cells.column_step])
    return np.concatenate(parts, axis=1)


def layouts(base):
    """Views of one 2-D array of at least two rows and columns."""
    frozen = base.copy()
    frozen.flags.writeable = False
    return {
        "C": base,
        "F": np.asfortranarray(base),
        "transposed": base.T,
        "every second": base[::2, ::2],
        "reversed": base[::-1, ::-1],
        "rows reversed": base[::-1],
        "one row": base[1:2],
        "one column": base[:, 1:2],
        "one cell": base[1:2, 1:2],
        "read-only": frozen,
        "broadcast": np.broadcast_to(base[0], (3, base.shape[1])),
    }


def signature(X):
    """Digest of everything X holds."""
    if hasattr(X, "tocsr"):
        names = ("data", "indices", "indptr", "row", "col")
        parts = [np.asarray(getattr(X, name)) for name in names if hasattr(X, name)]
    elif isinstance(X, np.ndarray):
        parts = [X]
    else:
        parts = [np.asarray(X[name]) for name in (X.column_names if hasattr(X, "column_names") else X.columns)]
    return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()


@pytest.fixture(name="X")
def make_x():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)).round(1)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


@pytest.fixture
def y(X):
    return (np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) > 0.3).astype(int)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", list(layouts(np.zeros((2, 2)))))
def test_floats_are_read_in_place_whatever_their_layout(layout, dtype):
    array = layouts(np.arange(30, dtype=dtype).reshape(5, 6))[layout]
    table = read_table(array, "Tree")
    assert np.shares_memory(table.cells.flat, array)
    assert table.cells.flat.flags.writeable
    assert np.array_equal(written_out(table), array)
    rows, columns = np.indices(array.shape).reshape(2, -1)
    assert np.array_equal(table.values_at(rows, columns), array.ravel())


def test_reading_in_place_takes_no_memory():
    array = np.zeros((200_000, 5), np.float32)
    for X in (array, np.asfortranarray(array), array[::-2, ::-1]):
        tracemalloc.start()
        table = read_table(X, "Tree")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert table.n_rows == len(X)
        assert peak < 50_000


def test_memory_stays_alive_as_long_as_the_table():
    table = read_table(np.arange(12.0).reshape(3, 4)[::-1], "Tree")
    assert written_out(table)[0].tolist() == [8.0, 9.0, 10.0, 11.0]


@pytest.mark.parametrize("dtype", REAL, ids=lambda dtype: np.dtype(dtype).name)
def test_arrays_of_every_real_dtype_grow_the_tree_of_their_values(dtype, y):
    X = np.random.default_rng(1).integers(0, 2 if np.dtype(dtype) == bool else 100, (60, 4)).astype(dtype)
    model = DecisionTreeClassifier().fit(X, y)
    assert same_trees(model.trees_, DecisionTreeClassifier().fit(X.astype(np.float64), y).trees_)
    assert np.array_equal(model.predict(X), model.predict(X.astype(np.float64)))


def containers(X):
    """The same table in every form that NumPy reads."""
    found = {"array": X, "list": X.tolist(), "rows": [tuple(row) for row in X], "big endian": X.astype(">f8")}
    found["objects"] = np.where(np.isnan(X), None, X.astype(object))
    found["masked"] = np.ma.masked_array(np.nan_to_num(X), np.isnan(X))
    found["Fortran"], found["reversed twice"] = np.asfortranarray(X), X[::-1, ::-1].copy()[::-1, ::-1]
    return found


@pytest.mark.parametrize("name", list(containers(np.zeros((2, 2)))))
@pytest.mark.parametrize("max_bins", [None, 16])
def test_every_array_container_grows_the_same_tree(name, max_bins, X, y):
    given = containers(X)[name]
    model, expected = (DecisionTreeClassifier(max_bins=max_bins).fit(each, y) for each in (given, X))
    assert same_trees(model.trees_, expected.trees_)
    assert np.array_equal(model.apply(given), expected.apply(X))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_every_frame_grows_the_same_tree(library, X, y):
    module = pytest.importorskip(library)
    columns = {f"x{j}": column for j, column in enumerate(X.T)}
    frame = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}[library]
    frame = getattr(module, frame)(columns)
    model, expected = DecisionTreeClassifier().fit(frame, y), DecisionTreeClassifier().fit(X, y)
    assert same_trees(model.trees_, expected.trees_)
    assert np.array_equal(model.predict(frame), expected.predict(X))
    assert model.feature_names_in_.tolist() == list(columns)


def sparse_forms():
    return ["csr_matrix", "csc_matrix", "coo_matrix", "lil_matrix", "dok_matrix", "csr_array", "csc_array", "coo_array"]


@pytest.mark.parametrize("form", sparse_forms())
@pytest.mark.parametrize(
    "tree", [DecisionTreeClassifier(), DecisionTreeClassifier(max_bins=8), ExtraTreeRegressor(random_state=0)]
)
def test_sparse_grows_and_predicts_as_dense(form, tree, X, y):
    sparse = pytest.importorskip("scipy.sparse")
    X[np.random.default_rng(2).random(X.shape) < 0.4] = 0.0
    given = getattr(sparse, form)(X)
    model = tree.set_params(n_jobs=1).fit(given, y)
    trees, leaves = model.trees_, model.apply(given)
    assert np.array_equal(leaves, model.apply(X))
    assert same_trees(trees, model.fit(X, y).trees_)
    assert np.array_equal(leaves, model.apply(given))


def test_sparse_zeros_duplicates_and_missing_values_mean_what_scipy_means():
    sparse = pytest.importorskip("scipy.sparse")
    stored = ([1.0, 2.0, 0.0, np.nan, -3.0], ([0, 0, 1, 2, 3], [0, 0, 1, 1, 1]))
    coo = sparse.coo_matrix(stored, shape=(4, 2))
    csr = sparse.csr_matrix((np.array([1.0, 2.0, 0.0, np.nan, -3.0]), [0, 0, 1, 1, 1], [0, 2, 3, 4, 5]), shape=(4, 2))
    expected = [[3.0, 0.0], [0.0, 0.0], [0.0, np.nan], [0.0, -3.0]]
    for matrix in (coo, csr, csr.tocsc()):
        before = signature(matrix)
        table = read_table(matrix, "Tree")
        assert np.array_equal(written_out(table), expected, equal_nan=True)
        rows, columns = np.indices((4, 2)).reshape(2, -1)
        assert np.array_equal(table.values_at(rows, columns), np.ravel(expected), equal_nan=True)
        blocks = [
            cells.flat.reshape(-1, 2).copy() for _, cells in read_table(matrix, "Tree", Seen(2, None)).row_blocks()
        ]
        assert np.array_equal(np.concatenate(blocks), expected, equal_nan=True)
        assert signature(matrix) == before


def test_a_part_of_sparse_rows_holds_nothing_of_the_one_before(monkeypatch):
    sparse = pytest.importorskip("scipy.sparse")
    monkeypatch.setattr(tables, "BLOCK_CELLS", 7 * 3)
    matrix = sparse.random(40, 7, 0.3, format="csr", random_state=0, dtype=np.float32)
    matrix.data[::5] = np.nan
    table, found, places = read_table(matrix, "Tree", Seen(7, None)), [], set()
    for first, cells in table.row_blocks():
        assert first == sum(map(len, found))
        found.append(cells.flat.reshape(-1, 7)[: cells.n_rows].copy())
        places.add(cells.flat.ctypes.data)
    np.testing.assert_array_equal(np.concatenate(found), matrix.toarray())
    assert len(found) == 14
    assert len(places) == 1  # nothing is allocated for each


def test_sparse_dtypes_become_floats():
    sparse = pytest.importorskip("scipy.sparse")
    pairs = [(np.int8, np.float32), (bool, np.float32), (np.int64, np.float64), (np.float32, np.float32)]
    for dtype, expected in pairs:
        assert read_table(sparse.eye(3, format="csr", dtype=dtype), "Tree").csc.dtype == expected
    with pytest.raises(ValueError, match="Complex data not supported"):
        read_table(sparse.eye(3, dtype=complex), "Tree")
    with pytest.raises(ValueError, match="column 1 holds 9007199254740992 and 9007199254740993"):
        read_table(sparse.csr_matrix(np.array([[0, 2**53], [0, 2**53 + 1]])), "Tree")


def test_values_closer_than_float32_are_separated():
    above = 1.0 + 2.0**-40
    assert np.float32(above) == np.float32(1.0)
    X = np.array([[1.0], [above], [1.0], [above]])
    for tree in (DecisionTreeClassifier(), DecisionTreeClassifier(max_bins=255), DecisionTreeRegressor()):
        assert tree.fit(X, [0, 1, 0, 1]).predict(X).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    "kind", ["array", "read-only", "float32", "int", "csr", "csc", "coo", "pandas", "polars", "pyarrow"]
)
def test_nothing_the_caller_passes_is_changed(kind, X, y):
    X = np.nan_to_num(X) if kind == "int" else X
    if kind in {"csr", "csc", "coo"}:
        X = getattr(pytest.importorskip("scipy.sparse"), f"{kind}_matrix")(X)
    elif kind in {"pandas", "polars", "pyarrow"}:
        module = pytest.importorskip(kind)
        X = getattr(module, "table" if kind == "pyarrow" else "DataFrame")({f"x{j}": X[:, j] for j in range(4)})
    else:
        X = X.astype({"float32": "f4", "int": "i8"}.get(kind, "f8"))
        X.flags.writeable = kind != "read-only"
    weight, before = np.linspace(0, 1, 60), signature(X)
    weight_before, y_before = weight.copy(), y.copy()
    trees = DecisionTreeClassifier(class_weight={1: 3}), DecisionTreeClassifier(max_bins=9), DecisionTreeRegressor()
    for tree in trees:
        tree.fit(X, y, sample_weight=weight).predict(X)
        check(tree.trees_, 4)
    assert signature(X) == before
    assert np.array_equal(weight, weight_before)
    assert np.array_equal(y, y_before)
    assert kind != "read-only" or not X.flags.writeable


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([1, 2], "Expected 2D array, got 1D array instead"),
        (3.0, "Expected 2D array, got scalar array instead"),
        ({"a": [1] * 9_999}, r"^(?s:.{,400})X is a dict: pass .* rows; of columns by name, pandas.DataFrame\(X\)$"),
        ("x" * 9_999, r"^(?s:.{,400})X is a str: pass an array, a frame"),
        (np.zeros((2, 2, 2)), "Found array with dim 3, while dim <= 2 is required by Tree."),
        (np.zeros((0, 2)), r"Found array with 0 sample\(s\) \(shape=\(0, 2\)\) while a minimum of 1 is required by"),
        (np.zeros((2, 0)), r"Found array with 0 feature\(s\)"),
        ([[1], [2, 3]], "X cannot be read as a table: .*every row must have the same number"),
        ([], "Expected 2D array, got 1D"),
    ],
    ids=str,
)
def test_what_is_no_table_is_refused(X, words):
    with pytest.raises(ValueError, match=words):
        read_table(X, "Tree")


def test_sparse_vectors_are_refused():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(ValueError, match="got 1D sparse array instead"):
        read_table(sparse.coo_array(np.array([1.0, 0.0])), "Tree")


def test_the_number_of_columns_must_be_that_of_fit(X, y):
    model = DecisionTreeClassifier().fit(X, y)
    for given in (X[:, :3], np.hstack([X, X])):
        with pytest.raises(ValueError, match=r"X has [38] features, but DecisionTreeClassifier is expecting 4"):
            model.predict(given)


def test_names_of_columns_must_be_those_of_fit(X, y):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = DecisionTreeClassifier().fit(frame, y)
    expected = model.predict(frame)
    with pytest.raises(ValueError, match=r"should match those .* during fit.\n.*must be in the same order"):
        model.predict(frame[list("bacd")])
    with pytest.raises(ValueError, match=r"unseen at fit time:\n- z\n.*seen at fit time, yet now missing:\n- d\n"):
        model.predict(frame.rename(columns={"d": "z"}))
    with pytest.warns(UserWarning, match="X does not have valid feature names, but DecisionTreeClassifier was"):
        assert np.array_equal(model.predict(X), expected)
    polars = pytest.importorskip("polars")
    twin = polars.DataFrame({name: frame[name].to_numpy() for name in frame})
    assert np.array_equal(model.predict(twin), expected)


def test_names_that_fit_did_not_see_are_warned_of(X, y):
    pd = pytest.importorskip("pandas")
    model = DecisionTreeClassifier().fit(X, y)
    assert not hasattr(model, "feature_names_in_")
    with pytest.warns(UserWarning, match="X has feature names, but DecisionTreeClassifier was fitted without"):
        model.predict(pd.DataFrame(X, columns=list("abcd")))


def test_cells_of_an_empty_side_are_never_made():
    with pytest.raises(ValueError, match="0 sample"):
        read_table(np.zeros((0, 0)), "Tree")
    assert cells_of(np.zeros((1, 1))).flat.size == 1


def test_tables_of_more_rows_than_an_order_can_name_are_refused():
    with pytest.raises(ValueError, match=r"X has 1073741824 rows: at most 1073741823 fit into one table; train on a"):
        read_table(np.broadcast_to(np.zeros((1, 1)), (1 << 30, 1)), "Tree")


def test_text_of_numpys_own_dtype_is_text():
    if not hasattr(np.dtypes, "StringDType"):
        pytest.skip("NumPy 1 has none")
    X = np.array([["red", "1"], ["blue", "2"]], dtype=np.dtypes.StringDType())
    table = read_table(X, "Tree", categories=LearnedLevels([0, 1], "Tree"))
    assert [levels.tolist() for levels in table.levels] == [["blue", "red"], ["1", "2"]]


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_column_is_a_copy_of_float64(is_sparse):
    X = np.array([[0.0, 1.5], [2.0, 0.0], [3.0, 4.0]], np.float32)
    table = read_table(pytest.importorskip("scipy.sparse").csc_matrix(X) if is_sparse else X, "a test")
    column = table.column(1)
    assert column.dtype == np.float64
    assert column.tolist() == [1.5, 0.0, 4.0]
    column[:] = 7.0
    assert X[:, 1].tolist() == [1.5, 0.0, 4.0]


def test_a_block_of_cells_is_a_table_of_its_own():
    X = np.arange(6.0).reshape(3, 2)
    block = Table.block(cells_of(X[1:]))
    assert (block.n_rows, block.n_features, block.names) == (2, 2, None)
    assert np.array_equal(block.whole, X[1:])
