"""What the documentation promises: examples run and print what is shown, links lead somewhere, maps are complete."""

import ast
import contextlib
import doctest
import importlib
import io
import itertools
import linecache
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from dtnumba.criteria import CRITERIA
from dtnumba.growth.binary.choose_splitter import SPLITTERS
from dtnumba.pruners import PRUNERS

REPOSITORY = Path(__file__).parents[1]
PACKAGE = Path(find_spec("dtnumba").origin).parent
MARKDOWN = {
    str(path.relative_to(REPOSITORY)): path
    for path in [
        REPOSITORY / "README.md",
        *(p for top in ("dtnumba", "tests", "benchmarks") for p in sorted((REPOSITORY / top).rglob("*.md"))),
    ]
}
MODULES = {
    ".".join(("dtnumba", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
ROOMS = {module: path.parent for module, path in MODULES.items() if path.name == "__init__.py"}
OPTIONAL = {"dask", "matplotlib", "pandas", "polars", "pyarrow", "scipy", "sklearn"}
LANGUAGES = {"python", "pycon", "text", "console", "sh"}
LONGEST_FRONT_PAGE = 250

FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
ENTRY = re.compile(r"^(?P<names>\w+(, \w+)*)  +\S")


def blocks(path):
    """Return (language, body, line, text between it and the block before) of each fenced block of a file."""
    text = path.read_text(encoding="utf-8")
    found, end = [], 0
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start("body"))
        found.append((match["language"], match["body"], line, text[end : match.start()]))
        end = match.end()
    return found


def examples(path):
    """Return (language, body, line, printed) of the blocks that run; ``printed`` is None where no output is shown."""
    found = [*blocks(path), ("", "", 0, "")]
    for (language, body, line, _), (following, output, _, between) in itertools.pairwise(found):
        if language in {"python", "pycon"}:
            yield language, body, line, output if following == "text" and not between.strip() else None


def packages_of(code):
    """Return the packages that some code imports."""
    names = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module.partition(".")[0])
    return names


def missing(code):
    """Return the optional packages that some code needs and that are not installed."""
    return {name for name in packages_of(code) & OPTIONAL if find_spec(name) is None}


def run_block(body, name, line, namespace):
    """Run a block in the namespace of its file and return what it prints."""
    place = f"{name}:{line + 1}"
    linecache.cache[place] = len(body), None, body.splitlines(keepends=True), place
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(body, place, "exec"), namespace)  # noqa: S102  an example of our own
    return printed.getvalue()


def run_examples(found, runner):
    """Run doctests; return how many lines they are and what they say of failures."""
    report = io.StringIO()
    failed, tried = runner.run(found, out=report.write, clear_globs=False)
    assert failed == 0, report.getvalue()
    return tried


def tells(name):
    return any(language in {"python", "pycon"} for language, *_ in blocks(MARKDOWN[name]))


@pytest.fixture
def _registries():
    """Take what a page has added to the registries out again."""
    before = [(registry, dict(registry)) for registry in (CRITERIA, PRUNERS, SPLITTERS)]
    yield
    for registry, entries in before:
        registry.clear()
        registry.update(entries)


@pytest.mark.usefixtures("_registries")
@pytest.mark.parametrize("name", list(filter(tells, MARKDOWN)))
def test_the_blocks_of_a_page_run_and_print_what_it_shows(name, tmp_path, monkeypatch):
    """In order, in one namespace. A block of an optional package is left out where that is not installed."""
    monkeypatch.chdir(tmp_path)
    namespace, absent = {"__name__": "__main__"}, set()
    for language, body, line, shown in examples(MARKDOWN[name]):
        if language == "pycon":
            test = doctest.DocTestParser().get_doctest(body, namespace, name, name, line)
            test.globs = namespace
            run_examples(test, doctest.DocTestRunner(verbose=False))
        elif missing(body):
            absent |= missing(body)
        else:
            printed = run_block(body, name, line, namespace)
            assert shown is None or printed == shown, f"{name}:{line + 1} prints\n{printed}"
    if absent:
        pytest.skip(f"all ran but what needs {', '.join(sorted(absent))}")


@pytest.mark.parametrize("module", [name for name, path in MODULES.items() if ">>> " in path.read_text("utf-8")])
def test_the_examples_of_docstrings_run(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = [test for test in doctest.DocTestFinder().find(importlib.import_module(module)) if test.examples]
    lines = sum(run_examples(test, doctest.DocTestRunner(verbose=False)) for test in found)
    assert lines == len(re.findall(r"^ *>>> ", MODULES[module].read_text("utf-8"), re.MULTILINE)), "some were not found"


@pytest.mark.parametrize("name", MARKDOWN)
def test_every_block_says_its_language(name):
    assert {language for language, *_ in blocks(MARKDOWN[name])} <= LANGUAGES


def test_the_front_page_is_short():
    assert MARKDOWN["README.md"].read_text("utf-8").count("\n") <= LONGEST_FRONT_PAGE


def anchors(path):
    """Return the anchors that GitHub gives the headings of a page."""
    text = FENCE.sub("", path.read_text("utf-8"))
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("name", MARKDOWN)
def test_every_link_leads_somewhere(name):
    path = MARKDOWN[name]
    for target in LINK.findall(FENCE.sub("", path.read_text("utf-8"))):
        if re.match(r"https?:", target):
            continue
        file, _, anchor = target.partition("#")
        there = (path.parent / file).resolve() if file else path
        assert there.exists(), f"{name} links to {target}"
        assert not anchor or anchor in anchors(there), f"{name} links to {target}"


def mapped(path):
    """Return the names that the docstring of a room lists at the beginnings of its lines."""
    lines = ast.get_docstring(ast.parse((path / "__init__.py").read_text("utf-8"))).splitlines()
    return [name for line in lines if (entry := ENTRY.match(line)) for name in entry["names"].split(", ")]


@pytest.mark.parametrize("room", ROOMS)
def test_the_map_of_a_room_names_what_is_in_it(room):
    there = {path.stem for path in ROOMS[room].glob("*.py")} - {"__init__"}
    there |= {path.parent.name for path in ROOMS[room].glob("*/__init__.py")}
    names = mapped(ROOMS[room])
    absent, gone = there - set(names), set(names) - there
    assert not absent | gone, f"the docstring of {room}: add a line for {absent}, take out {gone}"
    assert len(names) == len(set(names)), f"the docstring of {room} names a module twice"


@pytest.mark.parametrize("room", [name for name in ROOMS if name.count(".") < 2])
def test_a_room_has_a_page_that_another_one_links_to(room):
    page = REPOSITORY / Path(*room.split(".")) / "README.md"
    assert page.exists()
    assert f"]({page.relative_to(REPOSITORY)})" in MARKDOWN["README.md"].read_text("utf-8")
