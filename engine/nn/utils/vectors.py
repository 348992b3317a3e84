"""Parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.eager.grad_mode import no_grad
from engine.eager.tensor import Tensor
from engine.tensor import manipulation


@no_grad()
def parameters_to_vector(parameters: Iterable[Tensor], name: str | None = None) -> Tensor:
    """The values of ``parameters`` one after the other, a new leaf [number of elements].

    Raises ArgumentError where there are none.
    """
    listed = list(parameters)
    if not listed:
        raise ArgumentError("parameters_to_vector: got no parameters; pass model.parameters()")
    vector: Tensor = manipulation.concat([manipulation.reshape(p, [-1]) for p in listed], axis=0).detach()
    vector.stop_gradient = False
    return vector


@no_grad()
def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor], name: str | None = None) -> None:
    """Set ``parameters`` in place to the elements of ``vec``, one after the other.

    Raises ShapeError where it has not as many as they together.
    """
    listed = list(parameters)
    if not isinstance(vec, Tensor):
        raise DTypeError(f"vector_to_parameters: vec is a Tensor: got {type(vec).__name__}")
    total = sum(p.size for p in listed)
    if vec.shape != [total]:
        raise ShapeError(
            f"vector_to_parameters: vec has shape {vec.shape}: the parameters have {total} elements in all"
        )
    array, place = vec._array, 0
    for p in listed:
        p.set_value(Tensor(array[place : place + p.size].reshape(p._array.shape)))
        place += p.size
