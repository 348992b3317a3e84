"""``data``, ``py_reader`` and what reads from it: where a Program's batches come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.alias.absent import refusing
from engine.core.errors import ArgumentError
from engine.core.names import generate
from engine.fluid.layers.adapting import building
from engine.static import data as modern_data


def data(
    name: str,
    shape: Any,
    append_batch_size: bool = True,
    dtype: Any = "float32",
    lod_level: int = 0,
    type: Any = None,
    stop_gradient: bool = True,
) -> Any:
    """A Variable that is fed under ``name``; ``shape`` is that of a sample.

    With ``append_batch_size`` a first dimension of any size is added, unless a dimension of ``shape`` is None
    or negative already. ``lod_level`` is that of rows of uneven length; arrays may be fed as well.
    """
    known = [-1 if d is None else int(d) for d in shape]
    if append_batch_size and all(d >= 0 for d in known):
        known = [-1, *known]
    with building():
        made = modern_data(name, known, dtype)
    made.stop_gradient = stop_gradient
    made.lod_level, made.need_check_feed = lod_level, False
    return made


def py_reader(
    capacity: int,
    shapes: Sequence[Any],
    dtypes: Sequence[Any],
    lod_levels: Any = None,
    name: str | None = None,
    use_double_buffer: bool = True,
) -> Any:
    """A ``PyReader`` of new Variables of these shapes and dtypes, which ``read_file`` gives.

    Each run of the Program between its ``start()`` and ``reset()`` takes a batch of what was given
    by ``decorate_paddle_reader`` (lists of samples) or ``decorate_tensor_provider`` (arrays). Raises
    ArgumentError for shapes, dtypes and ``lod_levels`` of different numbers.
    """
    levels = [0] * len(shapes) if lod_levels is None else list(lod_levels)
    if not len(shapes) == len(dtypes) == len(levels):
        raise ArgumentError(
            f"layers.py_reader: there are {len(shapes)} shapes, {len(dtypes)} dtypes and {len(levels)} "
            "lod_levels; give as many"
        )
    key = name or "py_reader"
    fed = [
        modern_data(generate(f"{key}_field"), list(shape), dtype, level)
        for shape, dtype, level in zip(shapes, dtypes, levels, strict=True)
    ]
    return create_py_reader_by_data(capacity, fed, name, use_double_buffer)


def create_py_reader_by_data(
    capacity: int, feed_list: Sequence[Any], name: str | None = None, use_double_buffer: bool = True
) -> Any:
    """A ``PyReader`` that feeds the Variables of ``feed_list``: see ``py_reader``."""
    from engine.fluid.reader import PyReader

    return PyReader(feed_list, capacity, use_double_buffer, iterable=False)


def read_file(reader: Any) -> Any:
    """The Variables that a batch of ``reader`` is in: a list, or the only one."""
    found = reader.variables
    return found[0] if len(found) == 1 else found


def double_buffer(reader: Any, place: Any = None, name: str | None = None) -> Any:
    """``reader`` itself, which reads ahead already."""
    return reader


__getattr__ = refusing("engine.fluid.layers")
