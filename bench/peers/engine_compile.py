"""Worker: from a function to a plan in the engine, stage by stage, for one of three networks.

``python -m bench.peers.engine_compile ROOT`` measures the engine of the checkout ROOT. A job is a network and
``infer`` or ``train``; the answer lists the milliseconds of each repeat by stage. They are processor time,
because one thread works and waits for nothing. The stages do not overlap: tracing runs the passes, so
their time is subtracted from it.
"""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Callable
from time import process_time
from types import FunctionType
from typing import Any

import numpy as np

from bench.peers.paddle_nets import lenet
from bench.peers.protocol import described, serve

STAGES = ("trace", "optimize", "plan")
COUNTS = ("traced", "planned")  # operators of the Program as it was traced, and of the one that is planned
# Network -> what the plan is for: the shape of its input, batch 1. The Program has an unknown batch size.
SHAPES = {"lenet": (1, 1, 28, 28), "resnet50": (1, 3, 224, 224), "transformer": (1, 32, 256)}


def network(engine: Any, name: str) -> Any:
    """LeNet as a user writes it, ResNet-50, or a Transformer encoder of 12 layers."""
    if name == "lenet":
        return lenet(engine)
    if name == "resnet50":
        return engine.vision.models.resnet50()
    return engine.nn.TransformerEncoder(engine.nn.TransformerEncoderLayer(256, 8, 1024), 12)


def fresh(function: FunctionType) -> FunctionType:
    """The same function with a new code object: conversions are cached by code object."""
    code = function.__code__.replace()
    return FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )


class Compiler:
    """Compiles one network again and again, each time from its source."""

    def __init__(self, engine: Any, name: str) -> None:
        self._static_function = importlib.import_module("engine.jit.static_function").StaticFunction
        self._milliseconds: dict[str, float] = {}
        self._time_passes()
        self._net = network(engine, name)
        self._example = np.zeros(SHAPES[name], np.float32)
        self._spec = [engine.static.InputSpec([None, *SHAPES[name][1:]], "float32", "x")]

    def _time_passes(self) -> None:
        """Time ``optimize`` where the runner of a traced Program calls it, which is within the trace."""
        module: Any = importlib.import_module("engine.jit.run_program")
        optimize = getattr(module, "optimize", None)
        if optimize is not None:  # not there in checkouts from before the passes

            def timed(*arguments: Any) -> Any:
                return self._timed("optimize", lambda: optimize(*arguments))

            module.optimize = timed

    def _timed(self, stage: str, work: Callable[[], Any]) -> Any:
        begin = process_time()
        made = work()
        self._milliseconds[stage] = (process_time() - begin) * 1e3
        return made

    def __call__(self, training: bool) -> dict[str, float]:
        """Milliseconds of each stage, and the number of operators that were traced and that are planned."""
        getattr(self._net, "train" if training else "eval")()
        static = self._static_function(fresh(type(self._net).forward), self._spec, self._net)
        self._milliseconds = {}
        gc.collect()
        concrete = self._timed("trace", lambda: static.concrete_program)
        self._milliseconds["trace"] -= self._milliseconds.get("optimize", 0.0)
        runner = concrete.runner
        tensors = [v.tensor for v in runner.bound]
        arrays = [self._example, *(t._array for t in tensors)]
        gc.collect()
        if training:
            wanted = tuple(n for n, t in enumerate(tensors, 1) if not t.stop_gradient)
            self._timed("plan", lambda: runner._compile_training(wanted, arrays))
        else:
            self._timed("plan", lambda: runner._plan(arrays, runner.outputs))
        counts = (len(program.global_block().ops) for program in (concrete.main_program, runner.program))
        return {**self._milliseconds, **dict(zip(COUNTS, counts, strict=True))}


def main(root: str) -> None:
    """Serve measurements of the engine under ``root``."""
    sys.path.insert(0, root)
    engine = importlib.import_module("engine")
    compilers: dict[str, Compiler] = {}

    def repeat(count: int, job: str) -> dict[str, Any]:
        name, kind = job.split()
        if name not in compilers:
            compilers[name] = Compiler(engine, name)
        made = [compilers[name](kind == "train") for _ in range(count)]
        return {key: [one[key] for one in made] for key in made[0]}

    serve(f"engine {described(root) or engine.__version__}", repeat)


if __name__ == "__main__":
    main(sys.argv[1])
