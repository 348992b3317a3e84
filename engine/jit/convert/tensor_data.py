"""`numpy()`, `item()` and `tolist()` of a Tensor in converted code: its values, without their gradient, stay
Tensors of the Program.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from engine.core.errors import ConversionError
from engine.core.frames import located, user_frame
from engine.ops.arrays import shape
from engine.tensor import creation, manipulation
from engine.tensor.members.symbolic import number_like
from engine.tensor.tensor_like import AnyTensor


def numpy(x: AnyTensor) -> Any:
    """The values, as a Tensor of its own."""
    return creation.assign(shape.detach(x))


def item(x: AnyTensor, *place: int) -> Any:
    """One element as a Tensor without dimensions: the only one, or the one at a place as NumPy counts."""
    if len(place) > 1:
        return numpy(x[place])
    if place:
        x = manipulation.reshape(x, [-1])[place[0]]
    made = manipulation.reshape(numpy(x), [])
    made.number = number_like(made)
    return made


def tolist(x: AnyTensor) -> Any:
    """Nested lists of Tensors without dimensions; raises ConversionError where a dimension is not known."""
    if -1 in x.shape:
        raise located(
            ConversionError(
                f"tolist: the dimensions {list(x.shape)} are not all known before the Program runs; loop "
                "over the Tensor, or fix them in the InputSpec"
            ),
            user_frame(),
        )
    return _nested(numpy(x))


def _nested(x: Any) -> Any:
    return [_nested(x[n]) for n in range(x.shape[0])] if x.ndim else item(x)


METHODS: dict[str, Callable[[Any], Callable[..., Any]]] = {
    "numpy": lambda x: functools.partial(numpy, x),
    "item": lambda x: functools.partial(item, x),
    "tolist": lambda x: functools.partial(tolist, x),
}
