"""Makes parameters: name, first values and attributes from what a layer's caller asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from operator import index
from types import FrameType
from typing import Any

from engine.core import names
from engine.core.context import Setting
from engine.core.errors import DTypeError, ShapeError
from engine.core.frames import user_frame
from engine.core.place import backend, current_place
from engine.core.values.dtype import as_dtype, default_dtype
from engine.eager.tensor import Parameter
from engine.nn.initializer import Constant, XavierUniform
from engine.nn.initializer.base import Initializer, global_initializer
from engine.nn.initializer.startup import static_parameter
from engine.nn.param_attr import AttrLike, ParamAttr
from engine.program.build.builder import current_builder
from engine.tensor.tensor_like import DTypeLike, ShapeLike

_lazy: Setting[bool] = Setting("lazy_parameters", False)
_noted: Setting[list[tuple[Parameter, FrameType | None]] | None] = Setting("noted_parameters", None)


@contextmanager
def noting_parameters() -> Iterator[list[tuple[Parameter, FrameType | None]]]:
    """The eager parameters that are made within the block, each with the frame of the user's line."""
    found: list[tuple[Parameter, FrameType | None]] = []
    with _noted.guard(found):
        yield found


def make_parameter(
    owner: str,
    shape: ShapeLike,
    attr: AttrLike = None,
    dtype: DTypeLike | None = None,
    is_bias: bool = False,
    default_initializer: Initializer | None = None,
) -> Any:
    """A parameter called ``owner.w_0`` or ``owner.b_0``, or None where ``attr`` is False.

    In static mode a Parameter of the main Program, to which the startup Program gives its first values.

    The initializer is the attribute's, else the global one, else the default, else XavierUniform (0 for a
    bias). Raises ShapeError for dimensions below 1.
    """
    asked = ParamAttr._to_attr(None if isinstance(attr, str) and attr == "" else attr)
    if asked is False:
        return None
    dims = _dimensions(owner, shape)
    if any(d <= 0 for d in dims):
        raise ShapeError(
            f"{owner}: a parameter's dimensions must be 1 or more: got shape {list(dims)}; "
            "check the sizes given to the layer"
        )
    wanted = default_dtype() if dtype is None else as_dtype(dtype)
    initializer = asked.initializer or global_initializer(is_bias) or default_initializer
    if initializer is None:
        if not wanted.is_floating_point:
            raise DTypeError(f"{owner}: no default initializer makes {wanted.name}; pass default_initializer")
        initializer = Constant(0.0) if is_bias else XavierUniform()
    trainable = wanted.is_floating_point and asked.trainable
    builder = current_builder()
    static = builder if builder is not None and builder.startup is not None else None
    kind = "b" if is_bias else "w"
    name = asked.name or names.of_step(f"parameter {kind}", lambda: names.generate(f"{owner}.{kind}"))
    if static is not None:
        parameter: Any = static_parameter(static, name, dims, wanted, initializer, trainable)
    else:
        array = backend(current_place()).xp.zeros(dims, wanted.np)
        parameter = Parameter(array, name=name, trainable=trainable)
        noted = _noted.get()
        if noted is not None:
            noted.append((parameter, user_frame()))
    asked._mark(parameter)
    if static is None:
        if _lazy.get():
            parameter.first_values = initializer
        else:
            initializer(parameter)
    return parameter


class LazyGuard:
    """Within the block, parameters get their first values only when ``initialize()`` is called of each.

    Differs from Paddle: until then they are zeros, of memory that is not touched; there, it is an error to
    use one.
    """

    def __enter__(self) -> None:
        self._guard = _lazy.guard(True)
        self._guard.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._guard.__exit__(*error)


def _dimensions(owner: str, shape: Any) -> tuple[int, ...]:
    try:
        return tuple(index(d) for d in shape)
    except TypeError:
        raise DTypeError(
            f"{owner}: the shape of a parameter is a list of integers: got {shape!r}; give each size"
        ) from None


def create_parameter(
    shape: ShapeLike,
    dtype: DTypeLike,
    name: str | None = None,
    attr: AttrLike = None,
    is_bias: bool = False,
    default_initializer: Initializer | None = None,
) -> Parameter | None:
    """A parameter that belongs to no layer yet, called ``name`` (``name.w_0`` with ``attr`` given).

    Arguments as of ``Layer.create_parameter``. Raises ShapeError for dimensions below 1, DTypeError for
    a dtype that the initializer can't make.
    """
    owner = name or names.generate("create_parameter")
    attr = ParamAttr(name=name) if attr is None else attr
    made: Parameter | None = make_parameter(owner, shape, attr, as_dtype(dtype), is_bias, default_initializer)
    return made
