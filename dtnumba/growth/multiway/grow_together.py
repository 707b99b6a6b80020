"""One tree on several threads: the columns of its large nodes side by side, then the subtrees below, each by itself.

What is grown is the same to the bit on any number of threads: a column is worked on by one of them from the sums of the
node, and a subtree knows its rows and the key of its root alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.growth.columns import DEPTH, NO_LIMIT, START, STOP
from dtnumba.growth.multiway import columns as col
from dtnumba.growth.multiway.arrays import new_nodes, new_scratch, with_context, with_room
from dtnumba.growth.multiway.coded_columns import room_of
from dtnumba.growth.multiway.grow import grow_general
from dtnumba.growth.multiway.join_subtrees import cut_to_size, joined_subtrees
from dtnumba.growth.multiway.node_sums import NumberSums
from dtnumba.growth.policies.feature_sampling import draw
from dtnumba.growth.policies.node_order import is_best_first
from dtnumba.runtime.addresses import call_entry, caller_of, code_for
from dtnumba.runtime.threads.cores import has_free_core
from dtnumba.runtime.threads.hands import Hands

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dtnumba.growth.multiway.coded_columns import CodedColumns
    from dtnumba.growth.multiway.nodes import GrowerContext, GrownNodes

# Rows times columns: of a tree that one thread grows alone, and of the subtrees that the threads take
_ALONE = 1 << 17
_SHORT = 3 << 19  # of a tree that is grown in less time than a thread may wait for a core that is busy
_LEAST_APART, _MOST_APART = 1 << 15, 1 << 20
_SUBTREES_A_WORKER = 4
_TRIFLE = 1 << 12  # what the leader grows where it meets it


def shared(work: GrowerContext, n: int, workers: int) -> GrowerContext:
    """Return the arguments of growth with what of a tree of n rows is shared by so many threads."""
    cells = n * len(work.n_codes)
    if workers == 1 or cells < _ALONE or (cells < _SHORT and not has_free_core()):
        return work
    least = int(np.clip(cells // (_SUBTREES_A_WORKER * workers), _LEAST_APART, _MOST_APART))
    apart = 0 if is_best_first(work.limits) else least
    rules = work.rules._replace(shared_from=least, apart_from=_TRIFLE, apart_below=apart)
    return with_context(work, rules=rules)


def grow_nodes(
    work: GrowerContext, table: CodedColumns, n: int, workers: int, entries: tuple[dict[str, Any], dict[str, Any]]
) -> GrownNodes | None:
    """Grow a tree over the n rows listed; None where it was stopped before it was whole.

    ``entries`` are the kernels by name: those that know the criterion, and the others.
    """
    work = shared(work, n, workers)
    if work.rules.shared_from == NO_LIMIT:
        return grow_alone(work, n)[0]
    lacks_values = table.may_lack_values  # before the orders change
    with Hands(workers) as hands:
        return _Together(work, table, n, hands, entries, lacks_values=lacks_values).grow()


def grow_alone(work: GrowerContext, n: int) -> tuple[GrownNodes | None, GrowerContext]:
    """Grow a tree over the n rows listed, or go on with one, on one thread.

    Returns the tree, None where it was stopped, and the arguments with the arrays as they are then.
    """
    while True:
        call_entry(code_for(grow_general, work), n, 0, 0)
        status = work.grown.state[col.STATUS]
        if status in (col.STOPPED, col.DONE):
            return work.grown if status == col.DONE else None, work
        work = with_context(work, grown=with_room(work.grown, keeps_order=not is_best_first(work.limits)))


class _Subtree(NamedTuple):
    """A subtree that is grown by itself: where it hangs, and its rows, as views or copies."""

    node: int
    key: Any
    depth: int
    row: Any
    weight: Any
    part: Any
    outcome: Any
    orders: Any


class _Together:
    """The growth of one tree."""

    def __init__(
        self, work: GrowerContext, table: CodedColumns, n: int, hands: Hands, entries: Any, *, lacks_values: bool
    ) -> None:
        self.work = work
        self.of_tests, self.of_nodes = entries
        self.table = table
        self.n = n
        self.hands = hands
        self.in_parts = work.rules.missing == col.FRACTIONAL and lacks_values
        self.pieces: list[tuple[int, GrownNodes]] = []
        self.lone_rules = work.rules._replace(shared_from=int(NO_LIMIT), apart_below=0)
        own = work.scratch
        # Who helps has room of its own, and reads and writes what belongs to the node in that of the leader.
        self.scratch = [own] + [
            new_scratch(table, work.target, n, work.rules)._replace(
                row_child=own.row_child,
                side=own.side,
                new_place=own.new_place,
                child_start=own.child_start,
                n_whole=own.n_whole,
                dealt=own.dealt,
                gain=own.gain,
                information=own.information,
                fan=own.fan,
                agreed=own.agreed,
                agreed_cut=own.agreed_cut,
            )
            for _ in range(1, hands.workers)
        ]
        self._bind()

    def _bind(self) -> None:
        """Make what is called for a column, for each worker, with the arrays as they are now."""
        works = [with_context(self.work, scratch=scratch) for scratch in self.scratch]
        self._go = caller_of(code_for(grow_general, self.work))
        self._callers: dict[str, list[Callable[[int, int, int], int]]] = {
            name: [caller_of(code_for(entry, one.test_context)) for one in works]
            for name, entry in self.of_tests.items()
        } | {
            name: [caller_of(code_for(entry, one.test_context.context)) for one in works]
            for name, entry in self.of_nodes.items()
        }

    def grow(self) -> GrownNodes | None:
        """Return the tree, None where it was stopped."""
        while True:
            self._go(self.n, 0, 0)
            work, state = self.work, self.work.grown.state
            status, node = int(state[col.STATUS]), int(state[col.NODE_IN_HAND])
            if status in (col.STOPPED, col.DONE):
                break
            if status == col.LOOK:
                state[col.N_VARYING] = self._look(node)
            elif status == col.FIND_SURROGATES:
                self._agree(node)
            elif status == col.DIVIDE_COLUMNS:
                start, stop = (int(work.grown.nodes[node, c]) for c in (START, STOP))
                self._divide(start, stop - start)
            elif status == col.LEAVE_APART:
                self._leave_apart(node)
            else:
                self.work = with_context(work, grown=with_room(work.grown, keeps_order=not is_best_first(work.limits)))
                self._bind()
        self.hands.finish()
        if self.work.halt[0] != 0:
            return None
        whole: GrownNodes = joined_subtrees(self.work.grown, self.pieces)
        return whole

    def _agree(self, node: int) -> None:
        """Find the best surrogate on each column for the split of a node."""
        agree = self._callers["agree"]
        self.hands.each(lambda k, worker: agree[worker](k, node, 0), len(self.work.n_codes))

    def _divide(self, start: int, n: int) -> None:
        """Divide the columns in order of a node as its rows were dealt."""
        divide = self._callers["columns"]
        self.hands.each(lambda k, worker: divide[worker](k, start, n), len(self.work.grown.orders))

    def _look(self, node: int) -> int:
        """Find the best test of each drawn column; return how many of them vary."""
        work, varying = self.work, [0] * self.hands.workers
        n = min(int(work.limits.n_drawn), len(work.n_codes))
        with np.errstate(over="ignore"):  # as kernels do
            draw(work.drawing, work.scratch, work.grown.keys[node], 0, n)
        features = work.scratch.features[:n].tolist()

        def look(k: int, worker: int) -> None:
            name = "category" if work.nominal[features[k]] else "number"
            varying[worker] += self._callers[name][worker](features[k], node, 0)

        self.hands.each(look, len(features))
        return sum(varying)

    def _leave_apart(self, node: int) -> None:
        grown = self.work.grown
        start, stop, depth = (int(grown.nodes[node, c]) for c in (START, STOP, DEPTH))
        rows, several = slice(start, stop), len(grown.outcome) == 0
        outcome = grown.outcome[:0] if several else grown.outcome[rows]
        parts: list[Any] = [grown.row[rows], grown.weight[rows], grown.part[rows], outcome, grown.orders[:, rows]]
        if self.in_parts:  # lists that grow longer may take this room
            parts = [*(part.copy() for part in parts[:-1]), self._own_orders(parts[-1])]
        one = _Subtree(node, grown.keys[node], depth, *parts)
        self.hands.leave(lambda _: self._grow_subtree(one), stop - start)

    def _own_orders(self, orders: NDArray[np.uint64]) -> NDArray[np.uint64]:
        own = np.empty((len(orders), room_of(orders.shape[1], self.in_parts)), np.uint64)
        own[:, : orders.shape[1]] = orders
        return own

    def _grow_subtree(self, one: _Subtree) -> None:
        if self.work.halt[0] != 0:
            return
        n, work = len(one.row), self.work
        orders = one.orders if self.in_parts else self._own_orders(one.orders)
        target = work.target
        if isinstance(target, NumberSums):
            target = target._replace(measure=target.measure.copy())
        grown = new_nodes(self.table, target, orders, n, self.lone_rules)
        grown = grown._replace(place_bits=work.grown.place_bits, place_mask=work.grown.place_mask)
        scratch = new_scratch(self.table, target, n, self.lone_rules)
        if work.grown.part is work.grown.weight:
            grown, scratch = grown._replace(part=grown.weight), scratch._replace(part=scratch.weight)
        work = with_context(work, grown=grown, scratch=scratch, target=target, rules=self.lone_rules)
        work = work._replace(root_key=one.key, root_depth=one.depth, is_root=0)
        for name in ("row", "weight", "part", "outcome"):
            getattr(grown, name)[: len(getattr(one, name))] = getattr(one, name)
        done, _ = grow_alone(work, n)
        if done is not None:
            self.pieces.append((one.node, cut_to_size(done)))
