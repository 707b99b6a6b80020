"""Public names of a package that are imported when they are asked for, so that importing it stays quick."""

from __future__ import annotations

import contextlib
import gc
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Switch the garbage collector off, if it is on, where nearly all that is made stays in use.

    Looking through it again and again took a fifth of a cold start, and a half of an import.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def lazy_names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose public names stand in the modules of ``homes``.

    A name of ``homes`` is looked up in its module and then kept; any other that is a module of the package is imported.
    ``dir`` lists what is public.
    """

    def find(name: str) -> Any:
        if name in homes:
            with without_collector():
                found = getattr(import_module(f"{package}.{homes[name]}"), name)
            setattr(sys.modules[package], name, found)
            return found
        if name.startswith("_") or find_spec(f"{package}.{name}") is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_module(f"{package}.{name}")

    def names() -> list[str]:
        known = vars(sys.modules[package])
        public = {*homes, *known.get("__all__", ())}
        return sorted(public | {name for name in known if name.startswith("__")})

    return find, names
