"""Paddle's ``framework``: state files, seeds, dtypes, places and modes under their public names."""

from typing import TYPE_CHECKING

from engine.core.lazy import lazy
from engine.core.place import CPUPlace, CUDAPinnedPlace, CUDAPlace
from engine.core.values.dtype import DType as dtype
from engine.core.values.dtype import get_default_dtype, set_default_dtype
from engine.eager.grad_mode import no_grad
from engine.eager.tensor import Parameter
from engine.framework import random
from engine.framework.flags import get_flags, set_flags
from engine.framework.modes import (
    disable_signal_handler,
    disable_static,
    enable_static,
    in_dynamic_mode,
    in_dynamic_or_pir_mode,
    in_pir_mode,
    use_pir_api,
)
from engine.framework.random import (
    get_cuda_rng_state,
    get_rng_state,
    seed,
    set_cuda_rng_state,
    set_rng_state,
)
from engine.nn.param_attr import ParamAttr
from engine.program.backward.grad import grad
from engine.program.graph.program import Block, Program

if TYPE_CHECKING:
    from engine.framework.async_files import async_save, clear_async_save_task_queue
    from engine.framework.state_files import load, save

__getattr__ = lazy(
    __name__,
    members={
        "engine.base": ("core",),
        "engine.framework.async_files": ("async_save", "clear_async_save_task_queue"),
        "engine.framework.state_files": ("load", "save"),
    },
)

__all__ = [
    "Block",
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "async_save",
    "clear_async_save_task_queue",
    "disable_signal_handler",
    "disable_static",
    "dtype",
    "enable_static",
    "get_cuda_rng_state",
    "get_default_dtype",
    "get_flags",
    "get_rng_state",
    "grad",
    "in_dynamic_mode",
    "in_dynamic_or_pir_mode",
    "in_pir_mode",
    "load",
    "no_grad",
    "ParamAttr",
    "Parameter",
    "Program",
    "random",
    "save",
    "seed",
    "set_cuda_rng_state",
    "set_default_dtype",
    "set_flags",
    "set_rng_state",
    "use_pir_api",
]
