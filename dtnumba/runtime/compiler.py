# mypy: ignore-errors
# ruff: noqa: D102
"""Numba's compiler as kernels need it: what only they call becomes LLVM IR and no more, and no garbage is collected.

Numba optimises every function and emits machine code for it, even one that is always inlined into its callers, and does
so again in each caller. A first fit compiles some seventy such functions. Their own machine code is never run, so their
libraries here keep plain IR; only the kernel that absorbs them is optimised and emitted. A third of the cold start.
"""

import contextlib
import gc
import weakref

try:
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler

    KNOWN = all(
        hasattr(JITCodeLibrary, name)
        for name in (
            "_optimize_final_module",
            "_finalize_final_module",
            "_finalize_dynamic_globals",
            "get_pointer_to_function",
        )
    )
except ImportError:  # another Numba: everything still compiles, only slower
    JITCodeLibrary = Compiler = object
    KNOWN = False


class _WithoutEnvironments:
    """A code generator for functions that have no machine code to tell of their environment."""

    def __init__(self, codegen):
        self._codegen = codegen

    def __getattr__(self, name):
        return getattr(self._codegen, name)

    def set_env(self, env_name, env):
        pass


class _IRLibrary(JITCodeLibrary):
    """The code of one function as IR to link into others."""

    @property
    def codegen(self):
        return _WithoutEnvironments(self._codegen)

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._final_module.__library = weakref.proxy(self)  # noqa: SLF001  as the class above does
        self._finalized = True

    def get_pointer_to_function(self, name):
        self._ensure_finalized()
        return 0


class AbsorbedCompiler(Compiler):
    """Numba's compiler, writing into an _IRLibrary."""

    def define_pipelines(self):
        self.state.library = _IRLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        return super().define_pipelines()


@contextlib.contextmanager
def without_collector():
    """Switch the garbage collector off, if it is on.

    A compiler makes millions of objects, nearly all of which are in use until it is done. Looking through them again
    and again took a fifth of a cold start.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class KernelCompiler(Compiler):
    """Numba's compiler, for a kernel and whatever it absorbs."""

    def compile_extra(self, func):
        with without_collector():
            return super().compile_extra(func)


def kernel_options():
    """Return the options of a kernel that say how it is compiled."""
    return {"pipeline_class": KernelCompiler} if KNOWN else {}


def absorbed_options():
    """Return the options of a function that only kernels call."""
    options = {
        "nogil": True,
        "error_model": "numpy",
        "forceinline": True,
        "no_cpython_wrapper": True,
        "no_cfunc_wrapper": True,
        "_nrt": False,
    }
    if KNOWN:
        options["pipeline_class"] = AbsorbedCompiler
    return options
