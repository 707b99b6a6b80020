"""A reader of model files, written from their description alone: what trees and forests of thresholds say of rows."""

import json
import struct

import numpy as np


def read(path):
    """Return the header of a file, and its arrays by name; checksums are not looked at."""
    with open(path, "rb") as file:  # noqa: PTH123
        raw = file.read()
    magic, version, _, n_header, n_data = struct.unpack("<8sIIQQ", raw[:32])
    assert (magic, version) == (b"\x93DTNUMBA", 1)
    header = json.loads(raw[64 : 64 + n_header])
    data = raw[(64 + n_header + 63) // 64 * 64 :][:n_data]
    arrays = {
        name: np.frombuffer(data, dtype, int(np.prod(shape)), offset).reshape(shape)
        for name, (dtype, shape, offset) in header["arrays"].items()
    }
    return header, arrays


def mean_values(path, X):
    """Return the mean of what the leaves of each row say over the trees: shares of classes, or numbers."""
    header, arrays = read(path)
    view = header["learned"].get("tree_") or header["learned"]["forest_"]
    said = view["trees"]

    def item(name, i):
        one = said[name]
        return arrays[one["table"]][arrays[one["codes"]][i]] if "codes" in one else arrays[one["array"]][i]

    def inner_nodes_before(node):
        first = node // 64 * 64
        return int(item("inner_before", node // 64)) + sum(item("tested", i) != 0 for i in range(first, node))

    def value_of(leaf):
        if said["is_compact"]:
            has_rows = len(arrays[said["value_row"].get("array", said["value_row"].get("codes"))]) > 0
            return item("value", item("value_row", leaf) if has_rows else leaf)
        if "leaf_counts" not in said:
            return item("leaf_value", leaf)
        counts = item("leaf_counts", leaf).astype(float)
        return counts / counts[: view["n_classes"][0]].sum()

    answers = []
    for x in X:
        total = -0.0
        for t in range(said["n_trees"]):
            node = int(item("root", t))
            while (tested := int(item("tested", node))) != 0:
                k, cell = inner_nodes_before(node), x[tested - 1]
                goes_left = item("missing_left", k) == 1 if np.isnan(cell) else cell <= item("threshold", k)
                node += int(item("distance", k)) + (0 if goes_left else 1)
            total = total + value_of(node - inner_nodes_before(node)).astype(float)
        mean = total / said["n_trees"]
        if view["n_classes"] == [2] and said["n_trees"] > 1:  # two classes of many trees: the first has what is left
            mean[0] = 1.0 - mean[1]
        answers.append(mean)
    return np.array(answers)
