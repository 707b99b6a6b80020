"""A query of SQL from the inside out: a table, its columns as numbers, what nodes or rules say, the answers."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.languages.conditions import branches, of_rule, said_in, shared_branches
from dtnumba.export.languages.node_query import walk_of
from dtnumba.export.languages.sql_words import Dialect, SqlConditions
from dtnumba.export.languages.voting_rules import rules_query
from dtnumba.export.reading import MAP, ExportError, Nodes, ReadRules, ReadTrees, refuse, used_columns
from dtnumba.prediction.confident_votes import EVEN
from dtnumba.rules.layout import body_of
from dtnumba.rules.paths import ways_to_leaves
from dtnumba.trees.layout import LEAF, STAYS, depths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtnumba.export.languages.voters import ReadVoters
    from dtnumba.export.reading import Columns

# Levels of conditions in each other that a dialect reads: SQLite has room for a hundred words that are not closed yet,
# the others for a thousand expressions in each other.
_LEVELS = {"sqlite": 12, "duckdb": 150, "postgresql": 150}
_MOST_TERMS = 800  # of a sum
_MOST_WAYS = 20_000  # to the leaves of a graph
_FEW_COLUMNS = 3  # of what nodes say; of more, rows go down once, and the columns say what is at the nodes they reach
_MOST_TEXT = 1 << 20  # of a query of PostgreSQL, which compiles it, and takes a thousand bytes of memory a byte
_SEQUENTIAL = 7  # numbers that NumPy adds up one after another


class Query:
    """One query, from the inside out: the table, its columns as numbers, what is said, the answers."""

    def __init__(
        self, found: ReadTrees | ReadRules | ReadVoters, words: Dialect, keep: Sequence[str], table: str, *, proba: bool
    ) -> None:
        self.found, self.words, self.keep, self.table, self.proba = found, words, keep, table, proba
        self.prefix = "dt_"
        while any(name.lower().startswith(self.prefix) for name in (*keep, *found.columns.names)):
            self.prefix = f"d{self.prefix}"
        self.language = SqlConditions(words, self.prefix)
        self.kept = ", ".join(map(words.name, keep))
        self.n_levels = 0

    @property
    def columns(self) -> Columns:
        """What is known of the columns and the classes."""
        return self.found.columns

    def around(self, inner: str, added: Sequence[str], carried: Sequence[str] = ()) -> str:
        """Return a query of another one that keeps its columns and adds some."""
        listed = ", ".join([*([self.kept] if self.kept else []), *carried, *added])
        if not self.n_levels:
            self.n_levels = 1
            return f"SELECT {listed}\nFROM {inner}"
        self.n_levels += 1
        # PostgreSQL would join the queries into one, and write out and work out each column wherever it is named.
        fence = "\nOFFSET 0" if self.words.dialect == "postgresql" else ""
        return f"SELECT {listed}\nFROM ({inner}{fence}) AS {self.prefix}{self.n_levels - 1}"

    def coded(self, used: Sequence[int], more: Sequence[str] = ()) -> str:
        """Return the query of columns as numbers."""
        read_ = [
            f"{self.words.read(self.columns.names[j], self.columns.levels[j])} AS {self.language.x(j)}" for j in used
        ]
        return self.around(self.words.name(self.table), [*read_, *more])

    def text(self, style: str) -> str:
        """Return the query in a style."""
        found = self.found
        if not isinstance(found, ReadTrees):
            if style == "table":
                n = sum(own.rules.n_rules for own in ([found] if isinstance(found, ReadRules) else found.sets))
                raise ExportError(f"sql: the {n} rules are no nodes of a table; pass style='case'")
            return (self._rules(found) if isinstance(found, ReadRules) else rules_query(self, found)) + "\n"
        if found.late_votes is not None and not found.are_sure:
            remedy = "fit it with voting='soft', or export it as C or Python"
            refuse("sql", found.trees.root[:-1], "rows go down in parts, and each tree votes", remedy)
        if style == "table":
            return self._table(found) + "\n"
        written = self._cases(found) + "\n"
        if self.words.dialect == "postgresql" and len(written) > _MOST_TEXT:
            raise ExportError(
                f"sql: as conditions, {found.trees.n_nodes:,} nodes that say {found.said.shape[1]} numbers each are "
                f"{len(written):,} bytes of a query, which PostgreSQL would compile in gigabytes of memory; up to "
                f"{_MOST_TEXT:,} are written: pass style='table', or proba=False if shares are not needed"
            )
        return written

    # Trees as conditions

    def _cases(self, found: ReadTrees) -> str:
        trees = found.trees
        used = used_columns(trees)
        inner, nodes = self.coded(used), Nodes(trees)
        levels = _LEVELS[self.words.dialect]
        if trees.n_trees > _MOST_TERMS:
            raise ExportError(f"sql: a sum of {trees.n_trees} trees is too long for a query; pass style='table'")
        n_ways = ways_to_leaves(trees) if trees.is_graph else 0
        if n_ways > _MOST_WAYS:
            raise ExportError(
                f"sql: conditions in each other say each way for itself, and the graph has {n_ways:,} ways to its "
                f"leaves; up to {_MOST_WAYS:,} are written: pass style='table'"
            )
        if found.are_sure:
            return self.answers(self._sure(inner, nodes, found), found)
        if found.is_shared:
            said = [self._shared_sum(found, nodes, column) for column in range(found.said.shape[1])]
            return self.answers(self._named(inner, said), found)
        xs = [self.language.x(j) for j in used]
        n_columns = found.said.shape[1] if self._needs_numbers(found) else 0
        is_flat = int(depths(trees).max()) <= levels and n_columns <= _FEW_COLUMNS
        places: list[str] = []
        if not is_flat:
            inner, places = self._staged(inner, nodes, found, xs)
        number = self.words.number
        said = []
        for column in range(n_columns):
            own = found.said[:, column].tolist()
            terms = self._of_trees(found, nodes, places, [number(x) for x in own])
            begins = len(terms) > 1 and str(found.begin) == "0.0"
            said.append(" + ".join([number(0.0)] * begins + terms))
        more = []
        if found.labels_are_of_leaves:
            assert found.codes is not None
            for o in range(found.codes.shape[1]):
                own_codes = [str(k) for k in found.codes[:, o].tolist()]
                more.append(f"{self._of_trees(found, nodes, places, own_codes)[0]} AS {self.prefix}label{o}")
        return self.answers(self._named(inner, said, more), found)

    def _needs_numbers(self, found: ReadTrees) -> bool:
        return self.proba or not found.labels_are_of_leaves

    def _named(self, inner: str, said: Sequence[str], more: Sequence[str] = ()) -> str:
        return self.around(inner, [*(f"{one} AS {self.prefix}s{k}" for k, one in enumerate(said)), *more])

    def _of_trees(self, found: ReadTrees, nodes: Nodes, places: list[str], said: list[str]) -> list[str]:
        """Return for each tree an expression of what the node says at which a row ends."""
        if not places:
            return [self._nested(nodes, root, said, 1 << 30) for root in found.trees.root[:-1].tolist()]
        ends = (found.trees.feature == LEAF) | (found.trees.missing_left == STAYS)
        terms = []
        for t, place in enumerate(places):
            start, stop = int(found.trees.root[t]), int(found.trees.root[t + 1])
            own = (start + np.flatnonzero(ends[start:stop])).tolist()
            (most, _), *_ = Counter(said[node] for node in own).most_common(1)
            pairs = " ".join(f"WHEN {node} THEN {said[node]}" for node in own if said[node] != most)
            terms.append(f"CASE {place} {pairs} ELSE {most} END" if pairs else most)
        return terms

    def _nested(self, nodes: Nodes, root: int, said: list[str] | None, levels: int) -> str:
        """Return conditions in each other from a node down; ``said`` None: the number of the node that is reached."""
        parts: list[str] = []
        waiting: list[Any] = [(root, levels)]
        while waiting:
            one = waiting.pop()
            if isinstance(one, str):
                parts.append(one)
                continue
            node, left = one
            if node < 0 or nodes.is_leaf(node) or left == 0:
                at = ~node if node < 0 else node
                parts.append(str(node) if said is None else said[at])
                continue
            test = nodes.test(node)
            own = branches(test)
            pieces: list[Any] = ["CASE"] if len(own) > 1 else []
            for k, (condition, child) in enumerate(own):
                if len(own) > 1:
                    last = k == len(own) - 1
                    pieces.append(" ELSE " if last else f" WHEN {said_in(self.language, condition)} THEN ")
                pieces.append((~node if child is None else test.children[child], left - 1))
            pieces += [" END"] if len(own) > 1 else []
            waiting += reversed(pieces)
        return "".join(parts)

    def _staged(self, inner: str, nodes: Nodes, found: ReadTrees, xs: list[str]) -> tuple[str, list[str]]:
        """Return a query that goes down some levels after others, and the columns that hold where rows end."""
        trees, levels, depth = found.trees, _LEVELS[self.words.dialect], depths(found.trees)
        places = [f"{self.prefix}t{t}" for t in range(trees.n_trees)]
        stages = max(1, -(-int(depth.max()) // levels))
        for stage in range(stages):
            added = []
            for t, place in enumerate(places):
                start, stop = int(trees.root[t]), int(trees.root[t + 1])
                here = depth[start:stop] == stage * levels
                own = (start + np.flatnonzero(here & (trees.feature[start:stop] != LEAF))).tolist()
                if stage == 0:
                    added.append(f"{self._nested(nodes, start, None, levels)} AS {place}")
                elif own:
                    pairs = " ".join(f"WHEN {node} THEN {self._nested(nodes, node, None, levels)}" for node in own)
                    added.append(f"CASE {place} {pairs} ELSE {place} END AS {place}")
                else:
                    added.append(place)
            inner = self.around(inner, added, xs)
        turned = [f"CASE WHEN {place} < 0 THEN -1 - {place} ELSE {place} END AS {place}" for place in places]
        return self.around(inner, turned, xs), places

    def _sure(self, inner: str, nodes: Nodes, found: ReadTrees) -> str:
        """Return a query of the votes for each class: what every tree says, which class it is for, and by how much."""
        number, p, width = self.words.number, self.prefix, found.columns.width
        assert found.prior is not None
        trees = range(found.trees.n_trees)
        own = [[f"{p}t{t}s{k}" for k in range(width + 1)] for t in trees]
        sums = [self._tree_sum(found, nodes, column, t) for t in trees for column in range(width + 1)]
        names = [name for one in own for name in one]
        inner = self.around(inner, [f"{one} AS {name}" for one, name in zip(sums, names, strict=True)])
        best = []
        for t, (*shares, _) in enumerate(own):
            least = f"{self.words.largest(shares)} - {number(EVEN)}"
            pairs = " ".join(f"WHEN {share} >= {least} THEN {k}" for k, share in enumerate(shares))
            best.append(f"CASE {pairs} END AS {p}best{t}")
        inner = self.around(inner, best, names)
        votes = []
        for k in range(width):
            terms = [number(0.0)]
            for t, prior in enumerate(found.prior[:, k].tolist()):
                sure = f"({own[t][k]} * {own[t][-1]} + {number(prior)}) / ({own[t][-1]} + {number(1.0)})"
                terms.append(f"CASE {p}best{t} WHEN {k} THEN {sure} ELSE {number(0.0)} END")
            votes.append(" + ".join(terms))
        return self._named(inner, votes)

    def _shared_sum(self, found: ReadTrees, nodes: Nodes, column: int) -> str:
        """Return the sum over the trees of what each of them says of a row that goes down in parts."""
        sums = [self._tree_sum(found, nodes, column, t) for t in range(found.trees.n_trees)]
        return " + ".join([self.words.number(0.0), *sums])

    def _tree_sum(self, found: ReadTrees, nodes: Nodes, column: int, t: int) -> str:
        """Return the sum over the leaves of the part of a row that goes there times what the leaf says."""
        trees, number = found.trees, self.words.number
        terms: list[str] = []
        waiting: list[tuple[int, tuple[str, ...]]] = [(int(trees.root[t]), ())]
        while waiting:
            node, factors = waiting.pop()
            if nodes.is_leaf(node):
                terms.append(" * ".join([*factors, number(float(found.said[node, column]))]))
                continue
            test = nodes.test(node)
            own = {way: said_in(self.language, condition) for condition, way in shared_branches(test)}
            codes = [code for code, way in enumerate(test.ways) if way >= 0]
            known = self.language.known(test.feature)
            if test.kind == MAP:
                known = self.language.among(test.feature, codes)
            assert test.shares is not None
            for way in range(len(test.children) - 1, -1, -1):
                here = f"WHEN {own[way]} THEN {number(1.0)} " if way in own else ""
                share = number(test.shares[way])
                factor = f"CASE {here}WHEN {known} THEN {number(0.0)} ELSE {share} END"
                waiting.append((test.children[way], (*factors, factor)))
        if len(terms) > _MOST_TERMS:
            refuse(
                "sql",
                trees.root[t : t + 1],
                f"rows go down in parts to {len(terms)} leaves, and a query adds up {_MOST_TERMS}",
                "prune the tree, or export it as C or Python",
            )
        return f"({' + '.join([number(0.0), *terms])})"

    # Trees as a table of nodes

    def _table(self, found: ReadTrees) -> str:
        head, inner = walk_of(self, found)
        self.n_levels = 1
        return head + self.answers(inner, found)

    # Rules

    def _rules(self, found: ReadRules) -> str:
        rules, number = found.rules, self.words.number
        tests = [
            " AND ".join(said_in(self.language, of_rule(test)) for test in body_of(rules, r)) or "1 = 1"
            for r in range(rules.n_rules)
        ]
        inner = self.coded(sorted(set(rules.tests.feature.tolist())))
        pairs = " ".join(f"WHEN {test} THEN {r}" for r, test in enumerate(tests))
        first = f"CASE {pairs} ELSE {rules.n_rules} END" if tests else str(rules.n_rules)
        answer = f"{self.prefix}answer"
        outcomes, k_classes = np.append(rules.label, rules.default).tolist(), rules.n_classes
        if not found.by_votes:
            inner = self.around(inner, [f"{first} AS {answer}"])
            label = f"CASE {answer} {' '.join(f'WHEN {r} THEN {k}' for r, k in enumerate(outcomes))} END"
            shares = [
                f"CASE {answer} {' '.join(f'WHEN {r} THEN {number(x)}' for r, x in enumerate(own))} END"
                for own in found.shares.T.tolist()
            ]
            return self.final(inner, [label], shares)
        if self.proba and k_classes > _SEQUENTIAL:
            raise ExportError(
                f"sql: the shares of {k_classes} classes are sums of votes in an order of NumPy's own; pass proba=False"
            )
        votes: list[list[str]] = [[number(0.0)] for _ in range(k_classes)]
        for test, k, sure in zip(tests, outcomes, rules.confidence.tolist(), strict=False):
            votes[k].append(f"CASE WHEN {test} THEN {number(sure)} ELSE {number(0.0)} END")
        if max(map(len, votes)) > _MOST_TERMS:
            raise ExportError(f"sql: {rules.n_rules} rules vote, more than the {_MOST_TERMS} that a query adds up")
        inner = self._named(inner, [" + ".join(own) for own in votes], [f"{first} AS {answer}"])
        s = [f"{self.prefix}s{k}" for k in range(k_classes)]
        is_open = f"{answer} = {rules.n_rules}"
        label = f"CASE WHEN {is_open} THEN {rules.default} ELSE {self.largest_of(s)} END"
        total = self.words.largest([f"({' + '.join([number(0.0), *s])})", number(1e-300)])
        shares = [
            f"CASE WHEN {is_open} THEN {number(x)} ELSE {own} / {total} END"
            for own, x in zip(s, found.shares[-1].tolist(), strict=True)
        ]
        return self.final(inner, [label], shares)

    # Answers

    def answers(self, inner: str, found: ReadTrees) -> str:
        """Return the whole query, around one of sums s0, s1, ... and perhaps of labels."""
        n_columns = found.n_summed if self._needs_numbers(found) else 0
        s = [f"{self.prefix}s{k}" for k in range(n_columns)]
        labels = [f"{self.prefix}label{o}" for o in range(len(found.columns.sizes))]
        own_labels = found.labels_are_of_leaves
        if found.is_mean:
            n = self.words.number(float(found.trees.n_trees))
            inner = self.around(inner, [f"{one} / {n} AS {one}" for one in s])
            if found.says_second:
                first = f"{self.words.number(1.0)} - {s[0]} AS {self.prefix}s1"
                inner, s = self.around(inner, [first, s[0]]), [f"{self.prefix}s1", s[0]]
        if found.prior is not None and not found.are_sure:
            n, one = s[-1], self.words.number(1.0)
            more = [self.words.number(p) for p in found.prior.tolist()]
            lines = [f"({x} * {n} + {p}) / ({n} + {one}) AS {x}" for x, p in zip(s[:-1], more, strict=True)]
            inner = self.around(inner, lines)
            s = s[:-1]
        if found.columns.classes is None:
            return self.final(inner, s, [])
        chosen, start = [], found.label_from
        for o, size in enumerate(found.columns.sizes):
            own = s[start : start + size]
            if own_labels:
                chosen.append(labels[o])
            elif found.rule is not None:
                inner, costs = self._with_costs(inner, own, s, found.rule.costs)
                least = f"{self.words.largest(costs, least=True)} * {self.words.number(1.0 + 1e-9)}"
                pairs = " ".join(f"WHEN {cost} <= {least} THEN {k}" for k, cost in enumerate(costs))
                chosen.append(f"CASE {pairs} END")
            else:
                chosen.append(self.largest_of(own))
            start += size
        if found.are_sure:
            total = f"({' + '.join([self.words.number(0.0), *s])})"
            return self.final(inner, chosen, [f"{one} / {total}" for one in s])
        return self.final(inner, chosen, s[: found.columns.width])

    def largest_of(self, own: Sequence[str]) -> str:
        """Return the place of the largest of some numbers, the first on ties."""
        pairs = " ".join(f"WHEN {one} THEN {k}" for k, one in enumerate(own))
        return f"CASE {self.words.largest(own)} {pairs} END"

    def _with_costs(self, inner: str, own: Sequence[str], s: Sequence[str], costs: Any) -> tuple[str, list[str]]:
        names = [f"{self.prefix}c{k}" for k in range(len(own))]
        sums = [
            " + ".join(f"{share} * {self.words.number(float(cost))}" for share, cost in zip(own, column, strict=True))
            for column in costs.T
        ]
        return self.around(inner, [f"{one} AS {name}" for one, name in zip(sums, names, strict=True)], s), names

    def final(self, inner: str, chosen: Sequence[str], shares: Sequence[str]) -> str:
        """Return the outermost query: labels for their places, or numbers."""
        classes, name = self.columns.classes, self.words.name
        if classes is not None:
            chosen = [
                f"CASE {one} {' '.join(f'WHEN {k} THEN {self.words.value(label)}' for k, label in enumerate(own))} END"
                for one, own in zip(chosen, classes, strict=True)
            ]
        many = len(chosen) > 1
        added = [f"{one} AS {name(f'prediction_{o}' if many else 'prediction')}" for o, one in enumerate(chosen)]
        if self.proba and classes is not None:
            added += [f"{one} AS {name(f'probability_{k}')}" for k, one in enumerate(shares)]
        return self.around(inner, added)
