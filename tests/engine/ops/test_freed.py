"""Each operator's graph is freed the moment it is dropped, with the cycle collector off."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from engine.core.operators import traits
from engine.core.operators.opdef import OPS
from engine.core.random.generator import default_generator
from engine.eager.backward import grad
from engine.eager.tensor import Tensor
from tests.engine.ops.case import Case
from tests.engine.ops.table import CASES
from tests.engine.ops.test_table import _call, _copies, _differentiable, _leaves, _tensors, _weights

# One row an operator: the graph does not depend on the shapes.
ROWS = list({case.op: case for case in CASES if case.grads}.values())


@pytest.fixture(autouse=True)
def _no_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def _graph(case: Case, backward: bool) -> list[weakref.ref[Any]]:
    """Weak references to the results, the gradients and the inputs' arrays of a graph without references."""
    tensors = _tensors(case, _copies(case.sample.inputs))
    leaves = _leaves(case, tensors)
    default_generator().manual_seed(5)
    results = _call(case, tensors)
    found = [weakref.ref(leaf._array) for leaf in leaves]
    found += [weakref.ref(r) for r in results if r is not None]
    if backward:
        arrays = [None if r is None else r._array for r in results]
        through = _differentiable(case, arrays)
        weights = [Tensor(w) for w in _weights(arrays, through)]
        twice = OPS[case.op] not in traits.order
        slopes = grad([results[n] for n in through], leaves, weights, create_graph=twice, allow_unused=True)
        found += [weakref.ref(g) for g in slopes if g is not None]
    assert all(r() is not None for r in found)
    return found


@pytest.mark.parametrize("backward", [False, True], ids=["forward", "gradients"])
@pytest.mark.parametrize("case", ROWS, ids=lambda c: c.op)
def test_a_dropped_graph_is_freed(case: Case, backward: bool) -> None:
    assert {r() for r in _graph(case, backward)} == {None}
