"""The pictures of trees that README shows, written again: ``python benchmarks/tree_pictures.py``."""

import csv
from pathlib import Path

import numpy as np

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, ID3Classifier, export

HERE = Path(__file__).parent
FOLDER = HERE / "pictures"
DATA = HERE.parent / "tests" / "data"


def table(name):
    with (DATA / f"{name}.csv").open(encoding="utf-8") as lines:
        names, *rows = csv.reader(lines)
    return names, np.array(rows, object)


def pictures():
    """Return the pictures by name."""
    names, iris = table("iris")
    numbers = iris[:, :4].astype(float)
    species = np.array([name.removeprefix("Iris-") for name in iris[:, 4]])
    tree = DecisionTreeClassifier(max_depth=3).fit(numbers, species)
    mixed = np.column_stack([numbers[:, :3].astype(object), species])
    widths = DecisionTreeRegressor(max_depth=3, min_samples_leaf=5).fit(mixed, numbers[:, 3])
    columns, golf = table("golf")
    text = golf[:, [0, 3]]
    play = ID3Classifier().fit(text, golf[:, 4])
    return {
        "iris": export.svg(tree, feature_names=names[:4]),
        "petal_width": export.svg(widths, feature_names=[*names[:3], "species"]),
        "golf": export.svg(play, feature_names=[columns[0], columns[3]], class_names=["no", "play"]),
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, picture in pictures().items():
        (FOLDER / f"{name}.svg").write_text(picture, encoding="utf-8")
        print(f"{name}.svg: {len(picture):,} characters")
