"""A graph is freed the moment its last result goes: no reference cycles, with the collector switched off."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine
from engine.core.operators.operator import Operator
from engine.eager.tensor import Tensor


@pytest.fixture(autouse=True)
def _no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def _layers(x: Any, w: Any) -> Any:
    h = engine.tanh(engine.matmul(x, w))
    h = engine.nn.functional.softmax(h * 2.0 + 1.0)
    return (engine.reshape(h, [-1])[1:] ** 2.0).sum()


def _references(x: Any, w: Any) -> list[weakref.ref[Any]]:
    """Weak references to all tensors between x and the loss."""
    found = []
    h = engine.tanh(engine.matmul(x, w))
    s = engine.nn.functional.softmax(h * 2.0)
    found += [weakref.ref(h), weakref.ref(s)]
    loss = s.sum()
    found.append(weakref.ref(loss))
    assert all(r() is not None for r in found)
    return found


def test_tensors_of_a_graph_die_with_its_result() -> None:
    x, w = engine.ones([2, 3]), engine.to_tensor(np.ones((3, 4), "float32"), stop_gradient=False)
    assert [r() for r in _references(x, w)] == [None, None, None]


def test_arrays_die_at_once() -> None:
    array = np.ones(1000)
    gone = weakref.ref(array)
    x = Tensor(array, stop_gradient=False)
    del array
    y = (x * x).sum()
    assert gone() is not None
    y.backward()
    del x, y
    assert gone() is None


def test_backward_frees_saved_arrays_while_the_result_lives() -> None:
    array = np.ones(1000)
    gone = weakref.ref(array)
    y = engine.exp(Tensor(array, stop_gradient=False) * 2.0).sum()
    del array
    y.backward()
    assert gone() is None
    assert y.item() > 0


def test_retained_graphs_live_as_long_as_the_result() -> None:
    x = engine.ones([3])
    x.stop_gradient = False
    y = engine.square(x).sum()
    y.backward(retain_graph=True)
    node = y._edge.edges[0]
    assert node.inputs is not None
    y.backward()
    assert node.inputs is None


@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients_of_gradients_leave_no_cycle(create_graph: bool) -> None:
    x = engine.ones([3])
    x.stop_gradient = False
    y = engine.exp(x * x).sum()
    (slope,) = engine.grad(y, x, create_graph=create_graph)
    gone = [weakref.ref(y), weakref.ref(slope)]
    del y, slope
    assert [r() for r in gone] == [None, None]


def test_hooks_and_retained_gradients_leave_no_cycle() -> None:
    x = engine.ones([3])
    x.stop_gradient = False
    y = x * 2.0
    y.register_hook(lambda g: g * 2.0)
    y.retain_grads()
    z = y.sum()
    z.backward()
    gone = [weakref.ref(t) for t in (y, z)]
    del y, z
    assert [r() for r in gone] == [None, None]


def _alive() -> int:
    """How many records and tensors there are (the collector is off: garbage in cycles counts)."""
    return sum(isinstance(o, (Operator, Tensor)) for o in gc.get_objects())


def test_a_thousand_steps_do_not_grow() -> None:
    model = engine.nn.Sequential(engine.nn.Linear(4, 8), engine.nn.ReLU(), engine.nn.Linear(8, 2))
    optimizer = engine.optimizer.Adam(learning_rate=0.01, parameters=model.parameters())
    x = engine.ones([5, 4])

    def step() -> None:
        loss = (model(x) ** 2.0).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()

    for _ in range(20):
        step()
    alive = _alive()
    tracemalloc.start()
    step()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(1000):
        step()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert _alive() <= alive
    # Python itself keeps up to 2,000 freed tuples of each size; 1,000 arrays would be at least 150 kB.
    assert grown < 120_000


def test_a_deep_graph_is_walked_and_freed_without_recursion() -> None:
    x = engine.ones([1])
    x.stop_gradient = False
    y = x
    for _ in range(20_000):
        y = y + x
    y.backward()
    assert x.grad.item() == 20_001.0
    z = x
    for _ in range(20_000):
        z = engine.exp(z * 0.0)
    del z  # never walked: freed through its whole length
