"""Trains a network of fluid in a guard and as a Program from one seed, and compares what comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

import engine
from engine import fluid

SEED = 90
STEPS = 5

Arrays = dict[str, np.ndarray[Any, Any]]


class Task(NamedTuple):
    """A network with its training.

    ``make()`` gives the Layer; ``outputs(net, **inputs)`` its loss and whatever else is to be compared;
    ``optimizer(net)`` and ``clip()`` what ``minimize`` runs with. Inputs named in ``carried`` are, from the
    second step on, the outputs of the step before with that number. ``infer(net, **inputs)`` runs in
    evaluation mode after the training.
    """

    make: Callable[[], Any]
    outputs: Callable[..., Any]
    optimizer: Callable[[Any], Any]
    batches: list[Arrays]
    clip: Callable[[], Any] = lambda: None
    carried: Mapping[str, int] = {}
    infer: Callable[..., Any] | None = None


class Run(NamedTuple):
    """Trainable parameters before the training, all after it, the outputs of each step and of inference."""

    first: Arrays
    last: Arrays
    outputs: list[list[Any]]
    inferred: list[Any]


def in_a_guard(task: Task) -> Run:
    """Train with ``backward``, ``minimize`` and ``clear_gradients``."""
    with fluid.dygraph.guard():
        seeded()
        net = task.make()
        optimizer, first, rows = task.optimizer(net), {}, []
        for batch in fed(task, rows):
            variables = {name: fluid.dygraph.to_variable(value) for name, value in batch.items()}
            outputs = listed(task.outputs(net, **variables))
            first = first or first_values(net)  # lazily built parameters are there after the first call
            outputs[0].backward()
            optimizer.minimize(outputs[0], grad_clip=task.clip())
            net.clear_gradients()
            rows.append([each.numpy() for each in outputs])
        last, inferred = values(net), []
        if task.infer is not None:
            net.eval()
            variables = {name: fluid.dygraph.to_variable(value) for name, value in task.batches[0].items()}
            inferred = [each.numpy() for each in listed(task.infer(net, **variables))]
            assert all(each.stop_gradient for each in variables.values())
        return Run(first, last, rows, inferred)


def as_a_program(task: Task) -> Run:
    """Train the same Layer with an Executor; inference is a Program of its own over the same scope."""
    with static():
        main, startup = fluid.Program(), fluid.Program()
        with fluid.program_guard(main, startup), fluid.unique_name.guard():
            seeded()
            net = task.make()
            outputs = listed(task.outputs(net, **placeholders(task.batches[0])))
            task.optimizer(net).minimize(outputs[0], grad_clip=task.clip())
            names = [parameter.name for parameter in net.parameters()]
            trainable = [parameter.name for parameter in net.parameters() if parameter.trainable]
        executor = fluid.Executor(fluid.CPUPlace())
        first = dict(zip(trainable, executor.run(startup, fetch_list=trainable), strict=True))
        rows: list[list[Any]] = []
        for batch in fed(task, rows):
            rows.append(executor.run(main, feed=batch, fetch_list=outputs))
        last, inferred = in_scope(names), []
        if task.infer is not None:
            program = fluid.Program()
            with fluid.program_guard(program, fluid.Program()), fluid.unique_name.guard():
                found = listed(task.infer(task.make(), **placeholders(task.batches[0])))
            inferred = executor.run(program.clone(for_test=True), feed=task.batches[0], fetch_list=found)
        return Run(first, last, rows, inferred)


def same(task: Task) -> Run:
    """Train in both modes and assert that everything agrees; the run in the guard."""
    eager, program = in_a_guard(task), as_a_program(task)
    assert list(eager.last) == list(program.last)
    agree(eager, program)
    return eager


def agree(eager: Run, program: Run) -> None:
    """Assert that two runs are the same."""
    assert sorted(eager.first) == sorted(program.first)
    for name, value in eager.first.items():
        np.testing.assert_array_equal(program.first[name], value, err_msg=name)
    assert len(eager.outputs) == len(program.outputs) == STEPS
    for step, (expected, found) in enumerate(zip(eager.outputs, program.outputs, strict=True)):
        for n, (a, b) in enumerate(zip(expected, found, strict=True)):
            close(b, a, f"output {n} of step {step}")
    assert sorted(eager.last) == sorted(program.last)
    for name, value in eager.last.items():
        close(program.last[name], value, name)
    for n, (a, b) in enumerate(zip(eager.inferred, program.inferred, strict=True)):
        close(b, a, f"output {n} of the inference")


def close(found: Any, expected: Any, what: str) -> None:
    """Assert equal shapes, and differences of at most 1e-5 of the largest element; numbers exactly."""
    assert found.shape == expected.shape, what
    assert found.dtype == expected.dtype, what
    if expected.dtype.kind != "f":
        np.testing.assert_array_equal(found, expected, err_msg=what)
        return
    assert np.isfinite(expected).all(), what
    largest = np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * largest, err_msg=what)


@contextmanager
def static() -> Iterator[None]:
    """Static mode with a scope of its own."""
    engine.enable_static()
    try:
        with fluid.scope_guard(fluid.Scope()):
            yield
    finally:
        engine.disable_static()


def seeded() -> None:
    """Fix the random numbers of the current Programs, as scripts do before they build anything."""
    fluid.default_startup_program().random_seed = SEED
    fluid.default_main_program().random_seed = SEED


def fed(task: Task, rows: list[list[Any]]) -> Iterator[Arrays]:
    """The batches, with what is carried over from the outputs so far in ``rows``."""
    for batch in task.batches:
        yield {**batch, **({name: rows[-1][n] for name, n in task.carried.items()} if rows else {})}


def placeholders(batch: Arrays) -> dict[str, Any]:
    """A ``layers.data`` for each array of a batch."""
    return {
        name: fluid.layers.data(name, list(value.shape), append_batch_size=False, dtype=str(value.dtype))
        for name, value in batch.items()
    }


def values(net: Any) -> Arrays:
    """The parameters by name, running statistics too."""
    return {parameter.name: parameter.numpy() for parameter in net.parameters()}


def first_values(net: Any) -> Arrays:
    """The trainable parameters: running statistics have moved at the first call."""
    return {parameter.name: parameter.numpy() for parameter in net.parameters() if parameter.trainable}


def in_scope(names: list[str]) -> Arrays:
    """The values of Variables of these names."""
    return {name: np.array(fluid.global_scope().find_var(name).get_tensor()) for name in names}


def listed(found: Any) -> list[Any]:
    return list(found) if isinstance(found, (list, tuple)) else [found]
