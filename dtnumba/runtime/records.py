# mypy: ignore-errors
"""Records: the package's NamedTuples that hold arrays, as kernels see them.

Numba takes a NamedTuple apart at every call, into one argument for each number in it: a job of forty arrays is 376
arguments, which the caller unpacks and the callee packs again. Half of all code that a first forest compiled was that.
A record is a pointer to its items instead, whether another record holds it or a function is given it. Who makes a
record has it in its frame: a function returns one by value, and what is made anew in each turn of a loop is not to be
kept from one turn to the next.

replacing    a function that gives the same record with one field changed
worker_part  one worker's part of scratch that every worker has
address_of   where a record lies, as a number that an array can hold
"""

import numpy as np
from llvmlite import ir
from numba import typeof
from numba.core import cgutils, config, types
from numba.core.cgutils import alloca_once, raw_memcpy
from numba.core.datamodel.models import DataModel, OpaqueModel
from numba.core.datamodel.registry import register_default
from numba.core.extending import _Intrinsic
from numba.core.imputils import lower_builtin, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr, make_callable_template
from numba.core.utils import pysignature
from numba.extending import NativeValue, typeof_impl, unbox

_COMPILED = not config.DISABLE_JIT
_PACKAGE = __name__.partition(".")[0]


class RecordType(types.NamedTuple):
    """The type of a record; it remembers its hash, which Numba asks for at every look at a function of records."""

    _hash = None

    def __hash__(self):
        if self._hash is None:
            self._hash = hash(self.key)
        return self._hash

    def __eq__(self, other):
        return self is other or (type(other) is RecordType and hash(self) == hash(other) and self.key == other.key)

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "_hash"}  # of this process alone


class RecordClass(types.NamedTupleClass):
    """The type of a class of NamedTuples of which some are records, where a kernel makes one."""


_MARKED = set()  # classes of others whose NamedTuples are records too: a user's criterion, a test's task


def mark(cls):
    """Let the NamedTuples of a class be records; those of the package need no mark."""
    _MARKED.add(cls)


def _makes_records(cls):
    is_ours = cls.__module__.partition(".")[0] == _PACKAGE and issubclass(cls, tuple) and hasattr(cls, "_fields")
    return is_ours or cls in _MARKED


def type_of(items, cls):
    """Return the type of a NamedTuple of ours with items of these types."""
    items = [types.unliteral(item) for item in items]
    if any(isinstance(item, (types.Array, RecordType)) for item in items):
        return RecordType(items, cls)
    return types.BaseTuple.from_types(items, cls)


def type_of_record(value):
    """Return the type by which a kernel knows a NamedTuple that it is handed by address."""
    kind = typeof(value)
    return kind if isinstance(kind, RecordType) else RecordType(tuple(kind), type(value))


_of_tuple, _of_class = typeof_impl.dispatch(tuple), typeof_impl.dispatch(type)


@typeof_impl.register(tuple)
def _typeof_tuple(value, context):
    if not _makes_records(type(value)):
        return _of_tuple(value, context)
    items = [typeof_impl(item, context) for item in value]
    return None if None in items else type_of(items, type(value))


@typeof_impl.register(type)
def _typeof_class(value, context):
    return RecordClass(value) if _makes_records(value) else _of_class(value, context)


@register_default(RecordType)
class _Reference(DataModel):
    """A pointer in kernels and between them; the items side by side in memory and where it is returned."""

    def __init__(self, manager, kind):
        super().__init__(manager, kind)
        self.items = [manager.lookup(item) for item in kind]
        self._data = ir.LiteralStructType([item.get_data_type() for item in self.items])
        self._pointer = self._data.as_pointer()

    def get_value_type(self):
        return self._pointer

    def get_data_type(self):
        return self._data

    def get_return_type(self):
        return self._data

    def as_argument(self, builder, value):
        return value

    def from_argument(self, builder, value):
        if isinstance(value, ir.Argument):
            value.add_attribute("noalias")  # nothing changes a record while a function has it
        return value

    def as_data(self, builder, value):
        return builder.load(value)

    def from_data(self, builder, data):
        slot = alloca_once(builder, self._data)
        builder.store(data, slot)
        return slot

    as_return, from_return = as_data, from_data

    def load_from_data_pointer(self, builder, pointer, align=None):
        return pointer


register_default(RecordClass)(OpaqueModel)


def _place_of(builder, record, at):
    return builder.gep(record, [ir.Constant(ir.IntType(32), k) for k in (0, at)], inbounds=True)


def item_at(context, builder, kind, record, at):
    """Return an item of a record."""
    return context.data_model_manager[kind[at]].load_from_data_pointer(builder, _place_of(builder, record, at))


def put_item(context, builder, kind, record, at, value):
    """Store an item of a record that is being made."""
    place = _place_of(builder, record, at)
    if isinstance(kind[at], RecordType):
        copy_record(context, builder, kind[at], value, place)
    else:
        builder.store(context.data_model_manager[kind[at]].as_data(builder, value), place)


def copy_record(context, builder, kind, record, place):
    """Copy the items of a record to a place in memory."""
    n_bytes = ir.Constant(ir.IntType(64), context.get_abi_sizeof(context.get_data_type(kind)))
    raw_memcpy(builder, place, record, n_bytes, 1, align=8)


def new_record(context, builder, kind, values):
    """Return a record of these items, or the value of a NamedTuple that is none."""
    if not isinstance(kind, RecordType):
        return context.make_tuple(builder, kind, values)
    slot = alloca_once(builder, context.get_data_type(kind))
    for at, value in enumerate(values):
        put_item(context, builder, kind, slot, at, value)
    return slot


@infer_getattr
class _MakeRecord(AttributeTemplate):
    key = RecordClass

    def resolve___call__(self, cls):
        found = cls.instance_class
        signature = pysignature(found)

        def typer(*args, **named):
            return type_of(signature.bind(*args, **named).args, found)

        typer.pysig = signature
        return types.Function(make_callable_template(self.key, typer))


@lower_builtin(RecordClass, types.VarArg(types.Any))
def _make(context, builder, signature, args):
    kind = signature.return_type
    cast = [context.cast(builder, arg, *kinds) for arg, *kinds in zip(args, signature.args, kind, strict=True)]
    return new_record(context, builder, kind, cast)


def _path_to(kind, name):
    """Return the positions that lead to an item of a record or of what its class ``embeds``, or None."""
    if not isinstance(kind, RecordType):
        return None
    if name in kind.fields:
        return [kind.fields.index(name)]
    within = getattr(kind.instance_class, "embeds", None)
    rest = _path_to(kind[kind.fields.index(within)], name) if within else None
    return None if rest is None else [kind.fields.index(within), *rest]


@infer_getattr
class _EmbeddedItems(AttributeTemplate):
    key = RecordType

    def generic_resolve(self, kind, name):
        path = _path_to(kind, name)
        for at in path or ():
            kind = kind[at]
        return kind if path else None


@lower_getattr_generic(RecordType)
def _named_item(context, builder, kind, record, name):
    for at in _path_to(kind, name):
        kind, record = kind[at], item_at(context, builder, kind, record, at)
    return record


@lower_builtin("static_getitem", RecordType, types.IntegerLiteral)
def _numbered_item(context, builder, signature, args):
    kind, at = signature.args[0], args[1]
    return item_at(context, builder, kind, args[0], at % len(kind))


@unbox(RecordType)
def _unbox(kind, value, c):
    items = [c.unbox(item, c.pyapi.tuple_getitem(value, at)) for at, item in enumerate(kind)]
    is_error = ir.Constant(ir.IntType(1), 0)
    for item in items:
        is_error = c.builder.or_(is_error, item.is_error)
    return NativeValue(new_record(c.context, c.builder, kind, [item.value for item in items]), is_error=is_error)


class Twin(_Intrinsic):
    """An instruction for kernels that Python calls as well: there a plain function does the same."""

    def __init__(self, name, define, in_python):
        super().__init__(name, define)
        self._in_python = in_python
        self._register()

    def __call__(self, *args):
        """Run the plain function."""
        return self._in_python(*args)


def replacing(name):
    """Make ``f(record, value)``: the same NamedTuple with the field ``name`` changed, to another type if need be."""

    def in_python(record, value):
        return record._replace(**{name: value})

    def define(typingctx, record, value):
        at, value = record.fields.index(name), types.unliteral(value)
        is_number = isinstance(value, types.Number) and isinstance(record.types[at], types.Number)
        kind = record.types[at] if is_number else value
        result = type_of([kind if k == at else item for k, item in enumerate(record.types)], record.instance_class)

        def codegen(context, builder, signature, args):
            item = context.cast(builder, args[1], value, kind)
            if not isinstance(record, RecordType):
                items = [item if k == at else builder.extract_value(args[0], k) for k in range(len(record))]
                return new_record(context, builder, result, items)
            if result == record:
                changed = alloca_once(builder, args[0].type.pointee)
                copy_record(context, builder, record, args[0], changed)
                put_item(context, builder, result, changed, at, item)
                return changed
            items = [item if k == at else item_at(context, builder, record, args[0], k) for k in range(len(record))]
            return new_record(context, builder, result, items)

        return result(record, value), codegen

    return Twin(f"replacing_{name}", define, in_python) if _COMPILED else in_python


def _part_in_python(record, worker):
    if isinstance(record, tuple):
        return type(record)(*(_part_in_python(item, worker) for item in record))
    return record[worker, 0] if isinstance(record, np.ndarray) and record.ndim > 2 else record


def _kind_of_part(kind):
    if isinstance(kind, RecordType):
        return RecordType([_kind_of_part(item) for item in kind.types], kind.instance_class)
    return kind.copy(ndim=kind.ndim - 2) if isinstance(kind, types.Array) and kind.ndim > 2 else kind


def _part_of(context, builder, kind, value, worker):
    """Return one worker's part: of an array its (worker, 0), of a NamedTuple that of each item, else the value."""
    if isinstance(kind, RecordType):
        items = [item_at(context, builder, kind, value, at) for at in range(len(kind))]
        parts = [_part_of(context, builder, k, item, worker) for k, item in zip(kind, items, strict=True)]
        return new_record(context, builder, _kind_of_part(kind), parts)
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


def _define_copy(typingctx, record):
    def codegen(context, builder, signature, args):
        slot = alloca_once(builder, args[0].type.pointee)
        copy_record(context, builder, record, args[0], slot)
        return slot

    return record(record), codegen


def _define_address(typingctx, record):
    def codegen(context, builder, signature, args):
        return builder.ptrtoint(args[0], ir.IntType(64))

    return types.int64(record), codegen


# Where a record lies that a kernel made or was given; it is good until that kernel returns.
address_of = Twin("address_of", _define_address, lambda record: 0) if _COMPILED else lambda record: 0

# A copy of a record in the caller's own frame, which LLVM keeps in registers.
own_copy = Twin("own_copy", _define_copy, lambda record: record) if _COMPILED else lambda record: record

# One worker's part of scratch: of arrays of three axes or more, which ``per_worker`` made, the worker's place; what has
# fewer axes, and numbers, all workers share.
worker_part = Twin("worker_part", _define_part, _part_in_python) if _COMPILED else _part_in_python
