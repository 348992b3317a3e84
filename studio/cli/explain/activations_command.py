"""The command activations: what each operator of a model computes for a sample."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from resources import quantities
from resources.settings.predict import PredictSettings
from studio.cli.application import app
from studio.cli.explain.explain_command import Checkpoint, File, Memory, Model, Row, Seconds
from studio.cli.explain.sample import OpenedSample, opened_sample
from studio.cli.limits import chosen_limits
from studio.cli.options import Json, Trust
from studio.cli.output import console, emit_json, one_line_errors, plain, say

if TYPE_CHECKING:
    from engine.explain import Activation

SIDE = 256
AT_ONCE = 16  # operators whose images are made together
_COLUMNS = ("operator", "layer", "variable", "shape", "dtype", "zeros", "low", "high", "file")
_UNFIT = re.compile(r"[^A-Za-z0-9_.-]+")


@app.command()
def activations(
    model: Model,
    file: File,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write the channels as images, and a table of all, into this folder.",
            metavar="DIR",
            show_default=False,
        ),
    ] = None,
    row: Row = 0,
    checkpoint: Checkpoint = None,
    memory: Memory = "",
    seconds: Seconds = "",
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Show what each operator of a model computes for a sample: shape, share of zeros, range of values.

    With --out the channels of convolutions and others are written as images, too.
    """
    limits = chosen_limits(PredictSettings(memory=memory, seconds=seconds))
    with (
        one_line_errors(),
        opened_sample("activations", model, file, row, checkpoint, limits, trust) as opened,
    ):
        found = opened.subject.activations(opened.arrays)
        files = [""] * len(found)
        if out is not None:
            _write(out, opened, found, files)
        if as_json:
            for each, name in zip(found, files, strict=True):
                emit_json(each.plain() | ({"file": str(out / name)} if out is not None and name else {}))
        else:
            _show(found)
            if out is not None:
                say(f"{out}: activations.csv and {quantities.count(sum(map(bool, files)))} images")


def _write(out: Path, opened: OpenedSample, found: Sequence[Activation], files: list[str]) -> None:
    """Write the images and the table; ``files`` takes the names of the images."""
    from studio.session.explain.map_files import channels_png, files_into, table_csv

    areas = [place for place, each in enumerate(found) if len(each.shape) >= 3]
    with files_into(out) as add:
        for first in range(0, len(areas), AT_ONCE):
            places = areas[first : first + AT_ONCE]
            wanted = [found[place].variable for place in places]
            images = opened.subject.activations(opened.arrays, wanted, SIDE)
            for place in places:
                each = images[place]
                if each.channels is not None and each.channels.size:
                    files[place] = _file_name(place, each)
                    add(files[place], channels_png(each.channels, each.low, each.high))
        rows = [_row(each, name) for each, name in zip(found, files, strict=True)]
        add("activations.csv", table_csv(_COLUMNS, rows))


def _file_name(place: int, activation: Activation) -> str:
    name = _UNFIT.sub("_", f"{activation.operator}_{activation.layer}".strip("_"))[:80]
    return f"{place:03d}_{name}.png"


def _row(activation: Activation, file: str) -> Sequence[object]:
    shape = "x".join(map(str, activation.shape))
    low, high = ("" if each is None else f"{each:.9g}" for each in (activation.low, activation.high))
    return (
        activation.operator,
        activation.layer,
        activation.variable,
        shape,
        activation.dtype,
        f"{activation.zeros:.6g}",
        low,
        high,
        file,
    )


def _show(found: Sequence[Activation]) -> None:
    from rich.table import Table

    table = Table("operator", "layer", "shape", "zeros", "low", "high")
    for each in found:
        low, high = ("" if x is None else quantities.number(x, digits=4) for x in (each.low, each.high))
        note = f" ({each.not_finite} not finite)" if each.not_finite else ""
        texts = (
            each.operator,
            each.layer,
            str(list(each.shape)),
            quantities.percent(each.zeros) + note,
            low,
            high,
        )
        table.add_row(*map(plain, texts))
    console().print(table)
