"""Paddle's ``static``: Programs, the Executor that runs them, and layers as functions."""

from typing import TYPE_CHECKING

from engine.core.alias.absent import refusing
from engine.core.attached import Variable
from engine.core.lazy import lazy
from engine.jit.input_spec import InputSpec
from engine.program.backward.append_backward import append_backward
from engine.program.backward.gradients import gradients
from engine.program.build.annotate import device_guard, name_scope
from engine.program.graph.program import Block, Program
from engine.program.run.executor import (
    Executor,
    default_main_program,
    default_startup_program,
    program_guard,
)
from engine.program.run.scope import Scope, global_scope, scope_guard
from engine.static import nn
from engine.static.compiled import BuildStrategy, CompiledProgram, ExecutionStrategy
from engine.static.inputs import data
from engine.static.metrics import Print, accuracy, auc, ctr_metric_bundle
from engine.static.nn.python import py_func
from engine.static.parameters import create_global_var, create_parameter
from engine.static.places import cpu_places, cuda_places
from engine.static.weight_norm import WeightNormParamAttr
from engine.tensor.elements.indexing import with_item as setitem

if TYPE_CHECKING:
    from engine.static import amp, quantization
    from engine.static.average import ExponentialMovingAverage
    from engine.static.data_parallel import ParallelExecutor
    from engine.static.io import (
        deserialize_persistables,
        deserialize_program,
        load,
        load_from_file,
        load_inference_model,
        load_program_state,
        normalize_program,
        save,
        save_inference_model,
        save_to_file,
        serialize_persistables,
        serialize_program,
        set_program_state,
    )

__all__ = [
    "Block",
    "BuildStrategy",
    "CompiledProgram",
    "ExecutionStrategy",
    "Executor",
    "ExponentialMovingAverage",
    "InputSpec",
    "ParallelExecutor",
    "Print",
    "Program",
    "Scope",
    "Variable",
    "WeightNormParamAttr",
    "accuracy",
    "append_backward",
    "auc",
    "cpu_places",
    "create_global_var",
    "create_parameter",
    "ctr_metric_bundle",
    "cuda_places",
    "data",
    "default_main_program",
    "default_startup_program",
    "deserialize_persistables",
    "deserialize_program",
    "device_guard",
    "global_scope",
    "gradients",
    "load",
    "load_from_file",
    "load_inference_model",
    "load_program_state",
    "name_scope",
    "nn",
    "normalize_program",
    "program_guard",
    "py_func",
    "save",
    "save_inference_model",
    "save_to_file",
    "scope_guard",
    "serialize_persistables",
    "serialize_program",
    "set_program_state",
    "setitem",
]

__getattr__ = lazy(
    __name__,
    modules=("amp", "io", "quantization"),
    members={
        "engine.static.average": ("ExponentialMovingAverage",),
        "engine.static.data_parallel": ("ParallelExecutor",),
        "engine.static.inference_files": (
            "deserialize_persistables",
            "deserialize_program",
            "load_from_file",
            "load_inference_model",
            "normalize_program",
            "save_inference_model",
            "save_to_file",
            "serialize_persistables",
            "serialize_program",
        ),
        "engine.static.state_files": ("load", "load_program_state", "save", "set_program_state"),
    },
    missing=refusing(__name__),
)
