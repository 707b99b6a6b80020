"""Imports point one way, only four modules know Numba, and no module is named after nothing in particular."""

import ast
import graphlib
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PACKAGE = Path(find_spec("dtnumba").origin).parent

# A module imports from lower layers only. A folder named here is one module to the others, and acyclic inside.
LAYERS = [  # the lowest first
    (
        "_absorb _cache costs errors fisher information levels log_gamma per_worker pruning rule_order rules "
        "sample_table scoring sparse_memory trees weights"
    ),
    "_jit code_length compact dnf floats growing path_rules rule_text subtrees",
    (
        "_row_division _row_vectors bottom_up coding collapse columns cost_gini description_length proximity pruner "
        "rng routing rule_matching significance splitters.__init__ user_criterion watch"
    ),
    (
        "case_pruning categories criteria folds frames frontier held_out packed_forest rule_selection rule_view "
        "shuffle weakest_link"
    ),
    "interactions lanes leaf_values raised_cases rerouting shallow table unseen",
    "constraints few_rows predict raising rule_counts targets",
    (
        "counted_rows decision_list level_order mixtures monotone predictor raised_errors sampling split_test stopping "
        "votes"
    ),
    "drawn_rows forest_view out_of_bag recounting scan tree_view whole_tree",
    "labels partition ranked scan_words sorting splitters.level_rows",
    "scan_bins splitters.coded_rows splitters.level_sums target_choice",
    "splitters.level_ranks splitters.sorted_cuts",
    "splitters.histogram splitters.likely_cuts",
    "splitters.levels",
    "category_splits finish",
    "bins node_losses splitters.presorted splitters.rank_sort",
    "binned_table chaid grow splitters.random_threshold",
    "batches forest grow_tree growers permutation refits splitters.random_bins",
    "few_bits",
    "alpha_table few_sums resampling shadows training",
    "forest_plan importances pruners size_curve",
    "generalise validation",
    "rule_making",
    "estimators",
    "export",
    "__init__",
    "cli",
    "__main__",
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names.split()}
KNOW_NUMBA = {"_absorb", "_cache", "_jit", "_row_division", "_row_vectors"}
NAMELESS = {"utils", "util", "common", "helpers", "helper", "misc", "core", "manager", "tools", "base"}


def name_of(path):
    """Return "splitters.histogram" for dtnumba/splitters/histogram.py; "splitters.__init__" for the folder itself."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


MODULES = {name_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


def layer_name(module):
    """Return the name under which a module stands in LAYERS."""
    folder = module.partition(".")[0]
    return folder if folder in LEVEL and module != folder else module


def resolve(dotted):
    """Return the module of ours that a dotted name means, as in MODULES, or None."""
    inner = dotted.partition(".")[2]
    candidates = [inner, f"{inner}.__init__" if inner else "__init__"]
    return next((name for name in candidates if name in MODULES), None)


def is_for_types(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def imports(tree, *, at_import):
    """Yield the dotted names that a module imports: all of them, or those that importing it imports."""
    for node in ast.iter_child_nodes(tree):
        if is_for_types(node) or (at_import and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            for alias in node.names:
                is_module = node.module.startswith("dtnumba") and resolve(f"{node.module}.{alias.name}")
                yield f"{node.module}.{alias.name}" if is_module else node.module
        yield from imports(node, at_import=at_import)


def imports_of_ours(tree, *, at_import=False):
    return {resolve(name) for name in imports(tree, at_import=at_import) if name.partition(".")[0] == "dtnumba"}


def imports_of_others(tree, *, at_import=False):
    return {name.partition(".")[0] for name in imports(tree, at_import=at_import)} - {"dtnumba"}


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_from_lower_layers_only(module):
    own = layer_name(module)
    assert own in LEVEL, f"{module} stands in no layer: put it into one above all that it imports"
    for other in imports_of_ours(MODULES[module]):
        theirs = layer_name(other)
        assert theirs == own or LEVEL[theirs] < LEVEL[own], f"{module} imports {other}, which is not below it"


def test_no_import_goes_round():
    graph = {name: imports_of_ours(tree, at_import=True) for name, tree in MODULES.items()}
    assert len(list(graphlib.TopologicalSorter(graph).static_order())) == len(MODULES)


def test_every_layer_is_of_modules_that_exist():
    assert set(LEVEL) == {layer_name(module) for module in MODULES}


def test_only_four_modules_know_numba():
    found = {name for name, tree in MODULES.items() if imports_of_others(tree) & {"numba", "llvmlite"}}
    assert found == KNOW_NUMBA


def test_importing_a_module_imports_nothing_but_numpy_and_numba():
    allowed = {"numpy", "numba", "llvmlite"} | set(sys.stdlib_module_names)
    for name, tree in MODULES.items():
        assert imports_of_others(tree, at_import=True) <= allowed, name


def test_modules_are_named_after_what_they_do():
    for module in MODULES:
        assert not NAMELESS & set(module.split(".")), module


def test_no_module_shadows_one_of_python():
    """A script that runs beside the modules would import ours instead."""
    for module in MODULES:
        assert module.rpartition(".")[2] not in sys.stdlib_module_names - {"__init__", "__main__"}, module
