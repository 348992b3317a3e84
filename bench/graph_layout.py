"""What layouts of Programs cost, without a window: ``python -m bench.graph_layout``.

CPU time of this thread, the best of some turns: random graphs of 1,000 operators, which have the most edges
to untangle, and all groups of ResNet-50, most of which are equal.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from bench.timing import table
from studio.session.graph.diagram.diagram import Diagram

TURNS = 5
OPEN_MS, OPEN_MOST_MS = 150.0, 300.0
OPERATORS = 1_000


def random_program(operators: int, reach: int, seed: int = 0) -> dict[str, Any]:
    """A plain Program of one group: each operator reads one or two of the ``reach`` before it."""
    draw = random.Random(seed)
    ops: list[dict[str, Any]] = []
    for number in range(operators):
        first = max(0, number - reach)
        read = [f"v{draw.randrange(first, number)}" for _ in range(draw.randint(1, 2))] if number else ["x"]
        ops.append(
            {
                "type": "relu", "inputs": {"X": read}, "outputs": {"Out": [f"v{number}"]}, "attrs": {},
                "regions": [], "notes": {}, "file": None, "line": None, "layer": "group",
            }
        )  # fmt: skip
    common = {"dtype": "float32", "persistable": False, "stop_gradient": False, "parameter": False}
    names = ["x", *(f"v{number}" for number in range(operators))]
    made = [{"name": name, "shape": [-1, 64, 56, 56], "data": name == "x", **common} for name in names]
    block = {"idx": 0, "parent": -1, "vars": made, "ops": ops}
    return {"version": 2, "inputs": ["x"], "outputs": [], "blocks": [block]}


def resnet50() -> dict[str, Any]:
    """The plain Program of ResNet-50."""
    import engine as paddle
    from engine.program.saved.serialize import to_plain

    network = paddle.vision.models.resnet50()
    network.eval()
    spec = [paddle.static.InputSpec([None, 3, 224, 224], "float32", "x")]
    traced = paddle.jit.to_static(network, input_spec=spec)
    return dict(to_plain(traced.forward.concrete_program.main_program))


def best(work: Callable[[], object]) -> float:
    """Milliseconds of the fastest turn."""
    found = []
    for _ in range(TURNS):
        begin = time.thread_time()
        work()
        found.append(time.thread_time() - begin)
    return min(found) * 1e3


def _shown(program: dict[str, Any], seconds: float) -> Diagram:
    diagram = Diagram(program)
    diagram.scene(seconds)
    return diagram


def rows() -> list[list[str]]:
    """Name, milliseconds and budget of each measurement."""
    found = []
    for reach in (10, 30, 200, OPERATORS):
        program = random_program(OPERATORS, reach)
        for name, seconds in (("", 0.15), (", not improved", 0.0)):
            took = best(partial(_shown, program, seconds))
            title = f"random group of {OPERATORS:,}, reads the {reach:,} before{name}"
            found.append([title, f"{took:.0f}", f"{OPEN_MS:.0f}, at worst {OPEN_MOST_MS:.0f}"])
    program = resnet50()

    def opened() -> Diagram:
        diagram = Diagram(program)
        diagram.open_all()
        diagram.scene(5.0)
        return diagram

    made, reused = opened().layouts
    title = f"all groups of ResNet-50: {made} layouts, {reused} from the cache"
    found.append([title, f"{best(opened):.1f}", f"{OPEN_MS:.0f}"])
    return found


if __name__ == "__main__":
    print(table([["layout", "ms", "budget"], *rows()]))
