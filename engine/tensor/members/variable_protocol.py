"""Members of a Variable besides operators and functions: places, its description, its attributes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.core.errors import ArgumentError, ModeError
from engine.core.strictness import tolerate
from engine.core.values.dtype import DType
from engine.core.values.var_type import Kind
from engine.ops.arrays import shape as shape_ops
from engine.program.graph.variable import Variable


def place(x: Variable) -> None:
    """None, with a LeniencyWarning: the place of a Variable is known when its Program runs."""
    tolerate(ModeError(f"place: {x.name!r} is a static Variable, which has no place before its Program runs"))


def _moved(x: Variable) -> Any:
    """The same values: a Program computes where its Executor does."""
    return shape_ops.assign(x)


def _cuda(x: Variable, device_id: int | None = None, blocking: bool = True) -> Any:
    """The same values: a Program computes where its Executor does."""
    return _moved(x)


def _element_size(x: Variable) -> int:
    """Bytes an element takes."""
    return x.dtype.itemsize


# -- its description, as Paddle's VarDesc -------------------------------------------------------------------


class Description:
    """The description of a Variable, with methods, as of Paddle's VarDesc."""

    def __init__(self, variable: Variable) -> None:
        self._variable = variable
        self._attributes: dict[str, Any] = {}

    def name(self) -> str:
        return self._variable.name

    def shape(self) -> list[int]:
        return [int(d) for d in self._variable.spec.shape]

    def dtype(self) -> DType:
        return self._variable.dtype

    def type(self) -> Kind:
        return self._variable.type

    def persistable(self) -> bool:
        return self._variable.persistable

    def stop_gradient(self) -> bool:
        return self._variable.stop_gradient

    def is_parameter(self) -> bool:
        return self._variable.is_parameter

    def need_check_feed(self) -> bool:
        return self._variable.is_data

    def lod_level(self) -> int:
        return self._variable.lod_level

    def attr_names(self) -> list[str]:
        return list(self._attributes)

    def has_attr(self, name: str) -> bool:
        return name in self._attributes

    def attr(self, name: str) -> Any:
        """An attribute that was set. Raises ArgumentError for another name."""
        if name not in self._attributes:
            raise ArgumentError(
                f"attr: {self._variable.name!r} has no attribute {name!r}; it has {self.attr_names()}"
            )
        return self._attributes[name]

    def set_attr(self, name: str, value: Any) -> None:
        self._attributes[name] = value

    def remove_attr(self, name: str) -> None:
        self._attributes.pop(name, None)


def description(x: Variable) -> Description:
    """The description of the Variable, with methods."""
    found = x.__dict__.get("_description")
    if found is None:
        found = x.__dict__["_description"] = Description(x)
    return found


METHODS: dict[str, Callable[..., Any]] = {
    "place": place,
    "cpu": _moved,
    "cuda": _cuda,
    "element_size": _element_size,
    "attr": lambda x, name: description(x).attr(name),
    "_has_attr": lambda x, name: description(x).has_attr(name),
    "_set_attr": lambda x, name, value: description(x).set_attr(name, value),
    "_remove_attr": lambda x, name: description(x).remove_attr(name),
    "_to_readable_code": lambda x: x.to_string(),
}
FIELDS: dict[str, Any] = {
    "desc": property(description),
    "attr_names": property(lambda x: description(x).attr_names()),
    "error_clip": None,
    "belong_to_optimizer": False,
}
