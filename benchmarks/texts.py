"""Trees as text against what rpart, J48 and C5.0 print: equal to the character where the trees agree.

``python benchmarks/texts.py ORACLES DATA [TEXT] [--competing]``: a folder with rpart_shared.json, weka_shared.json and
c50_shared.json, and the data sets that they name with their dtdata.py; of results whose name holds TEXT only. rpart's
answers are numbers: what its print would show of them is made here, by rules of their own. J48's and C5.0's are text.
"""

import json
import sys
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from pathlib import Path

import c50
import numpy as np
import rpart
import weka

from dtnumba import C45Classifier, export, prune
from dtnumba.pruners.cost_complexity import CostComplexity


def weka_texts(dtdata, folder, oracles, only):
    """Yield (name, J48's text, ours) of every printed tree of a known kind."""
    results = json.loads((oracles / "weka_shared.json").read_text())["results"]
    tables = {}
    for name, given in results.items():
        if "text" not in given or not given["class"].endswith("J48") or "-R" in given["options"].split():
            continue
        if only not in name:
            continue
        key = name.partition("/")[0]
        if key not in tables:
            tables[key] = weka.Data(dtdata, str(folder), given["dataset"], key.endswith("@all"))
        data = tables[key]
        X, names, classes = frame_of(dtdata, folder, given["dataset"], data)
        y = np.array(classes, object)[data.y]
        model = C45Classifier(**weka.parameters(given["options"]), n_jobs=1)
        model.fit(X[data.train], y[data.train])
        yield name, given["text"], export.text(model, "weka", feature_names=names).rstrip("\n"), model


def frame_of(dtdata, folder, dataset, data):
    import pandas as pd

    _, schema, entry = dtdata.load(str(folder), dataset)
    own = {one["name"]: one for one in schema}
    columns = {}
    for j, one in enumerate(data.schema):
        column = data.X[:, j]
        if one["kind"] == "numeric":
            columns[one["name"]] = column
        else:
            codes = np.where(np.isnan(column), -1, column).astype(int)
            columns[one["name"]] = pd.Categorical.from_codes(codes, one["levels"])
    return pd.DataFrame(columns), [one["name"] for one in data.schema], own[entry["target"]]["levels"]


def c50_texts(dtdata, folder, oracles, only):
    """Yield (name, C5.0's tree, ours) of every printed tree of one trial without winnowing and soft thresholds."""
    results = json.loads((oracles / "c50_shared.json").read_text())["results"]
    for name, given in results.items():
        control = given["control"] or {}
        plain = not given["rules"] and given["trials"] == 1 and not {"winnow", "fuzzyThreshold"} & {*control}
        if only not in name or not plain or "output" not in given:
            continue
        data = c50.Data(dtdata, str(folder), given)
        model = c50.fitted(data, given, c50.framed(data), np.array(data.classes, object)[data.y])
        wanted = given["output"].partition("\n\nEvaluation")[0].rstrip("\n")
        yield name, wanted, export.text(model, "c50").rstrip("\n"), model


def rpart_texts(dtdata, folder, oracles, only):
    """Yield (name, what print.rpart would show, ours) of every tree of which all nodes are given."""
    import pandas as pd

    results = json.loads((oracles / "rpart_shared.json").read_text())["results"]
    for name, given in results.items():
        shrinks = given["method"] == "poisson" and "sqrt" not in str(given["parms"])  # rates here are not shrunk
        if only not in name or "nodes" not in given or shrinks:
            continue
        data = rpart.Data(dtdata, str(folder), given)
        dataset = given["data"].removesuffix(".csv.gz").removesuffix(".npz")
        kinds = {one["name"]: one for one in dtdata.load(str(folder), dataset)[1]}
        columns = {}
        for j, column in enumerate(data.names):
            x, one = data.X[:, j], kinds[column]
            if one["kind"] != "numeric":
                codes = np.where(np.isnan(x), -1, x).astype(int)
                x = pd.Categorical.from_codes(codes, one["levels"], ordered=one["kind"] == "ordered")
            columns[column] = x
        y = data.y
        if given["method"] == "class" and data.classes is not None:
            y = np.array(data.classes, object)[np.where(data.train, data.y, 0).astype(int)]
        data.X, data.y, data.categorical = pd.DataFrame(columns), y, "from_dtype"
        of_class = "entropy" if "information" in str(given["parms"]) else "gini"
        criterion = {"anova": "squared_error", "poisson": "poisson"}.get(given["method"], of_class)
        model = prune(rpart.fitted(given, data, criterion), CostComplexity(cp=given["control"]["cp"]))
        wanted = [rpart_print(given, kinds, way) for way in (ROUND_HALF_DOWN, ROUND_HALF_UP)]
        yield name, wanted, export.text(model, "rpart", max_levels=10**6), model
        if "--competing" in sys.argv:
            competing(name, given, model, data)


def competing(name, given, model, data):
    """Hold the best competing split of each node against rpart's; of a tie any may come first."""
    found = export.splits(model, data.X[data.train], data.y[data.train], data.weight)
    wanted = {node["id"]: node["best_competitor"]["improve"] for node in given["nodes"] if "best_competitor" in node}
    n_same = 0
    for number, improve in wanted.items():
        own = found[(found.number == number) & (found.kind == "competing")]
        same = len(own) > 0 and abs(own.improve[0] - improve) <= 2e-5 * max(1.0, abs(improve))
        n_same += same
        if not same:
            print(f"{name}: node {number}: the best competing split improves by {improve}, here {own.improve[:1]}")
    print(f"{name}: {n_same} of {len(wanted)} competing splits")


def rpart_print(given, kinds, way):
    """Return what R prints of the numbers that are given, which have eight digits, rounded a way."""
    nodes = given["nodes"]
    is_class = given["method"] == "class"
    splits = {node["id"]: sides(node["split"], kinds) for node in nodes if "split" in node}
    losses = in_one_form([seven(node["dev"], way) for node in nodes])
    values = [node["yval"] for node in nodes]
    if is_class:
        levels, parms = given["class_levels"], given["parms"] if isinstance(given["parms"], dict) else {}
        root = np.array(nodes[0]["counts"], float)
        prior = np.array(parms.get("prior") or root / root.sum())
        shares = [np.array(node["counts"]) * prior / root for node in nodes]
        shares = [share / share.sum() for share in shares]
        k = len(levels)
        flat = [x for share in shares for x in share]
        flat = in_one_form(flat, 7) if k < 5 else [f"{x:.2g}" for x in flat]
        says = [f"{levels[v - 1]} ({' '.join(flat[i * k : i * k + k])})" for i, v in enumerate(values)]
    else:
        says = in_one_form([seven(x, way) for x in values])
    width = max(len(str(node["id"])) for node in nodes)
    out = [f"n= {nodes[0]['n']} ", ""]
    out += ["node), split, n, loss, yval, (yprob)" if is_class else "node), split, n, deviance, yval"]
    out += ["      * denotes terminal node", ""]
    order = sorted(range(len(nodes)), key=lambda i: path(nodes[i]["id"]))
    for i in order:
        node = nodes[i]
        key = node["id"]
        split = "root" if key == 1 else splits[key // 2][key % 2]
        end = " " if "split" in node else "*"
        indent = " " * (2 * len(path(key)))
        out.append(f"{indent}{key:>{width}}) {split} {node['n']} {losses[i]} {says[i]} {end}")
    return "\n".join(out) + "\n"


def seven(x, way):
    """Return a number with seven significant digits."""
    exact = Decimal(repr(float(x)))
    return float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 6), way)) if x else 0.0


def path(key):
    return tuple(map(int, f"{key:b}"[1:]))


def sides(split, kinds):
    name = split["var"]
    if "thr" in split:
        below, above = f"{name}< {split['thr']:.7g}", f"{name}>={split['thr']:.7g}"
        return (below, above) if split["left"] == "<" else (above, below)
    return tuple(f"{name}={','.join(split[f'{side}_levels'])}" for side in ("left", "right"))


def in_one_form(values, least=0):
    """Return numbers as R's format does: seven digits of the one that needs most decimals."""
    rounded = [Decimal(f"{x:.6e}") for x in values]
    decimals = max(max(0, -x.normalize().as_tuple().exponent) for x in rounded)
    left = max(len(f"{abs(x):.0f}") if abs(x) >= 1 else 1 for x in rounded) + any(x < 0 for x in rounded)
    most = max(len(x.normalize().as_tuple().digits) for x in rounded)
    if left + decimals + (decimals > 0) > (most + 1 if most > 1 else 1) + 4 + any(x < 0 for x in rounded):
        texts = [f"{x:.{most - 1}e}" for x in values]
    else:
        texts = [f"{x:.{max(decimals, least)}f}" for x in values]
    width = max(map(len, texts))
    return [text.rjust(width) for text in texts]


def first_difference(wanted, found):
    pairs = zip(wanted.split("\n"), found.split("\n"), strict=False)
    return next(((k, a, b) for k, (a, b) in enumerate(pairs) if a != b), (-1, "", ""))


def shape_of(text):
    """Return the tests of a text without counts: trees of one shape agree in structure."""
    lines = [line.partition(" (")[0] for line in text.rstrip("\n").split("\n")]
    return [line.partition(") ")[2].partition(" ")[0] if ") " in line else line for line in lines]


def first_of(wanted):
    return wanted if isinstance(wanted, str) else wanted[0]


def is_same(wanted, ours):
    """Tell whether texts are equal; where the eight digits of a number leave the last of seven open, by either."""
    both = [wanted] if isinstance(wanted, str) else wanted
    theirs = [[line.split(" ") for line in text.rstrip("\n").split("\n")] for text in both]
    own = [line.split(" ") for line in ours.rstrip("\n").split("\n")]
    if any([len(line) for line in one] != [len(line) for line in own] for one in theirs):
        return False
    return all(word in {one[i][j] for one in theirs} for i, line in enumerate(own) for j, word in enumerate(line))


def report(kind, found, show):
    n_same = n_alike = n = 0
    for name, wanted, ours, _ in found:
        n += 1
        same = is_same(wanted, ours)
        alike = shape_of(first_of(wanted)) == shape_of(ours)
        n_same += same
        n_alike += alike
        if not same and (alike or show):
            print(f"{name}: {first_difference(first_of(wanted), ours)}")
    print(f"{kind}: {n} printed, {n_alike} of the same structure, {n_same} equal to the character")


if __name__ == "__main__":
    oracles, folder = map(Path, sys.argv[1:3])
    sys.path.insert(0, str(folder))
    import dtdata

    only = sys.argv[3] if len(sys.argv) > 3 else ""
    report("rpart", rpart_texts(dtdata, folder, oracles, only), len(sys.argv) > 4)
    report("C5.0", c50_texts(dtdata, folder, oracles, only), len(sys.argv) > 4)
    report("J48", weka_texts(dtdata, folder, oracles, only), len(sys.argv) > 4)
