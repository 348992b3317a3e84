"""Names and text of layers: prefixes of parameter names, names of attributes, the printed tree."""

from __future__ import annotations

import re
from collections.abc import Container

from engine.core.errors import ArgumentError, DTypeError
from engine.nn.layer.base.state import LayerTree

_FIRST_CAP = re.compile("(.)([A-Z][a-z]+)")
_ALL_CAP = re.compile("([a-z])([A-Z])")


def snake_case(name: str) -> str:
    """``MaxPool2D`` as ``max_pool2d``: what parameter names begin with."""
    return _ALL_CAP.sub(r"\1_\2", _FIRST_CAP.sub(r"\1_\2", name)).lower()


def check_name(where: str, what: str, name: object, layer: LayerTree, known: Container[str]) -> None:
    """Raise where ``name`` can't be the name of a new parameter or buffer of ``layer``."""
    if not isinstance(name, str):
        raise DTypeError(f"{where}: the {what}'s name must be a string: got {type(name).__name__}")
    if name == "" or "." in name:
        raise ArgumentError(
            f"{where}: {name!r} is not a name for a {what}: names are not empty and have no dot"
        )
    if name not in known and hasattr(layer, name):
        raise ArgumentError(f"{where}: attribute {name!r} exists already; choose another name for the {what}")


def with_name(text: str, name: str | None) -> str:
    """``text``, and the ``name`` that a user gave to a layer."""
    return f"{text}, name={name}" if name else text


def layer_text(layer: LayerTree) -> str:
    """The class with its extra_repr, and the layers below, indented by two."""
    extra = layer.extra_repr().split("\n")
    text = f"{type(layer).__name__}("
    text += "\n  " + "\n  ".join(extra) + "\n" if len(extra) > 1 else extra[0]
    lines = [f"({name}): " + repr(each).replace("\n", "\n  ") for name, each in layer._sub_layers.items()]
    if lines:
        text += "\n  " + "\n  ".join(lines) + "\n"
    return text + ")"
