# mypy: ignore-errors
"""NamedTuples in kernels: one field changed, and one worker's part of scratch that every worker has.

Both are written as instructions, because a constructor that lists forty fields compiles forty reads and checks.
"""

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import _Intrinsic

from dtnumba.runtime.kernels import COMPILED


class _Twin(_Intrinsic):
    """An instruction for kernels that Python calls as well: there a plain function does the same."""

    def __init__(self, name, define, in_python):
        super().__init__(name, define)
        self._in_python = in_python
        self._register()

    def __call__(self, *args):
        return self._in_python(*args)


def _tuple_of(kinds, like):
    """Return the type of a NamedTuple of these kinds of items, of the same class as another."""
    return types.BaseTuple.from_types(kinds, like.instance_class)


def replacing(name):
    """Make ``f(record, value)``: the same NamedTuple with the field ``name`` changed, to another type if need be."""

    def in_python(record, value):
        return record._replace(**{name: value})

    def define(typingctx, record, value):
        at, value = record.fields.index(name), types.unliteral(value)
        is_number = isinstance(value, types.Number) and isinstance(record.types[at], types.Number)
        kind = record.types[at] if is_number else value
        result = _tuple_of([kind if k == at else item for k, item in enumerate(record.types)], record)

        def codegen(context, builder, signature, args):
            item = context.cast(builder, args[1], value, kind)
            if result == record:
                return builder.insert_value(args[0], item, at)
            items = [item if k == at else builder.extract_value(args[0], k) for k in range(len(record))]
            return context.make_tuple(builder, result, items)

        return result(record, value), codegen

    return _Twin(f"replacing_{name}", define, in_python) if COMPILED else in_python


def _part_in_python(record, worker):
    if isinstance(record, tuple):
        return type(record)(*(_part_in_python(item, worker) for item in record))
    return record[worker, 0] if isinstance(record, np.ndarray) and record.ndim > 2 else record


def _kind_of_part(kind):
    if isinstance(kind, types.BaseNamedTuple):
        return _tuple_of([_kind_of_part(item) for item in kind.types], kind)
    return kind.copy(ndim=kind.ndim - 2) if isinstance(kind, types.Array) and kind.ndim > 2 else kind


def _part_of(context, builder, kind, value, worker):
    """Return one worker's part: of an array its (worker, 0), of a NamedTuple that of each item, else the value."""
    if isinstance(kind, types.BaseNamedTuple):
        parts = [_part_of(context, builder, k, builder.extract_value(value, i), worker) for i, k in enumerate(kind)]
        return context.make_tuple(builder, _kind_of_part(kind), parts)
    own = _kind_of_part(kind)
    if own == kind:
        return value
    whole, part = context.make_array(kind)(context, builder, value), context.make_array(own)(context, builder)
    byte = ir.IntType(8).as_pointer()
    shape, strides = (cgutils.unpack_tuple(builder, item, kind.ndim) for item in (whole.shape, whole.strides))
    at = builder.gep(builder.bitcast(whole.data, byte), [builder.mul(worker, strides[0])])
    part.data = builder.bitcast(at, part.data.type)
    part.shape, part.strides = (cgutils.pack_array(builder, item[2:], ir.IntType(64)) for item in (shape, strides))
    n_items = shape[2]
    for extent in shape[3:]:
        n_items = builder.mul(n_items, extent)
    part.nitems, part.itemsize, part.meminfo, part.parent = n_items, whole.itemsize, whole.meminfo, whole.parent
    return part._getvalue()  # noqa: SLF001  Numba's own way to make a value of a view


def _define_part(typingctx, record, worker):
    def codegen(context, builder, signature, args):
        at = context.cast(builder, args[1], signature.args[1], types.int64)
        return _part_of(context, builder, signature.args[0], args[0], at)

    return _kind_of_part(record)(record, worker), codegen


# One worker's part of scratch: of arrays of three axes or more, which ``per_worker`` made, the worker's place; what has
# fewer axes, and numbers, all workers share.
worker_part = _Twin("worker_part", _define_part, _part_in_python) if COMPILED else _part_in_python
