"""Paddle's ``fluid.framework``: Programs, what mode is on, and the tracer."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from engine.base.framework import (
    Block,
    CPUPlace,
    CUDAPinnedPlace,
    CUDAPlace,
    Operator,
    Parameter,
    Program,
    Variable,
    default_main_program,
    in_dygraph_mode,
    program_guard,
)
from engine.core import mode as modes
from engine.core.errors import ModeError
from engine.core.place import current_place
from engine.core.values.dtype import as_dtype
from engine.device import is_compiled_with_cuda
from engine.eager.mode import RECORDING
from engine.eager.tensor import Parameter as ParamBase
from engine.fluid.dygraph import tracer as tracers
from engine.framework.flags import get_flags, set_flags
from engine.program.build.annotate import name_scope
from engine.program.run.executor import default_startup_program
from engine.static import device_guard
from engine.static.places import cpu_places, cuda_places
from engine.utils import require_version

__all__ = [
    "Block",
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "Operator",
    "ParamBase",
    "Parameter",
    "Program",
    "Variable",
    "convert_np_dtype_to_dtype_",
    "cpu_places",
    "cuda_pinned_places",
    "cuda_places",
    "default_main_program",
    "default_startup_program",
    "device_guard",
    "dygraph_only",
    "get_flags",
    "grad_var_name",
    "in_dygraph_mode",
    "is_compiled_with_cuda",
    "name_scope",
    "program_guard",
    "require_version",
    "set_flags",
]


def cuda_pinned_places(device_count: int | None = None) -> list[Any]:
    """A list of ``device_count`` places of page-locked memory; by default CPU_NUM of the environment."""
    return [CUDAPinnedPlace() for _ in cpu_places(device_count)]


def convert_np_dtype_to_dtype_(np_dtype: Any) -> Any:
    """The dtype of a NumPy dtype or of its name."""
    return as_dtype(np_dtype)


def grad_var_name(var_name: str) -> str:
    """The name of the gradient of a Variable."""
    return f"{var_name}@GRAD"


@contextmanager
def _dygraph_guard(tracer: tracers.Tracer) -> Iterator[None]:
    """Compute at once within the block, with the parameters that ``tracer`` knows."""
    with modes.use(RECORDING), tracers.use(tracer):
        yield


def dygraph_only(function: Any) -> Any:
    """``function``, which raises ModeError outside of a guard."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not in_dygraph_mode():
            raise ModeError(f"We only support {function.__name__}() in dynamic mode; call it in a guard")
        return function(*args, **kwargs)

    return call


def _dygraph_tracer() -> tracers.Tracer | None:
    return tracers.current()


def _current_expected_place() -> Any:
    return current_place()
