"""us a step of each optimizer: parameter by parameter, over flat arrays, and torch's for-each and fused ones.

``python -m bench.updates [--layers N] [--width N] [--rounds N]``: a network of ``layers`` matrices
[width, width] with their biases, gradients given, one thread each, in alternation within one process. Without
arguments three networks are measured. CPU time of the thread, minimum and median; ``x`` is the median over
the rounds of the row's time divided by that of the update parameter by parameter.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from bench.timing import paired_ratio, table, take_turns
from engine import nn, optimizer
from engine.tensor import to_tensor

NETS = {"small": (4, 64), "wide": (3, 512), "deep": (40, 64)}
STEPS = 20

RULES: dict[str, tuple[Callable[[Any], Any], str, dict[str, Any]]] = {
    "SGD": (lambda p: optimizer.SGD(1e-3, p), "SGD", {"lr": 1e-3}),
    "Momentum": (lambda p: optimizer.Momentum(1e-3, 0.9, p), "SGD", {"lr": 1e-3, "momentum": 0.9}),
    "Adam": (lambda p: optimizer.Adam(1e-3, parameters=p), "Adam", {"lr": 1e-3}),
    "AdamW": (lambda p: optimizer.AdamW(1e-3, parameters=p), "AdamW", {"lr": 1e-3}),
    "RMSProp": (lambda p: optimizer.RMSProp(1e-3, parameters=p), "RMSprop", {"lr": 1e-3}),
    "Adagrad": (lambda p: optimizer.Adagrad(1e-3, parameters=p), "Adagrad", {"lr": 1e-3}),
    "Adamax": (lambda p: optimizer.Adamax(1e-3, parameters=p), "Adamax", {"lr": 1e-3}),
    "Adadelta": (lambda p: optimizer.Adadelta(1e-3, parameters=p), "Adadelta", {"lr": 1e-3}),
}


def _values(layers: int, width: int) -> list[np.ndarray]:
    random = np.random.RandomState(0)
    shapes = [shape for _ in range(layers) for shape in ((width, width), (width,))]
    return [random.randn(*shape).astype("float32") for shape in shapes]


def _timed(step: Callable[[], Any]) -> Callable[[], float]:
    """Seconds of this thread for a step."""
    for _ in range(5):
        step()

    def turn() -> float:
        begin = time.thread_time()
        for _ in range(STEPS):
            step()
        return (time.thread_time() - begin) / STEPS

    return turn


def _ours(make: Callable[[Any], Any], values: list[np.ndarray], together: bool) -> Callable[[], float]:
    parameters = [nn.Layer().create_parameter(v.shape, nn.initializer.Assign(v)) for v in values]
    for parameter, value in zip(parameters, values, strict=True):
        parameter.grad = to_tensor(value * 0.01)
    made = make(parameters)
    if not together:
        made._together = None
    return _timed(made.step)


def _torchs(torch: Any, rule: str, options: dict[str, Any], values: list[np.ndarray]) -> Callable[[], float]:
    parameters = [torch.nn.Parameter(torch.tensor(v)) for v in values]
    for parameter, value in zip(parameters, values, strict=True):
        parameter.grad = torch.tensor(value * 0.01)
    return _timed(getattr(torch.optim, rule)(parameters, **options).step)


def measure(name: str, layers: int, width: int, rounds: int) -> None:
    """Print the table of one network."""
    values = _values(layers, width)
    rows = [["us a step", "one by one", "together", "x", "torch for-each", "x", "torch fused", "x"]]
    try:
        torch = importlib.import_module("torch")
        torch.set_num_threads(1)
    except ImportError:
        torch = None
    for rule, (make, theirs, options) in RULES.items():
        turns = {"one by one": _ours(make, values, False), "together": _ours(make, values, True)}
        if torch is not None:
            turns["torch for-each"] = _torchs(torch, theirs, {**options, "foreach": True}, values)
            with suppress(RuntimeError, TypeError):  # it has no fused one for some rules
                turns["torch fused"] = _torchs(torch, theirs, {**options, "fused": True}, values)
        series = {each.name: each for each in take_turns(turns, rounds)}
        first = series["one by one"]
        row = [rule, f"{first.best * 1e6:.0f}/{first.typical * 1e6:.0f}"]
        for label in ("together", "torch for-each", "torch fused"):
            one = series.get(label)
            row += (
                ["", ""]
                if one is None
                else [f"{one.best * 1e6:.0f}/{one.typical * 1e6:.0f}", f"{paired_ratio(one, first):.2f}"]
            )
        rows.append(row)
    count = sum(v.size for v in values)
    print(f"{name}: {layers} layers of {width}, {len(values)} parameters, {count:,} numbers")
    print(table(rows))


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.updates", description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int)
    parser.add_argument("--width", type=int)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args(arguments)
    if options.layers or options.width:
        measure("own", options.layers or 4, options.width or 64, options.rounds)
        return
    for name, (layers, width) in NETS.items():
        measure(name, layers, width, options.rounds)


if __name__ == "__main__":
    main()
