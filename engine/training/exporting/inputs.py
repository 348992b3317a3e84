"""The inputs that a run's model is exported with: those of its data, or as the settings name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.core.errors import ArgumentError, FormatError
from engine.training.sources.several_inputs import Feed
from engine.training.sources.spec import spec_from_plain
from resources.settings.export import ExportSettings
from resources.settings.model_inputs import ModelInputRow, parse_inputs, write_inputs

_OF_ONE = ("input_name", "input_shape", "dtype")


def feeds_of(data: Mapping[str, Any]) -> tuple[Feed, ...]:
    """The inputs of a model that takes several; none for one.

    Args:
        data: of a checkpoint, or the information in exported files.

    Raises:
        FormatError: they are not as a training writes them.
    """
    spec = data.get("spec", data.get("data_spec"))
    try:
        return () if spec is None else spec_from_plain(spec).feeds
    except (LookupError, TypeError, ValueError) as error:
        raise FormatError(
            f"export: not what a training says of its data: {type(error).__name__}: {error}; choose another "
            "checkpoint"
        ) from error


def export_inputs(data: Mapping[str, Any], settings: ExportSettings) -> tuple[ModelInputRow, ...]:
    """The inputs of the exported files.

    Args:
        data: of a checkpoint.

    Raises:
        ArgumentError: the settings name other inputs than the model has. FormatError: as ``feeds_of``.
    """
    feeds = feeds_of(data)
    usual = ExportSettings()
    try:
        given = parse_inputs(settings.inputs)
    except ValueError as error:
        raise ArgumentError(f"export: inputs: {error}") from None
    if feeds:
        own = usual_rows(feeds)
        if any(getattr(settings, name) != getattr(usual, name) for name in _OF_ONE):
            raise ArgumentError(
                f"export: the model takes {len(own)} inputs: {', '.join(row.name for row in own)}; give "
                f"name, shape and dtype of all of them together: --inputs {write_inputs(own)!r}"
            )
    else:
        shape = settings.input_shape or (-1, *(int(size) for size in data["shape"]))
        own = (ModelInputRow(settings.input_name, tuple(shape), settings.dtype),)
    if given and len(given) != len(own):
        raise ArgumentError(
            f"export: inputs: the model takes {len(own)}: got {len(given)}; give e.g. {write_inputs(own)!r}"
        )
    return given or own


def usual_rows(feeds: Sequence[Feed]) -> tuple[ModelInputRow, ...]:
    """Several inputs as the data feeds them, for a batch of any size."""
    return tuple(ModelInputRow(feed.name, (-1, *feed.shape), feed.dtype) for feed in feeds)
