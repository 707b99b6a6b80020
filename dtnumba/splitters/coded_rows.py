"""What splitters over codes share: rows in node order, divided by their codes. Mixed into the splitters."""

from dtnumba.growing import FEATURE, LAST_LEFT, MISSING_LEFT, START, STOP
from dtnumba.partition import partition_rows


class CodedRows:
    """Rows in node order, and their codes."""

    __slots__ = ()

    def row_at(self, i):
        return self.rows[i]

    def row_in_order(self, o, i):
        return self.rows[o * self.n_rows + i]

    def divide(self, growing, own, node):
        nodes = growing.nodes
        f, start, stop = nodes[node, FEATURE], nodes[node, START], nodes[node, STOP]
        border = start
        for o in range(self.n_orders):
            border = partition_rows(
                self.rows,
                o * self.n_rows,
                start,
                stop,
                self.codes,
                f,
                nodes[node, LAST_LEFT],
                self.n_codes[f],
                nodes[node, MISSING_LEFT],
                own.buffer,
            )
        return border


class NothingKept:
    """Nothing is prepared for a node, and nothing handed on."""

    __slots__ = ()

    def begin(self, growing, target, limits, own, node):
        pass

    def inherit(self, growing, target, own, node, left):
        pass

    def release(self, growing, own, node):
        pass
