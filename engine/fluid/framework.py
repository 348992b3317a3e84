"""Paddle's ``fluid.framework``: Programs, what mode is on, and the tracer."""

from __future__ import annotations

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
from engine.core.place import current_place
from engine.device import is_compiled_with_cuda
from engine.fluid.dygraph import tracer as tracers
from engine.framework.flags import get_flags, set_flags
from engine.program.build.annotate import name_scope
from engine.program.run.executor import default_startup_program
from engine.static.places import cpu_places, cuda_places
from engine.utils import require_version

__all__ = [
    "Block",
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "Operator",
    "Parameter",
    "Program",
    "Variable",
    "cpu_places",
    "cuda_pinned_places",
    "cuda_places",
    "default_main_program",
    "default_startup_program",
    "get_flags",
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


def _dygraph_tracer() -> tracers.Tracer | None:
    return tracers.current()


def _current_expected_place() -> Any:
    return current_place()
