"""Compiled kernels against NumPy's: ``python -m bench.kernels [NAME ...] [--rounds N]``.

CPU time of one thread, in alternation within one process; a name selects the rows that contain it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from time import thread_time
from typing import Any

import numpy as np

import engine
from bench.timing import paired_ratio, table, take_turns
from engine.core.operators.opdef import OPS
from engine.core.values.spec import Spec
from engine.kernels import choice
from engine.kernels.fast import maker_of
from engine.kernels.fast.compiler import compiler
from engine.kernels.fast.target import lanes, target
from engine.ops.training import flat_updates  # noqa: F401  fills OPS

LENET = ((6, 1, 3, 3), (6,), (16, 6, 5, 5), (16,), (400, 120), (120,), (120, 84), (84,), (84, 10), (10,))
# Seconds of a round: short kernels are called many times.
_ROUND = 0.003


@dataclass(frozen=True)
class Row:
    """One operator with its inputs."""

    title: str
    name: str
    inputs: list[Any]
    attrs: dict[str, Any] = field(default_factory=dict)


def rows() -> Iterator[Row]:
    """What is measured."""
    rng = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape).astype(np.float32)

    bias_relu = {"steps": (("elementwise_add", (0, 1), ()), ("relu", (2,), ())), "outputs": (3,)}
    gate = {
        "steps": (
            ("sigmoid", (0,), ()),
            ("tanh", (1,), ()),
            ("elementwise_mul", (2, 3), ()),
            ("elementwise_add", (4, 1), ()),
        ),
        "outputs": (5,),
    }
    last = np.ascontiguousarray(normal(32, 16, 16, 64)).transpose(3, 0, 1, 2)
    yield Row("bias, relu; 128x512", "fused_elementwise", [[normal(128, 512), normal(512)]], bias_relu)
    yield Row(
        "bias, relu; 64x32x16x16",
        "fused_elementwise",
        [[normal(64, 32, 16, 16), normal(32, 1, 1)]],
        bias_relu,
    )
    yield Row("bias, relu; samples last", "fused_elementwise", [[last, normal(32, 1, 1)]], bias_relu)
    yield Row("gate; 32x512", "fused_elementwise", [[normal(32, 512), normal(32, 512)]], gate)
    for name in ("gelu", "silu", "softplus", "sigmoid"):
        yield Row(f"{name}; 1024x512", name, [normal(1024, 512)])
    yield Row("gelu gradient; 1024x512", "gelu_grad", [normal(1024, 512), normal(1024, 512)])
    yield Row("softmax; 64x4x64x64", "softmax", [normal(64, 4, 64, 64)])
    yield Row("softmax, gradient; 64x4x64x64", "softmax_grad", [normal(64, 4, 64, 64), normal(64, 4, 64, 64)])
    yield Row("log softmax; 128x1000", "log_softmax", [normal(128, 1000)])
    for batch, classes in ((64, 10), (128, 1000)):
        logits, label = normal(batch, classes), rng.integers(0, classes, (batch, 1))
        name = "softmax_with_cross_entropy"
        yield Row(f"cross entropy; {batch}x{classes}", name, [logits, label])
        softmax, _ = OPS[name].kernel(np, logits, label)
        g = np.full((batch, 1), 1 / batch, np.float32)
        yield Row(f"cross entropy, gradient; {batch}x{classes}", f"{name}_grad", [g, softmax, label])
    for count, length in ((1024, 128), (128, 1024)):
        x, scale, bias = normal(count, length), normal(length), normal(length)
        yield Row(f"layer norm; {count}x{length}", "layer_norm", [x, scale, bias])
        _, mean, variance = OPS["layer_norm"].kernel(np, x, scale, bias)
        given = [x, normal(count, length), mean, variance, scale]
        yield Row(f"layer norm, gradient; {count}x{length}", "layer_norm_grad", given)
    for title, x in (("NCHW", normal(64, 32, 16, 16)), ("samples last", last)):
        scale, bias, mean, spread = normal(32), normal(32), normal(32), normal(32) ** 2
        yield Row(f"batch norm; {title}", "batch_norm", [x, scale, bias, mean, spread])
        given = [x, scale, x.copy("K"), mean, spread]
        yield Row(f"batch norm, gradient; {title}", "batch_norm_grad", given)
    for title, shapes in (("LeNet", LENET), ("1 M parameters", ((1024, 1024), (1024,)))):
        grads = [normal(*shape) for shape in shapes]
        count = sum(g.size for g in grads)
        rate, powers = (
            np.array([0.001], np.float32),
            [np.full(len(grads), b, np.float32) for b in (0.9, 0.999)],
        )
        for name in ("adam_flat", "adamw_flat"):
            moments = [normal(count), normal(count) ** 2]
            yield Row(f"{name}; {title}", name, [normal(count), grads, rate, *moments, *powers, None])
        squares = [normal(count) ** 2 for _ in range(3)]
        yield Row(f"adagrad_flat; {title}", "adagrad_flat", [normal(count), grads, squares[0], rate])
        yield Row(
            f"rmsprop_flat; {title}",
            "rmsprop_flat",
            [normal(count), squares[0] + 1, grads, squares[1], rate, normal(count)],
        )
        yield Row(f"adadelta_flat; {title}", "adadelta_flat", [normal(count), grads, *squares[:2], rate])
        yield Row(
            f"adamax_flat; {title}", "adamax_flat", [normal(count), grads, rate, *squares[:2], powers[0]]
        )
        yield Row(f"momentum_flat; {title}", "momentum_flat", [normal(count), grads, normal(count), rate])
        yield Row(f"sgd_flat; {title}", "sgd_flat", [normal(count), rate, grads])


def timed(function: Callable[[], Any]) -> Callable[[], float]:
    """Calls it for about a round; returns seconds of a call."""
    function()
    start = thread_time()
    function()
    calls = max(1, int(_ROUND / max(thread_time() - start, 1e-7)))

    def measure() -> float:
        start = thread_time()
        for _ in range(calls):
            function()
        return (thread_time() - start) / calls

    return measure


def contenders(row: Row) -> Mapping[str, Callable[[], float]]:
    """NumPy's kernel and the compiled one; without the latter where the maker leaves the row to NumPy."""
    opdef = OPS[row.name]
    attrs = opdef.with_defaults(row.attrs)
    kernel, direct = opdef.kernel_for("cpu")
    found = {"numpy": timed(lambda: kernel(*row.inputs) if direct else kernel(np, *row.inputs, **attrs))}
    maker = maker_of(opdef)
    fast = None if maker is None else maker([_spec(x) for x in row.inputs], attrs)
    if fast is not None:
        compiler().wait()
        found["fast"] = timed(lambda: fast.kernel(*row.inputs))
    return found


def _spec(value: Any) -> Any:
    if isinstance(value, list):
        return [_spec(each) for each in value]
    return None if value is None else Spec.of(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of the names of rows; all by default")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    engine.set_num_threads(1)
    with choice.kernels.guard("fast"):
        choice.wants_fast()  # refuses where llvmlite is absent, and finds the makers
    lines = [["one thread, us: min (median)", "NumPy", "compiled", "ratio"]]
    for row in rows():
        if options.names and not any(name in row.title for name in options.names):
            continue
        series = {s.name: s for s in take_turns(contenders(row), options.rounds)}
        cells = [f"{1e6 * s.best:,.1f} ({1e6 * s.typical:,.1f})" for s in series.values()]
        ratio = f"{paired_ratio(series['fast'], series['numpy']):.2f}" if "fast" in series else ""
        lines.append([row.title, *cells, *[""] * (2 - len(cells)), ratio])
    print(f"{target().cpu}, {lanes()} floats a vector\n{table(lines)}")


if __name__ == "__main__":
    main()
