# mypy: ignore-errors
# ruff: noqa: D103
"""Sixty-four rows at once through a complete tree of depth six."""

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from dtnumba.runtime.kernels import COMPILED

if COMPILED:

    @intrinsic
    def choose_leaves(typingctx, columns, offsets, ranks, tree, leaves, at):
        """Write to leaves[at:at + 64] which leaf of a complete tree of depth 6 each of 64 rows ends in.

        Node k of the tree, of 63 in breadth-first order, sends left the rows r with columns[offset + r] <= rank, where
        the two numbers are item 63 * tree + k of ``offsets`` and ``ranks``. Vectors of the compiler's, without a branch
        or a gather: a comparison and a selection a node for all rows.
        """
        rows = 64

        def codegen(context, builder, signature, args):
            whole, wide = ir.IntType(64), ir.VectorType(ir.IntType(16), rows)
            bytes_ = ir.VectorType(ir.IntType(8), rows)
            column, offset, rank, leaf = (
                context.make_array(signature.args[i])(context, builder, args[i]).data for i in (0, 1, 2, 4)
            )
            first = builder.mul(args[3], ir.Constant(whole, rows - 1))
            none = ir.Constant(wide, ir.Undefined)
            lane_0 = ir.Constant(ir.IntType(32), 0)
            all_lanes = ir.Constant(ir.VectorType(ir.IntType(32), rows), [0] * rows)

            def choose(node):
                if node >= rows - 1:
                    return ir.Constant(bytes_, [node - (rows - 1)] * rows)
                item = builder.add(first, ir.Constant(whole, node))
                start = builder.zext(builder.load(builder.gep(offset, [item])), whole)
                x = builder.load(builder.bitcast(builder.gep(column, [start]), wide.as_pointer()), align=2)
                bound = builder.insert_element(none, builder.load(builder.gep(rank, [item])), lane_0)
                goes_left = builder.icmp_unsigned("<=", x, builder.shuffle_vector(bound, none, all_lanes))
                left = choose(2 * node + 1)
                return builder.select(goes_left, left, choose(2 * node + 2))

            target = builder.bitcast(builder.gep(leaf, [args[5]]), bytes_.as_pointer())
            builder.store(choose(0), target, align=1)
            return context.get_dummy_value()

        return types.void(columns, offsets, ranks, types.int64, leaves, types.int64), codegen

else:

    def choose_leaves(columns, offsets, ranks, tree, leaves, at):
        for row in range(64):
            node = 0
            while node < 63:
                item = 63 * tree + node
                node = 2 * node + 1 + int(columns[int(offsets[item]) + row] > ranks[item])
            leaves[at + row] = node - 63
