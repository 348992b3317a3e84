"""What conversion costs: building ResNet-50's Program, and a call of a cached one above its plan.

``python -m bench.to_static [--rounds 30]``. The shortest turn counts. Budgets: 3 s to convert and build,
30 us for a call above what its plan takes.
"""

from __future__ import annotations

import argparse
from time import perf_counter

import engine
from bench.timing import table, take_turns
from engine import nn
from engine.jit import to_static
from engine.jit.static_function import StaticFunction
from engine.static import InputSpec
from engine.vision.models import LeNet, resnet50

CALLS = 500


class Small(nn.Layer):
    """One product and one sum: nearly all of a call is overhead."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: engine.Tensor) -> engine.Tensor:
        return self.linear(x)


def build_seconds() -> tuple[float, int]:
    """Seconds to convert and build ResNet-50's forward, and the number of its operators."""
    net = to_static(resnet50(), input_spec=[InputSpec([None, 3, 224, 224], "float32", "x")])
    begin = perf_counter()
    program = net.forward.concrete_program.main_program
    return perf_counter() - begin, len(program.global_block().ops)


def overhead(name: str, net: nn.Layer, x: engine.Tensor, rounds: int) -> list[str]:
    """A row of the table: a call, its plan alone, and the difference, in us."""
    to_static(net)
    net.eval()
    with engine.no_grad():
        net(x)
        forward = net.forward
        assert isinstance(forward, StaticFunction)
        runner = forward.program_cache[0].runner
        (plan,) = runner._inference.values()
        arrays = [x._array, *(v.tensor._array for v in runner.bound)]

        def call() -> float:
            begin = perf_counter()
            for _ in range(CALLS):
                net(x)
            return (perf_counter() - begin) / CALLS

        def alone() -> float:
            begin = perf_counter()
            for _ in range(CALLS):
                plan(arrays)
            return (perf_counter() - begin) / CALLS

        series = take_turns({"call": call, "plan": alone}, rounds)
    whole, inside = (one.best * 1e6 for one in series)
    return [name, f"{whole:.1f}", f"{inside:.1f}", f"{whole - inside:.1f}"]


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.to_static", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args(arguments)
    seconds, operators = build_seconds()
    print(f"ResNet-50: converted and built in {seconds * 1000:.0f} ms, {operators} operators")
    rows = [
        ["us a call", "call", "plan alone", "above the plan"],
        overhead("one Linear, batch 1", Small(), engine.ones([1, 4]), options.rounds),
        overhead("LeNet, batch 1", LeNet(), engine.ones([1, 1, 28, 28]), options.rounds),
    ]
    print(table(rows))


if __name__ == "__main__":
    main()
