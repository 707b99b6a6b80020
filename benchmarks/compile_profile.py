"""Where the processor time of a first fit goes: by step of the compiler, and by function.

usage: compile_profile.py LEARNER     a fit of 500 rows x 5 in this process, from an empty cache, without helpers
"""

import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

MOST_FUNCTIONS = 40
# Steps of Numba that are one to the reader.
NAMES = {
    "nopython_type_inference": "typing",
    "native_lowering": "lowering",
    "native_parfor_lowering": "lowering",
    "_optimize_functions": "function passes",
    "_optimize_final_module": "module passes",
    "_finalize_final_module": "machine code",
    "add_ir_module": "parsing IR",
    "finalize": "linking",
    "prepare_cpython_wrapper": "wrappers",
}


class Clock:
    """Processor seconds of nested steps, without those of the steps within."""

    def __init__(self):
        self.by_step, self.by_function = defaultdict(float), defaultdict(lambda: defaultdict(float))
        self._open = []

    def start(self):
        """Begin a step."""
        self._open.append([time.process_time(), 0.0])

    def stop(self, step, function):
        """End the step that began last."""
        began, within = self._open.pop()
        took = time.process_time() - began
        if self._open:
            self._open[-1][1] += took
        self.by_step[step] += took - within
        self.by_function[function][step] += took - within

    def wrap(self, cls, name, label):
        """Time a method; its object has a name, or is told by its second argument."""
        method = getattr(cls, name)

        def timed(this, *args, **named):
            self.start()
            try:
                return method(this, *args, **named)
            finally:
                self.stop(label, getattr(this, "name", "?"))

        setattr(cls, name, timed)


def listen(clock):
    """Time every step of Numba's compiler in this process."""
    from numba.core import codegen, cpu, event

    class Listener(event.Listener):
        def on_start(self, event):
            clock.start()

        def on_end(self, event):
            step = event.data["name"].partition(" [")[0]
            clock.stop(NAMES.get(step, "other steps of Numba"), event.data["qualname"])

    event.register("numba:run_pass", Listener())
    library = codegen.CPUCodeLibrary
    for name in ("add_ir_module", "finalize", "_optimize_functions", "_optimize_final_module"):
        clock.wrap(library, name, NAMES[name])
    clock.wrap(codegen.JITCodeLibrary, "_finalize_final_module", NAMES["_finalize_final_module"])
    from dtnumba.runtime import compiler

    for own in (compiler._TidiedLibrary, compiler._KernelLibrary, compiler._IRLibrary):  # noqa: SLF001
        for name in ("_optimize_functions", "_optimize_final_module"):
            if name in vars(own):
                clock.wrap(own, name, NAMES[name])
    clock.wrap(cpu.CPUContext, "create_cpython_wrapper", NAMES["prepare_cpython_wrapper"])


def profile(learner):
    """Print a profile of the first fit of a learner in this process."""
    import numpy as np

    import dtnumba

    clock, cls = Clock(), getattr(dtnumba, learner)
    listen(clock)
    draw = np.random.default_rng(0)
    X = draw.normal(size=(500, 5))
    z = X[:, 0] * X[:, 1] + 0.3 * draw.normal(size=500)
    began = time.process_time()
    cls().fit(X, z if learner.endswith("Regressor") else (z > 0).astype(int))
    took, known = time.process_time() - began, sum(clock.by_step.values())
    print(f"{learner}: {took:.2f} s of processor time for the first fit, {len(clock.by_function)} functions")
    clock.by_step["outside the compiler's steps"] = took - known
    for step, seconds in sorted(clock.by_step.items(), key=lambda item: -item[1]):
        print(f"  {seconds:6.2f} s  {step}")
    functions = sorted(clock.by_function.items(), key=lambda item: -sum(item[1].values()))
    for function, steps in functions[:MOST_FUNCTIONS]:
        most = sorted(steps.items(), key=lambda item: -item[1])[:3]
        print(f"  {sum(steps.values()):6.2f} s  {function}: {', '.join(f'{step} {s:.2f}' for step, s in most)}")


def print_profiles(learners):
    """Print the profiles of learners, each in a process of its own that compiles everything by itself."""
    for learner in learners:
        with tempfile.TemporaryDirectory() as folder:
            alone = {"NUMBA_CACHE_DIR": folder, "NUMBA_NUM_THREADS": "1", "DTNUMBA_QUIET": "1"}
            command = [sys.executable, str(Path(__file__)), learner]
            subprocess.run(command, check=True, env=os.environ | alone)  # noqa: S603  this script


if __name__ == "__main__":
    profile(sys.argv[1])
