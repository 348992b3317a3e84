"""What all functions of ``fluid.layers`` share: results in fluid's form, activations by name."""

from __future__ import annotations

import functools
import typing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any, TypeVar

from engine.core import mode as modes
from engine.core.delegate import delegate
from engine.core.errors import ArgumentError
from engine.fluid.values.variable import result
from engine.nn import functional
from engine.program.build.builder import Builder, current_builder
from engine.program.run.executor import default_main_program, default_startup_program
from engine.tensor import creation, manipulation, math

F = TypeVar("F", bound=Callable[..., Any])


def adapter(function: F) -> F:
    """``function`` with its results as fluid gives them: Variables of one dimension or more."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return result(function(*args, **kwargs))

    return typing.cast(F, call)


def public(module: ModuleType) -> dict[str, Any]:
    """The functions and classes that belong to ``module``: defined there, or made there from a table."""
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, (FunctionType, type))
        and not name.startswith("_")
        and value.__module__ in (module.__name__, __name__)
        and name not in globals()
    }


@contextmanager
def building() -> Iterator[None]:
    """Build the default main Program in the block, also in a guard, which has another one."""
    if current_builder() is not None:
        yield
        return
    with modes.use(Builder(default_main_program(), startup=default_startup_program())):
        yield


def listed(value: Any) -> list[Any]:
    """A list of tensors, in which a single one counts as a list of one."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def sized_like(input: Any, shape: Any, input_dim_idx: int, output_dim_idx: int) -> list[Any]:
    """``shape`` with one dimension taken from ``input``, also where only the running Program knows it."""
    dims = list(shape)
    size = int(input.shape[input_dim_idx])
    dims[output_dim_idx] = size if size >= 0 else manipulation.shape(input)[input_dim_idx]
    return dims


def ones_at(ids: Any, depth: Any, allow_out_of_range: bool) -> Any:
    """A one at each id, in a new last dimension of ``depth``."""
    if not allow_out_of_range:
        return functional.one_hot(ids, depth)
    known = (ids >= 0).logical_and(ids < depth)
    rows = functional.one_hot(ids * math.cast(known, ids.dtype), depth)
    return rows * math.cast(manipulation.unsqueeze(known, -1), rows.dtype)


def number_of(rois: Any) -> Any:
    """How many boxes there are, int32 [1]."""
    count = rois.shape[0]
    return creation.full([1], count, "int32") if count >= 0 else manipulation.shape(rois)[:1]


@delegate("engine.fluid.layers.ops")
def activations() -> dict[Any, Callable[..., Any]]:
    """The functions that ``act`` of layers may name, by their names."""
    raise NotImplementedError


@delegate("engine.fluid.layers")
def layer_function(name: str) -> Any:
    """The function of ``fluid.layers`` with this name; None where there is none."""
    raise NotImplementedError


def activated(value: Any, act: Any) -> Any:
    """``value`` through the function of ``fluid.layers`` that ``act`` names.

    ``act`` is None, a name such as 'relu', or a dict ``{'type': name, attribute: value}``. Raises
    ArgumentError for another name.
    """
    if act is None:
        return value
    options = dict(act) if isinstance(act, dict) else {"type": act}
    function = activations().get(options.pop("type", None))
    if function is None:
        raise ArgumentError(
            f"act: {act!r} is not an activation; use the name of one, such as 'relu', or None"
        )
    return function(value, **options)
