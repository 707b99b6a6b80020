"""Golden files load for ever; damaged and hostile ones are refused, or answer as they did."""

import json
from pathlib import Path

import numpy as np
import pytest
from naive.model_file import mean_values

from dtnumba import load

TESTS = Path(__file__).resolve().parents[1]
FOLDER = TESTS / "data" / "model_files"
TOLD = json.loads((FOLDER / "answers.json").read_text(encoding="utf-8"))


def rows_of(one):
    has_words = any(isinstance(cell, str) for row in one["rows"] for cell in row)
    return np.array(one["rows"], object if has_words else float)


@pytest.mark.parametrize("name", sorted(TOLD))
def test_a_golden_file_answers_as_it_did(name):
    model, rows, wanted = load(FOLDER / name), rows_of(TOLD[name]), TOLD[name]["answers"]
    for asked, answer in wanted.items():
        assert getattr(model, asked)(rows).tolist() == answer, asked


def test_every_kind_of_learner_has_a_golden_file():
    kinds = {type(load(FOLDER / name)).__name__ for name in TOLD}
    wanted = {"C45", "CHAID", "DecisionList", "DecisionTree", "ID3", "RandomForest", "ExtraTrees", "RuleSet"}
    assert {kind.removesuffix("Classifier").removesuffix("Regressor") for kind in kinds} == wanted
    assert {path.name for path in FOLDER.iterdir()} == {*TOLD, "answers.json"}


@pytest.mark.parametrize("name", ["tree.dtn", "tree_compact.dtn", "forest.dtn", "forest_compact.dtn"])
def test_a_reader_of_a_few_lines_reads_the_same(name):
    shares = mean_values(FOLDER / name, rows_of(TOLD[name]))
    assert shares.tolist() == TOLD[name]["answers"]["predict_proba"]


def test_damaged_files_are_refused_or_answer_as_they_did(run_python):
    """The rest of 200,000 runs from the script itself."""
    folder = TESTS.parent / "benchmarks"
    code = """
import fuzz_model_files
found = fuzz_model_files.run(1000, 0, mapped=False) + fuzz_model_files.run(1000, 1, mapped=True)
print(found["WRONG"], found["refused"] > 1000, found["same"] > 100, found["another model"] > 10)
"""
    assert run_python(code, path=[folder]).split() == ["0", "True", "True", "True"]
