# mypy: ignore-errors
# ruff: noqa: D103
"""Kernels called by address with tuples by address: how growth calls a kernel without compiling it in once more."""

import numba
from llvmlite import ir
from numba import int64
from numba._dispatcher import compute_fingerprint
from numba.core import types
from numba.core.cgutils import alloca_once
from numba.core.datamodel.models import PointerModel
from numba.core.datamodel.registry import register_default
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic

from dtnumba.runtime.kernels import COMPILED

# Kernel and kind of tuple, as Numba's dispatcher tells them apart: address of the code, what keeps it alive
ENTRIES = {}


class AddressOf(types.CPointer):
    """The type of a pointer to a tuple of ours; a type of its own, lest other libraries' pointers get attributes."""


register_default(AddressOf)(PointerModel)

if COMPILED:

    @intrinsic
    def address_of(typingctx, value):
        """Return a pointer to a copy of a value, good until the caller returns: what kernels pass to one another.

        Its items can be read off a pointer like those of the tuple: ``job.codes``, and like its own those of the item
        that its type ``embeds``. An item that is a NamedTuple with ``by_address = True`` is read as a pointer in turn.
        A tuple of fifty arrays passed by value took a kernel of thirty lines minutes to compile, because every look at
        an item copied all of them.
        """

        def codegen(context, builder, signature, args):
            model = context.data_model_manager[signature.args[0]]
            data = model.as_data(builder, args[0])
            slot = alloca_once(builder, data.type)
            builder.store(data, slot)
            return slot

        return AddressOf(value)(value), codegen

    @intrinsic
    def value_at(typingctx, pointer):
        def codegen(context, builder, signature, args):
            model = context.data_model_manager[signature.return_type]
            value = model.load_from_data_pointer(builder, args[0])
            return impl_ret_borrowed(context, builder, signature.return_type, value)

        return pointer.dtype(pointer), codegen

    def _path_to(kind, name):
        """Return the positions that lead to an item of a NamedTuple or of what it ``embeds``, or None."""
        if not isinstance(kind, types.BaseNamedTuple):
            return None
        if name in kind.fields:
            return [kind.fields.index(name)]
        within = getattr(kind.instance_class, "embeds", None)
        at = kind.fields.index(within) if within else -1
        rest = _path_to(kind[at], name) if within else None
        return None if rest is None else [at, *rest]

    def _item_at(kind, path):
        for at in path:
            kind = kind[at]
        return kind

    def _is_by_address(item):
        return getattr(getattr(item, "instance_class", None), "by_address", False)

    @infer_getattr
    class _Items(AttributeTemplate):
        key = AddressOf

        def generic_resolve(self, pointer, name):
            path = _path_to(pointer.dtype, name)
            if path is None:
                return None
            item = _item_at(pointer.dtype, path)
            return AddressOf(item) if _is_by_address(item) else item

    @lower_getattr_generic(AddressOf)
    def _item_of(context, builder, pointer, value, name):
        path = _path_to(pointer.dtype, name)
        item = _item_at(pointer.dtype, path)
        place = builder.gep(value, [ir.Constant(ir.IntType(32), at) for at in (0, *path)])
        if _is_by_address(item):
            return place
        loaded = context.data_model_manager[item].load_from_data_pointer(builder, place)
        return impl_ret_borrowed(context, builder, item, loaded)

    @intrinsic
    def call_at(typingctx, entry, pointer, a, b, c):
        """Call a kernel by what ``entry_of`` returned, with a pointer and three integers; return its integer."""

        def codegen(context, builder, signature, args):
            word, address = ir.IntType(64), ir.IntType(8).as_pointer()
            result = alloca_once(builder, word)
            kind = ir.FunctionType(ir.IntType(32), [word.as_pointer(), address, args[1].type, word, word, word])
            unread = builder.bitcast(alloca_once(builder, word), address)  # an exception, which kernels do not raise
            builder.call(builder.inttoptr(args[0], kind.as_pointer()), [result, unread, *args[1:]])
            return builder.load(result)

        return types.int64(types.int64, pointer, types.int64, types.int64, types.int64), codegen

else:

    def value_at(pointer):
        return pointer

    def address_of(value):
        return value

    def call_at(entry, pointer, a, b, c):
        return entry(pointer, a, b, c)


def entry_of(function, pointed):
    """Return what ``call_at`` calls a kernel by, which takes a pointer to such a tuple and three integers.

    A kernel that calls another one by its name generates that one's code once more, and all that it calls.
    """
    return compiled_entry(function, pointed, 3) if COMPILED else function


def compiled_entry(function, pointed, n_integers):
    """Return the address of the code of a kernel that takes a pointer to such a tuple and so many integers."""
    kind = function, compute_fingerprint(pointed)
    found = ENTRIES.get(kind)
    if found is None:
        signature = (AddressOf(numba.typeof(pointed)), *[int64] * n_integers)
        function.compile(signature)
        code = function.overloads[signature]
        address = code.library.get_pointer_to_function(code.fndesc.llvm_func_name)
        found = ENTRIES[kind] = (address, code)
    return found[0]
