"""Modules of fluid that only have names of today's modules: a table instead of a file for each.

``import paddle.fluid.unique_name`` works as if there were a file.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

from engine.core.lazy import lazy

MODULES: dict[str, tuple[str, dict[str, tuple[str, ...]]]] = {
    "average": (
        "``fluid.average``: a mean of numbers that come one after the other.",
        {"engine.fluid.metrics": ("WeightedAverage",)},
    ),
    "compiler": (
        "Paddle's ``fluid.compiler``: options of how Programs are compiled.",
        {"engine.static.compiled": ("BuildStrategy", "CompiledProgram", "ExecutionStrategy")},
    ),
    "data_feeder": (
        "Paddle's ``fluid.data_feeder``: rows of a reader as what an Executor is fed, and checks of "
        "arguments.",
        {
            "engine.io.feeding": ("DataFeeder",),
            "engine.base.data_feeder": (
                "check_dtype",
                "check_type",
                "check_variable_and_dtype",
                "convert_dtype",
            ),
        },
    ),
    "evaluator": (
        "Paddle's ``fluid.evaluator``: metrics whose numbers a Program adds up, batch by batch.",
        {"engine.fluid.metrics.evaluators": ("ChunkEvaluator", "DetectionMAP", "EditDistance", "Evaluator")},
    ),
    "lod_tensor": (
        "Paddle's ``fluid.lod_tensor``: rows of sequences of uneven lengths.",
        {"engine.base.lod_tensor": ("create_lod_tensor", "create_random_int_lodtensor")},
    ),
    "parallel_executor": (
        "Paddle's ``fluid.parallel_executor``: static training on several processes.",
        {
            "engine.static.compiled": ("BuildStrategy", "ExecutionStrategy"),
            "engine.fluid.executor": ("ParallelExecutor",),
        },
    ),
    "unique_name": (
        "Paddle's ``fluid.unique_name``: names counted from 0, within a guard anew.",
        {"engine.utils.unique_name": ("generate", "guard", "switch")},
    ),
}
"""Name below ``fluid`` -> the module's docstring, and where its names come from."""


def add_to(package: str) -> None:
    """Make the modules of the table importable as modules of ``package``, and attributes of it.

    They are in ``sys.modules`` when the package has been imported, which importing one of them does first.
    """
    for name, (text, sources) in MODULES.items():
        path = f"{package}.{name}"
        made = ModuleType(path, text)
        names = sorted(each for found in sources.values() for each in found)
        made.__spec__ = ModuleSpec(path, None)
        made.__package__ = package
        made.__getattr__ = lazy(path, members=sources)  # type: ignore[method-assign]
        made.__dict__.update(__all__=names, __dir__=lambda names=names: names)
        sys.modules[path] = made
        setattr(sys.modules[package], name, made)
