"""One model, written another way. Adding an exporter is one function in a module of its own, named below.

as_rules  ``rules``: sentences, a rule a line
as_dnf    ``dnf``: when a tree predicts a class, as an "or" of "and"s
as_text   the top of a tree as indented text, which the shell command prints
"""

from typing import TYPE_CHECKING

from dtnumba.runtime.lazy_names import lazy_names

if TYPE_CHECKING:
    from dtnumba.export.as_dnf import Formula as Formula
    from dtnumba.export.as_dnf import dnf as dnf
    from dtnumba.export.as_rules import rules as rules

_HOME = {"Formula": "as_dnf", "dnf": "as_dnf", "rules": "as_rules"}
__all__ = [*_HOME]  # noqa: PLE0604  names all of them
__getattr__, __dir__ = lazy_names(__name__, _HOME)
