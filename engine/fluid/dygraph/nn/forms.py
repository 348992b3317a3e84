"""Two call forms of one layer: with ``name_scope`` first as in 1.5 and 1.6, and that of 1.7 and 1.8."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from engine.core.errors import ArgumentError
from engine.fluid.dygraph.layers import Layer
from engine.fluid.layers.adapting import activated
from engine.fluid.values.variable import result


def form(signature: Callable[..., Any]) -> inspect.Signature:
    """The parameters of a call form, written as those of a lambda."""
    return inspect.signature(signature)


def alias(attribute: str) -> Any:
    """The parameter ``attribute`` under another name, such as that of 1.5; it may be replaced under both.

    ``attribute`` is the name of 1.7 and 1.8, which is the key in their states.
    """

    def read(layer: Any) -> Any:
        return getattr(layer, attribute)

    def replace(layer: Any, value: Any) -> None:
        setattr(layer, attribute, value)

    return property(read, replace)


class Formed(Layer):
    """A layer whose arguments become the attributes in ``given``.

    ``EARLY`` is the form that begins with ``name_scope``, ``LATE`` the one without; None: there was none.
    """

    EARLY: inspect.Signature | None = None
    LATE: inspect.Signature | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = bound(type(self).__name__, self.EARLY, self.LATE, args, kwargs)
        super().__init__(given.pop("name_scope", None), given.pop("dtype", "float32"))
        self.__dict__["given"] = given
        self._make()

    def _make(self) -> None:
        """Make what does not wait for the first input; ``given`` holds the arguments by name."""

    def _activated(self, value: Any) -> Any:
        return result(activated(value, self.given.get("act")))


def bound(
    where: str,
    early: inspect.Signature | None,
    late: inspect.Signature | None,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> dict[str, Any]:
    """The arguments by name, defaults filled in, by the form that the call has.

    A text as the first argument, or ``name_scope``, means ``early``. Raises ArgumentError for arguments that
    the form does not have.
    """
    is_early = "name_scope" in kwargs or (bool(args) and isinstance(args[0], str))
    signature = (early if is_early else late) or early or late
    assert signature is not None, where
    try:
        found = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise ArgumentError(f"{where}: {error}; its arguments are {signature}") from None
    found.apply_defaults()
    return dict(found.arguments)
