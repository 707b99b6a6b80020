"""NamedTuples with one field changed, and a worker's part of scratch: the same compiled and in Python."""

from typing import NamedTuple

import numpy as np
import pytest

from dtnumba.runtime.kernels import by_type, kernel, kernel_type
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.records import replacing, worker_part

pytestmark = pytest.mark.small


@kernel_type
class Inner(NamedTuple):
    long: np.ndarray  # (workers, places, n)
    flag: bool


class Nothing(NamedTuple):
    pass


@kernel_type
class Outer(NamedTuple):
    inner: Inner
    nothing: Nothing
    shared: np.ndarray  # (n,)
    table: np.ndarray  # (n, m): shared, too
    wide: np.ndarray  # (workers, places, n, m)
    number: int

    def total(self):
        return self.number + self.inner.long[4] + self.wide[1, 2]


total = by_type("total")
with_number, with_shared, with_inner, with_long = (replacing(name) for name in ("number", "shared", "inner", "long"))


def outer(workers=3, n=5):
    long, wide = per_worker(workers, n, np.int64), per_worker(workers, (n, 4))
    for worker in range(workers):
        long[worker, 0] = worker * 100 + np.arange(n)
        wide[worker, 0] = worker * 1000 + np.arange(4 * n).reshape(n, 4)
    return Outer(Inner(long, flag=True), Nothing(), np.arange(n), np.ones((n, 2)), wide, 7)


@kernel
def part_in_kernel(record, worker, out):
    part = worker_part(record, worker)
    out[0], out[1], out[2], out[3] = part.inner.long[4], part.wide[1, 2], part.shared[3], part.number
    out[4], out[5], out[6] = len(part.inner.long), part.wide.size, part.table[1, 1] + part.inner.flag
    part.wide[0, 0] = -1.0


@pytest.mark.parametrize("worker", range(3))
def test_a_part_is_the_workers_own_arrays_and_all_that_is_shared(worker):
    record, out = outer(), np.zeros(7)
    part = worker_part(record, worker)
    assert type(part) is Outer
    assert type(part.inner) is Inner
    assert part.inner.long.tolist() == (worker * 100 + np.arange(5)).tolist()
    assert part.wide.shape == (5, 4)
    assert part.shared is record.shared
    assert part.table is record.table
    part_in_kernel(record, worker, out)
    wanted = [worker * 100 + 4, worker * 1000 + 6, 3, 7, 5, 20, 2]
    assert out.tolist() == wanted
    assert record.wide[worker, 0, 0, 0] == -1.0, "a part is a view"


@kernel
def replaced_in_kernel(record, shared, out):
    changed = with_number(with_shared(record, shared), 8)
    out[0], out[1], out[2] = changed.shared[1], changed.number, record.number
    nested = worker_part(with_inner(changed, with_long(changed.inner, record.inner.long)), 2)
    out[3] = total(nested)


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
def test_one_field_is_changed_to_another_type_if_need_be_and_the_record_stays(dtype):
    record, out = outer(), np.zeros(4)
    shared = np.array([4, 5, 6], dtype)
    changed = with_number(with_shared(record, shared), 8)
    assert type(changed) is Outer
    assert changed.shared is shared
    assert (changed.number, record.number) == (8, 7)
    replaced_in_kernel(record, shared, out)
    assert out.tolist() == [5.0, 8.0, 7.0, 8 + record.inner.long[2, 0, 4] + record.wide[2, 0, 1, 2]]
