# mypy: ignore-errors
# ruff: noqa: D102
"""Numba's compiler as kernels need it: fewer passes, each function optimised once, and no garbage is collected.

Numba optimises every function by itself, emits machine code for it even where it is always inlined, and optimises it
once more in each caller. What only kernels call keeps plain IR here, tidied by four cheap passes, so that a caller
takes up less of it; the kernel that absorbs it is optimised, once, and emitted. Of Numba's own passes over a function
those are left out that find nothing in a kernel: closures, array expressions, reference counts. A first forest of 500
rows took 17.2 s of processor time with Numba's pipeline, 10.9 s with this one and records by reference.
"""

import weakref

from dtnumba.runtime.lazy_names import without_collector

try:
    from llvmlite import binding
    from numba.core import typed_passes, untyped_passes
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler, Flags
    from numba.core.compiler_machinery import PassManager

    KNOWN = all(
        hasattr(JITCodeLibrary, name)
        for name in (
            "_optimize_functions",
            "_optimize_final_module",
            "_finalize_final_module",
            "_finalize_dynamic_globals",
            "get_pointer_to_function",
        )
    ) and hasattr(binding, "create_new_module_pass_manager")
    _PASSES = (
        untyped_passes.TranslateByteCode,
        untyped_passes.FixupArgs,
        untyped_passes.IRProcessing,
        untyped_passes.GenericRewrites,
        untyped_passes.ReconstructSSA,
        typed_passes.NopythonTypeInference,
        typed_passes.PreLowerStripPhis,
        typed_passes.AnnotateTypes,
        typed_passes.NativeLowering,
        typed_passes.NoPythonBackend,
    )
except (ImportError, AttributeError):  # another Numba: everything still compiles, only slower
    JITCodeLibrary = Compiler = Flags = object
    KNOWN = False


_PACKAGE = __name__.partition(".")[0]


class _WithoutEnvironments:
    """A code generator for functions that have no machine code to tell of their environment."""

    def __init__(self, codegen):
        self._codegen = codegen

    def __getattr__(self, name):
        return getattr(self._codegen, name)

    def set_env(self, env_name, env):
        pass


class _TidiedLibrary(JITCodeLibrary):
    """A library whose functions are tidied, not optimised, before they are linked together."""

    def _optimize_functions(self, ll_module):
        ll_module.data_layout = self._codegen._data_layout  # noqa: SLF001  as the class above does
        tuning = binding.create_pipeline_tuning_options(speed_level=0)
        builder = binding.create_pass_builder(self._codegen._tm, tuning)  # noqa: SLF001
        passes = binding.create_new_module_pass_manager()
        passes.add_sroa_pass()
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
        passes.add_dead_code_elimination_pass()
        passes.run(ll_module, builder)


class _KernelLibrary(_TidiedLibrary):
    """The code of a kernel and of all that it absorbed, optimised once.

    Numba inlines and combines first, for the sake of reference counts, which kernels do not have.
    """

    def _optimize_final_module(self):
        passes, builder = self._codegen._module_pass_manager()  # noqa: SLF001
        passes.run(self._final_module, builder)


class _IRLibrary(_TidiedLibrary):
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


# Flags that say how a function itself is compiled, and nothing of what it calls.
_OF_THE_CALLER = ("forceinline", "no_cpython_wrapper", "no_cfunc_wrapper")


class _Flags(Flags):
    """Flags as those whom a function calls see them: Numba compiles what is called once for each kind of caller."""

    __slots__ = ()

    def __hash__(self):
        return 0  # equal flags may differ in what was set on purpose, and there are few

    def __eq__(self, other):
        return self is other or _handed_on(self) == _handed_on(other)


def _handed_on(flags):
    given = flags._values.items()  # noqa: SLF001  some are given as what they are by default
    return {name: value for name, value in given if name not in _OF_THE_CALLER and value != flags.options[name].default}


class _FewPasses(Compiler):
    """Numba's compiler with the passes that kernels need, writing into a library of the class ``library``."""

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals):  # noqa: A002  Numba's name
        super().__init__(typingctx, targetctx, library, args, return_type, _Flags(flags), locals)

    def define_pipelines(self):
        state = self.state
        if state.flags.auto_parallel.enabled:
            return super().define_pipelines()
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        if state.func_id.modname.partition(".")[0] != _PACKAGE:  # a user's criterion may use any of Python
            return super().define_pipelines()
        passes = PassManager("nopython")  # the name that stands in Numba's messages
        for one in _PASSES:
            passes.add_pass(one, one.__name__)
        passes.finalize()
        return [passes]


class AbsorbedCompiler(_FewPasses):
    """The compiler of what only kernels call."""

    library = _IRLibrary


class KernelCompiler(_FewPasses):
    """The compiler of a kernel and whatever it absorbs."""

    library = _KernelLibrary

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
