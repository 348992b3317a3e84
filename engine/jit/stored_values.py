"""Attributes of Layers in which a converted function stores Tensors; each call updates them."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from engine.core.containers import nest
from engine.program.build.builder import Builder
from engine.program.graph.program import Variable
from engine.tensor.arrays.tensor_array import TensorArray

OWN = frozenset({"_buffers", "_parameters", "_sub_layers"})
MISSING: Any = object()


class Before:
    """The attributes and buffers that Layers had before a function was traced."""

    def __init__(self, layers: Iterable[object]) -> None:
        self._fields: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
        self._containers: list[tuple[Any, Any]] = []  # in attributes, with copies
        self.parameters: set[int] = set()  # their ids
        for layer in layers:
            self.note(layer)

    def note(self, layer: object) -> None:
        """Note what a Layer has now, unless that was done."""
        self.parameters.update(map(id, vars(layer).get("_parameters", {}).values()))
        for fields in _fields(layer):
            if id(fields) not in self._fields:
                self._fields[id(fields)] = (fields, dict(fields))
                for value in fields.values():
                    if type(value) in (list, dict, set):
                        self._containers.append((value, copy.copy(value)))

    def value(self, fields: dict[str, Any], name: str) -> Any:
        """The value of an attribute then; MISSING where there was none."""
        return self._fields[id(fields)][1].get(name, MISSING) if id(fields) in self._fields else MISSING

    def restore(self) -> None:
        """Give all Layers what they had."""
        for fields, found in self._fields.values():
            fields.clear()
            fields.update(found)
        for container, found in self._containers:
            if isinstance(container, list):
                container[:] = found
            else:
                container.clear()
                container.update(found)


@contextmanager
def keeping_attributes(layers: Iterable[object]) -> Iterator[Before]:
    """Restore the attributes of Layers, and of those that are noted, if the block fails."""
    before = Before(layers)
    try:
        yield before
    except Exception:
        before.restore()
        raise


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
        value = before.value(self.fields, self.name)
        if value is MISSING:
            del self.fields[self.name]
        else:
            self.fields[self.name] = value


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
