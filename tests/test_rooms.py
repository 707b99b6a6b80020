"""The house: rooms import one way, none is too full, one name has one value, and one room alone knows Numba."""

import ast
import graphlib
import sys
from collections import Counter, defaultdict
from importlib.util import find_spec
from pathlib import Path

import pytest

PACKAGE = Path(find_spec("dtnumba").origin).parent
REPOSITORY = Path(__file__).resolve().parents[1]

# A room imports itself and the rooms before it. Of the rooms inside growth the same holds.
ROOMS = [
    *("runtime", "tables", "criteria", "trees", "growth", "prediction", "validation", "pruners", "rules", "explain"),
    *("model_files", "export", "figures", "estimators", "dask", "information", "__init__", "cli", "__main__"),
]
GROWTH = (
    *("nodes", "settings", "choose_growth", "targets", "policies", "splitters", "categories", "oblique", "binary"),
    *("incremental", "hoeffding", "multiway", "forest", "chaid", "mars", "optimal", "graphs"),
)
MOST_MODULES, MOST_LINES, MOST_ARGUMENTS = 16, 420, 9
NAMELESS = {"utils", "util", "common", "helpers", "helper", "misc", "core", "manager", "tools", "base"}

PATHS = {path: ".".join(path.relative_to(PACKAGE).with_suffix("").parts) for path in sorted(PACKAGE.rglob("*.py"))}
MODULES = {name: ast.parse(path.read_text(encoding="utf-8")) for path, name in PATHS.items()}


def place(module):
    """Return where a module stands: the number of its room, and of its room within growth."""
    first, _, rest = module.partition(".")
    inner = rest.partition(".")[0]
    return ROOMS.index(first), GROWTH.index(inner) if first == "growth" and inner in GROWTH else -1


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
def test_a_module_imports_from_rooms_before_its_own_only(module):
    room, inner = place(module)
    for other in imports_of_ours(MODULES[module]):
        theirs, within = place(other)
        assert theirs <= room, f"{module} imports {other}, whose room comes later"
        assert theirs < room or within <= inner or inner < 0, f"{module} imports {other}, whose room comes later"


def test_no_import_goes_round():
    graph = {name: imports_of_ours(tree, at_import=True) for name, tree in MODULES.items()}
    assert len(list(graphlib.TopologicalSorter(graph).static_order())) == len(MODULES)


def test_every_room_is_there():
    assert {name.partition(".")[0] for name in MODULES} == set(ROOMS)


def test_nothing_lies_before_the_door():
    """Files of its own are what a clone shows first; builds and environments are folders, or hidden."""
    found = {path.name for path in REPOSITORY.iterdir() if path.is_file() and not path.name.startswith(".")}
    assert found == {"README.md", "pyproject.toml"}, "write what a test or a trial makes somewhere else"


def test_no_room_is_too_full_and_no_module_too_long():
    sizes = Counter(name.rpartition(".")[0] for name in MODULES if not name.endswith("__init__"))
    full = {room: size for room, size in sizes.items() if size > MOST_MODULES}
    assert full == {}, f"at most {MOST_MODULES} modules a room: join two that belong together, or make a room inside"
    lengths = {name: path.read_text(encoding="utf-8").count("\n") for path, name in PATHS.items()}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}


def constants(tree):
    """Yield the constants that a module defines, and their values as written."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
            if isinstance(target, ast.Tuple) and ast.unparse(value) == f"range({len(target.elts)})":
                value = ast.Tuple([ast.Constant(k) for k in range(len(target.elts))])
            both = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            pairs = zip(target.elts, value.elts, strict=True) if both else [(target, value)]
            for name, one in pairs:
                if isinstance(name, ast.Name) and name.id.isupper() and not name.id.startswith("_"):
                    yield name.id, ast.unparse(one)


def test_a_constant_has_one_value_wherever_it_stands():
    values = defaultdict(dict)
    for module, tree in MODULES.items():
        for name, value in constants(tree):
            values[name][value] = module
    assert {name: found for name, found in values.items() if len(found) > 1} == {}


def test_a_class_stands_once():
    """But those of a cluster have the names of their local twins."""
    homes = defaultdict(list)
    for module, tree in MODULES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and module != "dask.estimators":
                homes[node.name].append(module)
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def test_no_function_takes_many_arguments():
    """More than nine are bundled by what they mean; instructions of the processor (runtime) take what they need."""
    found = {}
    for module, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and not module.startswith("runtime."):
                given = [argument.arg for argument in node.args.posonlyargs + node.args.args if argument.arg != "self"]
                if len(given) > MOST_ARGUMENTS:
                    found[f"{module}:{node.name}"] = len(given)
    assert found == {}


def test_one_room_alone_knows_numba():
    found = {name for name, tree in MODULES.items() if imports_of_others(tree) & {"numba", "llvmlite"}}
    assert {name for name in found if not name.startswith("runtime.")} == set()


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
