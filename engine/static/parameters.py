"""Creation of single parameters and other persistable Variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.errors import DTypeError
from engine.core.values.dtype import as_dtype
from engine.core.values.spec import Spec
from engine.eager.tensor import Tensor
from engine.nn.initializer import Constant, Initializer
from engine.nn.initializer.startup import initialize
from engine.nn.layer.base.parameters import create_parameter as parameter_of_no_layer
from engine.nn.param_attr import AttrLike
from engine.program.build.builder import current_builder
from engine.static.nn.helper import require_static
from engine.tensor.tensor_like import DTypeLike


def create_parameter(
    shape: Sequence[int],
    dtype: DTypeLike,
    name: str | None = None,
    attr: AttrLike = None,
    is_bias: bool = False,
    default_initializer: Initializer | None = None,
) -> Any:
    """Make a parameter of the Program that is being built, or an eager one that belongs to no Layer.

    Raises ShapeError for dimensions below 1, DTypeError for a shape that is not a list.
    """
    if not isinstance(shape, (list, tuple)):
        raise DTypeError(f"create_parameter: shape must be a list of sizes: got {type(shape).__name__}")
    return parameter_of_no_layer(shape, dtype, name, attr, is_bias, default_initializer)


def create_global_var(
    shape: Sequence[int],
    value: float,
    dtype: DTypeLike,
    persistable: bool = False,
    force_cpu: bool = False,
    name: str | None = None,
) -> Any:
    """Make a Variable of the global block that the startup Program sets to ``value``.

    With ``persistable`` it keeps its value between runs. In a converted function it is a Tensor that is made
    when the function is traced. Raises DTypeError for a shape that is not a list, ModeError in eager mode.
    """
    if not isinstance(shape, (list, tuple)):
        raise DTypeError(f"create_global_var: shape must be a list of sizes: got {type(shape).__name__}")
    tracing = current_builder()
    if tracing is not None and tracing.startup is None:
        tensor = Tensor(np.full([int(d) for d in shape], value, as_dtype(dtype).np), name=name)
        tensor.persistable = True
        return tensor
    builder = require_static("create_global_var")
    spec = Spec([int(d) for d in shape], as_dtype(dtype))
    block = builder.program.global_block()
    # Values are stored in the scope whether or not Paddle would store them: a run finds them there.
    made = block.create_var(name, spec, persistable=True)
    assert builder.startup is not None, "static mode has a startup Program"
    initialize(made, Constant(value), builder.startup)
    return made
