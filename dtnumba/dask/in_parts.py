"""A forest whose rows stay where they are, step by step: which tasks there are, and when they are sent.

Trees grow in blocks, two at a time, so that the parts have work while splits are picked. A block is as large as the
row lists of its trees leave memory for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from dtnumba.dask.fitting import WEIGHING, cells_of_all, one_of
from dtnumba.dask.levels import Prices, added
from dtnumba.dask.partition import (
    advanced,
    are_done,
    begin_trees,
    begun,
    gathered_of,
    grown_below,
    package,
    picked,
    whole_tree,
)
from dtnumba.dask.parts import (
    decisions_of,
    drawing_of,
    part_of,
    plan_without_rows,
    room_for,
    share_of,
    whole_of,
    written,
)
from dtnumba.dask.strategy import GATHERED_BYTES, LISTS_BYTES, gathered_row_bytes, lists_bytes
from dtnumba.estimators.bases.parameters import features_drawn
from dtnumba.growth.targets.contract import MOST_KEPT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtnumba.dask.fitting import RowsInParts
    from dtnumba.dask.running import Tasks
    from dtnumba.dask.strategy import Extent
    from dtnumba.runtime.progress import Monitor


_AT_ONCE = 2  # blocks
BYTE_LEVELS = 255  # of a category whose codes take a byte each, as those of numbers


def obstacle(model: Any, rows: RowsInParts) -> str:
    """Return what a forest asks for that this way of growing does not offer; empty where there is nothing."""
    columns, is_one = rows.columns, not hasattr(model, "_tree_class")
    splitter = model.splitter if is_one else model._tree_class.splitter
    has_levels = columns.nominal is not None and bool(columns.nominal.any())
    asked = {
        f"categories of more than {BYTE_LEVELS} levels": most_levels(columns) > BYTE_LEVELS,
        "very many classes": columns.target.kind == "classes" and columns.target.width > MOST_KEPT,
        "criterion='absolute_error'": model.criterion == "absolute_error",
        "random thresholds beside categories": has_levels and splitter != "best",
        f"one tree with max_features={model.max_features!r}": is_one
        and features_drawn(model.max_features, columns.n_features) < columns.n_features,
        "max_leaf_nodes": model.max_leaf_nodes is not None,
        "monotonic_cst": model.monotonic_cst is not None,
        "interaction_cst": model.interaction_cst is not None,
        "min_significance": model.min_significance is not None,
        f"importance={getattr(model, 'importance', None)!r}": getattr(model, "importance", "impurity") != "impurity",
        "a criterion of one's own": not isinstance(model.criterion, str),
    }
    return ", ".join(name for name, is_asked in asked.items() if is_asked)


def in_parts_of(extent: Extent, model: Any, columns: Any) -> Extent:
    """Return the extent of a fit with what trees that grow in parts need besides."""
    is_weighted = extent.weighted or any(getattr(model, name, None) is not None for name in WEIGHING)
    depth = extent.max_depth if model.max_depth is None else min(model.max_depth, extent.max_depth)
    count_bytes, node = 8 if is_weighted else 1, table_bytes(model, columns)
    return extent._replace(count_bytes=count_bytes, table_bytes=node, max_depth=depth)


def table_bytes(model: Any, columns: Any) -> int:
    """Return the bytes of the tables of a node: of the features that it draws."""
    bins, target = max(model.max_bins, most_levels(columns)) + 1, columns.target
    sums = max(1, target.width - 1) if target.kind == "classes" else 1 + target.width
    return int(8 * features_drawn(model.max_features, columns.n_features) * bins * sums)


def most_levels(columns: Any) -> int:
    """Return how many levels the category with most of them has."""
    return max((0 if one is None else len(one) for one in columns.levels or ()), default=0)


class Sent(NamedTuple):
    """What trees that grow in parts had sent."""

    tables: int  # of a feature of a node each
    gathered: int  # rows that were brought together
    leaves: int  # rows of which only the targets were
    away: int  # rows whose nodes another worker grows than the one that puts their tree together


class Threads:
    """The rows of the cluster in as many parts as it has threads, each where its codes are.

    Parameters
    ----------
    tasks : Tasks
        Of the fit.
    rows : Rows
        Read, but for their codes.
    threads : sequence of str
        The worker of each thread.
    monitor : Monitor
        Watches the work.

    """

    def __init__(self, tasks: Tasks, rows: RowsInParts, threads: Sequence[str], monitor: Monitor) -> None:
        self.tasks, self.rows, self.monitor = tasks, rows, monitor
        self.sent, self.dealt = Sent(0, 0, 0, 0), 0
        self.whole = tasks.send(whole_of, rows.model, rows.sealed, rows.edges, rows.target, name="whole")
        self.plan = tasks.send(plan_without_rows, self.whole, name="plan")
        self.decisions = tasks.send(decisions_of, self.whole, name="decisions")
        # Coded where they are read: where a part is chosen first, Dask reads partitions on one worker for another.
        cells = cells_of_all(tasks, rows)
        self._take(*self._deal(threads, cells), cells)

    def _deal(self, threads: Sequence[str], cells: Sequence[Any]) -> tuple[list[str], list[list[int]]]:
        """Return which partitions each thread gets: as far as all have their share, those whose codes are there."""
        tasks, lengths = self.tasks, self.rows.columns.lengths
        tasks.wait(cells, self.monitor)
        where: dict[Any, Any] = tasks.client.who_has(cells)
        shares: list[list[int]] = [[] for _ in threads]
        held, left, most = [0] * len(threads), [], -(-sum(lengths) // len(threads))
        for k, one in enumerate(cells):
            own = [i for i, address in enumerate(threads) if address in where.get(one.key, ())]
            own = [i for i in own if held[i] + lengths[k] <= 1.25 * most]
            if own:
                i = min(own, key=held.__getitem__)
                shares[i].append(k)
                held[i] += lengths[k]
            else:
                left.append(k)
        for k in left:
            i = min(range(len(threads)), key=held.__getitem__)
            shares[i].append(k)
            held[i] += lengths[k]
            self.dealt += 0 if threads[i] in where.get(cells[k].key, ()) else lengths[k]
        self.most_rows = max(held)
        full = [i for i, n in enumerate(held) if n]
        return [threads[i] for i in full], [shares[i] for i in full]

    def _take(self, threads: list[str], shares: list[list[int]], cells: list[Any]) -> None:
        """Make the parts: the codes of each partition are written to their place in its part, and not held twice."""
        tasks, rows = self.tasks, self.rows
        self.threads = threads
        lengths, starts = rows.columns.lengths, rows.columns.starts
        codes = (rows.sealed, rows.edges)
        rooms = [
            tasks.send(room_for, *codes, sum(lengths[k] for k in share), worker=thread)
            for thread, share in zip(threads, shares, strict=True)
        ]
        filled = [0] * len(threads)
        for turn in range(max(map(len, shares))):
            for i, share in enumerate(shares):
                if turn < len(share):
                    k, before = share[turn], rooms[i]
                    rooms[i] = tasks.send(written, before, cells[k], filled[i], worker=threads[i])
                    filled[i] += lengths[k]
                    tasks.forget([before, cells[k]])
        drawing, self.parts = tasks.send(drawing_of, self.whole, name="drawing"), []
        for thread, share, room in zip(threads, shares, rooms, strict=True):
            places = [(int(starts[k]), int(starts[k + 1])) for k in share]
            own = tasks.send(share_of, self.whole, places)
            self.parts.append(tasks.send(part_of, self.plan, drawing, own, places, room, worker=thread, name="part"))
            tasks.forget([own, room])  # parts have them; whoever loses one makes them anew

    def trees(self, first: int, stop: int) -> tuple[list[Any], list[Any]]:
        """Return futures of trees first .. stop - 1, and the trees that were there before the work was stopped."""
        prices = self._prices()
        tree = lists_bytes(self.rows.extent, self.most_rows, len(self.parts))
        size = max(1, min(LISTS_BYTES // tree, -(-(stop - first) // _AT_ONCE)))
        waiting = [(a, min(a + size, stop)) for a in range(first, stop, size)]
        sent: list[Any] = []
        found: list[Any] = []
        while waiting and len(found) == len(sent):
            now, waiting = waiting[:_AT_ONCE], waiting[_AT_ONCE:]
            blocks = [_Block(self, a, b, prices) for a, b in now]
            if not self._split_large(blocks):
                break
            own = [future for block in blocks for future in block.finish()]
            sent += own
            self.sent = Sent(*(sum(each) for each in zip(self.sent, *(block.sent for block in blocks), strict=True)))
            found += self.tasks.results(own, self.monitor, [1] * len(own))
        return sent, found

    def _prices(self) -> Prices:
        """Return what it costs to bring rows together, and to add tables up."""
        model, columns = self.rows.model.content, self.rows.columns
        row = gathered_row_bytes(self.rows.extent)
        return Prices(GATHERED_BYTES // row, row, len(self.parts) * table_bytes(model, columns))

    def _split_large(self, blocks: Sequence[_Block]) -> bool:
        """Split the large nodes of blocks, a level of each in turn; return whether that came to its end."""
        growing = list(blocks)
        while growing:
            for block in tuple(growing):
                found = self.tasks.results([block.done], self.monitor)
                if not found:
                    return False
                if found[0]:
                    growing.remove(block)
                else:
                    block.go_on()
        return True


class _Block:
    """Some trees that grow together."""

    def __init__(self, parts: Threads, first: int, stop: int, prices: Prices) -> None:
        self.parts, self.tasks = parts, parts.tasks
        by_rows = not hasattr(parts.rows.model.content, "_tree_class")
        self.known = self.tasks.send(begin_trees, parts.plan, first, stop, prices, by_rows, name="trees")
        self.results = self._each(begun, self.tasks.send(one_of, self.known, 1))
        self._pick()

    def _each(self, function: Any, *args: Any, each: Sequence[Any] = ()) -> list[Any]:
        own = each or [()] * len(self.parts.parts)
        return [
            self.tasks.send(function, part, *one, *args, worker=thread)
            for part, thread, one in zip(self.parts.parts, self.parts.threads, own, strict=True)
        ]

    def _pick(self) -> None:
        """Send what picks the splits of a level, once the parts have told of it."""
        told = self._summed([self.tasks.send(one_of, result, 1) for result in self.results])
        before, self.known = self.known, self.tasks.send(picked, self.known, told, name="picked")
        self.done = self.tasks.send(are_done, self.known)
        self.tasks.forget([before, told])

    def go_on(self) -> None:
        """Send the next level; what is not needed any more is let go of."""
        states = [(self.tasks.send(one_of, result, 0),) for result in self.results]
        before, self.results = self.results, self._each(advanced, self.tasks.send(one_of, self.known, 1), each=states)
        self.tasks.forget([*before, *[state for (state,) in states], self.done])
        self._pick()

    def _summed(self, told: list[Any]) -> Any:
        """Return the sum of answers, added up in a tree."""
        while len(told) > 1:
            pairs = zip(told[::2], told[1::2], strict=False)
            sums = [self.tasks.send(added, a, b) for a, b in pairs]
            self.tasks.forget(told[: len(told) // 2 * 2])
            told = sums + told[len(told) // 2 * 2 :]
        return told[0]

    def finish(self) -> list[Any]:
        """Have everything below the large nodes grown; return a future a tree."""
        (nodes_of_trees,) = self.tasks.all_results([self.tasks.send(gathered_of, self.known)], self.parts.monitor)
        states = [(self.tasks.send(one_of, result, 0),) for result in self.results]
        trees: list[Any] = []
        passed = [state for (state,) in states]
        plan, threads = self.parts.plan, self.parts.threads
        rows = [n for left in nodes_of_trees for _, n in left.gathered]
        leaves = [n for left in nodes_of_trees for _, n in left.leaves]
        n_away = 0
        for place, left in enumerate(nodes_of_trees):
            grown: list[Any] = []
            n_rows, at = dict(left.gathered), dict.fromkeys(threads, 0)  # by where they grow
            groups = [(group, False) for group in _groups(left.gathered, gathered_row_bytes(self.parts.rows.extent))]
            groups += [(group, True) for group in _groups(left.leaves, 9 + 16 * self.parts.rows.columns.target.width)]
            for group, are_leaves in groups:
                packages = self._each(package, place, group, are_leaves, each=states)
                worker = threads[(place + len(grown)) % len(threads)]
                at[worker] += sum(n_rows.get(node, 0) for node in group)
                passed += packages
                args = plan, self.known, place, group, are_leaves
                grown.append(self.tasks.send(grown_below, *args, *packages, worker=worker))
            n_away += sum(at.values()) - max(at.values())
            own = self.parts.rows.model, self.parts.decisions, plan, self.known, place
            trees.append(self.tasks.send(whole_tree, *own, *grown, name="tree"))
            passed += grown
        self.sent = Sent(sum(left.n_tables for left in nodes_of_trees), sum(rows), sum(leaves), n_away)
        self.tasks.forget([*passed, *self.results, self.known, self.done])
        return trees


def _groups(nodes: Sequence[tuple[int, int]], row_bytes: int) -> list[list[int]]:
    """Return nodes in groups of so many rows as are brought together for a task."""
    groups: list[list[int]] = []
    most, held = GATHERED_BYTES // row_bytes, 0
    for node, n in nodes:
        if not groups or held + n > most:
            groups.append([])
            held = 0
        groups[-1].append(node)
        held += n
    return groups
