"""Write golden model files: one of every kind, with the rows that it is asked and what it answers.

    python benchmarks/golden_model_files.py FOLDER

Those of a format are written once, and must load for ever; ``tests/data/model_files`` holds them.
"""

import json
import sys
from pathlib import Path

import numpy as np

import dtnumba


def models():
    """Return a fitted model of every kind by name, and the rows that it is asked."""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(60, 3)).round(1)
    X[::9, 1] = np.nan
    z = X[:, 0] + np.nan_to_num(X[:, 1]) * X[:, 2]
    y = np.array(["low", "middle", "high"])[np.digitize(z, [-0.5, 0.5])]
    words = np.array([[["red", "blue", None][int(abs(a) * 10) % 3], b] for a, b in X[:, [0, 2]]], object)
    few, d = {"n_estimators": 3, "random_state": 0}, dtnumba
    found = {
        "tree": (d.DecisionTreeClassifier().fit(X, y), X),
        "tree of categories": (d.DecisionTreeClassifier(costs=1 - np.eye(3)).fit(words, y), words),
        "many branches": (d.DecisionTreeClassifier(categorical_split="multiway").fit(words, y), words),
        "intervals": (d.DecisionTreeClassifier(numeric_split="interval").fit(np.nan_to_num(X), y), X),
        "surrogates": (d.DecisionTreeClassifier(missing="surrogate").fit(X, y), X),
        "tree of numbers": (d.DecisionTreeRegressor().fit(X, np.stack([z, -z], axis=1)), X),
        "forest": (d.RandomForestClassifier(**few).fit(X, y), X),
        "forest of categories": (d.RandomForestClassifier(**few, importance="impurity_corrected").fit(words, y), words),
        "forest of numbers": (d.RandomForestRegressor(**few).fit(X, z), X),
        "hard votes": (d.ExtraTreesClassifier(**few, voting="hard").fit(X, y == "low"), X),
        "C4.5": (d.C45Classifier().fit(words, y), words),
        "ID3": (d.ID3Classifier().fit(words, y), words),
        "CHAID": (d.CHAIDClassifier(min_parent=4, min_child=2).fit(words, y), words),
        "CHAID of numbers": (d.CHAIDRegressor(min_parent=4, min_child=2).fit(words, z), words),
        "MARS": (d.MARSClassifier(missing="indicator", max_degree=2).fit(words, y), words),
        "MARS of numbers": (d.MARSRegressor(missing="indicator").fit(X, np.stack([z, -z], axis=1)), X),
        "rules": (d.RuleSetClassifier(select=None).fit(words, y), words),
        "decision list": (d.DecisionListClassifier().fit(X, y), X),
    }
    compact = {f"{name}, compact": found[name] for name in ("tree", "forest", "forest of categories")}
    return found | compact


def answers(model, rows):
    """Return what a model says of rows, as JSON holds it to the bit."""
    said = {"predict": model.predict(rows).tolist()}
    if hasattr(model, "predict_proba"):
        said["predict_proba"] = model.predict_proba(rows).tolist()
    return said


def main(folder):
    """Write the files, the rows that they are asked, and their answers."""
    folder.mkdir(parents=True, exist_ok=True)
    told = {}
    for name, (model, table) in models().items():
        rows = table[:24]
        file = name.replace(" ", "_").replace(",", "").replace(".", "") + ".dtn"
        model.save(folder / file, compact="compact" in name)
        shown = [[None if cell != cell else cell for cell in row] for row in rows.tolist()]
        told[file] = {"rows": shown, "answers": answers(model, rows)}
    (folder / "answers.json").write_text(json.dumps(told, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
