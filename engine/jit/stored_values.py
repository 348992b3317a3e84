"""Attributes of Layers in which a converted function stores Tensors; each call updates them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from engine.core.containers import nest
from engine.program.build.builder import Builder
from engine.program.graph.program import Variable
from engine.tensor.arrays.tensor_array import TensorArray

OWN = frozenset({"_buffers", "_parameters", "_sub_layers"})
MISSING: Any = object()
Before = dict[int, dict[str, Any]]


class StoredValue:
    """``fields[name]``, in which the function stored ``value``, a structure with Variables of its Program."""

    def __init__(self, fields: dict[str, Any], name: str, value: object) -> None:
        self.fields = fields
        self.name = name
        self.value = value
        self.leaves = nest.flatten(value)

    def put(self, leaves: Iterable[Any]) -> None:
        """Store the value with these leaves."""
        self.fields[self.name] = nest.pack(self.value, list(leaves))

    def put_back(self, before: Before) -> None:
        """Restore the value from before the function was traced."""
        value = before.get(id(self.fields), {}).get(self.name, MISSING)
        if value is MISSING:
            del self.fields[self.name]
        else:
            self.fields[self.name] = value


def attributes(layers: Iterable[Any]) -> Before:
    """The attributes and buffers that Layers have now."""
    return {id(fields): dict(fields) for layer in layers for fields in _fields(layer)}


def stored_values(layers: Iterable[Any], builder: Builder) -> Iterator[StoredValue]:
    """The attributes and empty buffers whose values only a run of the Program gives."""
    written = {key for key, place in (builder.assigned or {}).items() if place.buffer is not None}
    seen: set[int] = set()
    for layer in layers:
        if id(layer) in seen:
            continue
        seen.add(id(layer))
        for fields in _fields(layer):
            for name, value in list(fields.items()):
                if name in OWN or (id(fields), name) in written:
                    continue
                if any(isinstance(leaf, Variable | TensorArray) for leaf in nest.flatten(value)):
                    yield StoredValue(fields, name, value)


def _fields(layer: Any) -> list[dict[str, Any]]:
    fields = vars(layer)
    return [fields, fields["_buffers"]] if "_buffers" in fields else [fields]
