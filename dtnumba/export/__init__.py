"""One model, written another way. Adding an exporter is one function in a module of its own, named below.

as_python   ``python``: source without imports, or of NumPy
as_c        ``c``: tables and a short loop in C
as_json     ``json`` and ``from_json``: everything, and back
as_network  ``network``: threshold units
as_onnx     ``onnx``: a graph of ONNX
as_treelite  ``treelite``: a model of treelite
as_sklearn  ``to_sklearn``: estimators of scikit-learn
as_dot      ``dot``: text of Graphviz
as_html     ``html``: a page
as_sql      ``sql``: one query
as_svg      ``svg``: a picture of a tree
as_rules    ``rules``: sentences, a rule a line
as_dnf      ``dnf``: when a tree predicts a class, as an "or" of "and"s
as_text     ``text``: a tree as an outline, or as other programs print it

reading    a fitted model as every exporter reads it, and the error of what a format cannot say
replay     ``verify``: what was written, run again and held against the model
text_styles  the styles of other programs in ``text``, and ``frame`` and ``splits``: a tree as tables
splines    models made of hinges, in each of these formats that has sums
languages  what exporters share of the languages that they write
pictures   what pictures of models share
"""

from typing import TYPE_CHECKING

from dtnumba.runtime.lazy_names import lazy_names

if TYPE_CHECKING:
    from dtnumba.export.as_c import CSource as CSource
    from dtnumba.export.as_c import c as c
    from dtnumba.export.as_dnf import Formula as Formula
    from dtnumba.export.as_dnf import dnf as dnf
    from dtnumba.export.as_dot import dot as dot
    from dtnumba.export.as_html import html as html
    from dtnumba.export.as_json import JsonModel as JsonModel
    from dtnumba.export.as_json import from_json as from_json
    from dtnumba.export.as_json import json as json
    from dtnumba.export.as_network import Network as Network
    from dtnumba.export.as_network import network as network
    from dtnumba.export.as_onnx import OnnxModel as OnnxModel
    from dtnumba.export.as_onnx import onnx as onnx
    from dtnumba.export.as_python import python as python
    from dtnumba.export.as_rules import rules as rules
    from dtnumba.export.as_sklearn import to_sklearn as to_sklearn
    from dtnumba.export.as_sql import SqlQuery as SqlQuery
    from dtnumba.export.as_sql import sql as sql
    from dtnumba.export.as_svg import svg as svg
    from dtnumba.export.as_text import text as text
    from dtnumba.export.as_treelite import TreeliteModel as TreeliteModel
    from dtnumba.export.as_treelite import treelite as treelite
    from dtnumba.export.reading import ExportError as ExportError
    from dtnumba.export.replay import ExportMismatchError as ExportMismatchError
    from dtnumba.export.replay import verify as verify
    from dtnumba.export.text_styles.tables import frame as frame
    from dtnumba.export.text_styles.tables import splits as splits

_HOME = {
    "CSource": "as_c",
    "ExportError": "reading",
    "ExportMismatchError": "replay",
    "Formula": "as_dnf",
    "JsonModel": "as_json",
    "Network": "as_network",
    "OnnxModel": "as_onnx",
    "SqlQuery": "as_sql",
    "TreeliteModel": "as_treelite",
    "c": "as_c",
    "dnf": "as_dnf",
    "dot": "as_dot",
    "frame": "text_styles.tables",
    "from_json": "as_json",
    "html": "as_html",
    "json": "as_json",
    "network": "as_network",
    "onnx": "as_onnx",
    "python": "as_python",
    "rules": "as_rules",
    "splits": "text_styles.tables",
    "sql": "as_sql",
    "svg": "as_svg",
    "text": "as_text",
    "to_sklearn": "as_sklearn",
    "treelite": "as_treelite",
    "verify": "replay",
}
__all__ = [*_HOME]  # noqa: PLE0604  names all of them
__getattr__, __dir__ = lazy_names(__name__, _HOME)
