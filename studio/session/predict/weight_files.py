"""What a file of weights holds, as plain values: names, shapes and dtypes of its tensors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

_NATIVE_SUFFIXES = (".pdparams", ".pdopt")


def is_weights_file(path: str) -> bool:
    """Whether a file holds weights, not a model: of another program, or a state that ``save`` wrote."""
    from engine.files.content import CONTAINER, container_kind, content_of
    from engine.files.state import KIND
    from engine.files.weights.reading import foreign_form

    if not os.path.isfile(path):
        return False
    if foreign_form(path) or container_kind(path) == KIND:
        return True
    return path.endswith(_NATIVE_SUFFIXES) and content_of(path) == CONTAINER


def describe_weights(path: str) -> dict[str, Any]:
    """The tensors of a file of weights, their names with those of the dicts and lists around them.

    Returns:
        ``path``, ``form`` (in words), ``size`` (bytes), ``parameters`` (how many numbers), ``tensors`` (name,
        shape, dtype), ``others``, the number of other values.

    Raises:
        DataError, FormatError: it is damaged, or holds what is neither a tensor nor a plain value.
    """
    from engine.files.weights.reading import TITLES, foreign_form
    from engine.framework import load

    form = foreign_form(path)
    found = list(_values("", load(path, return_numpy=True)))
    tensors = [
        {"name": name, "shape": list(value.shape), "dtype": _dtype(value)}
        for name, value in found
        if hasattr(value, "shape")
    ]
    return {
        "path": path,
        "form": TITLES.get(form, "a state that Model Studio saved"),
        "size": os.path.getsize(path),
        "parameters": sum(value.size for _, value in found if hasattr(value, "shape")),
        "tensors": tensors,
        "others": len(found) - len(tensors),
    }


def _dtype(array: Any) -> str:
    return "bfloat16" if array.dtype.name == "uint16" else str(array.dtype)


def _values(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The tensors and plain values in ``value`` by dotted name."""
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, (list, tuple)):
        parts = enumerate(value)  # type: ignore[assignment]
    else:
        yield name, value
        return
    for key, part in parts:
        yield from _values(f"{name}.{key}" if name else str(key), part)
