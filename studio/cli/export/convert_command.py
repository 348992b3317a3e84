"""The command convert: a saved model in another format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from resources import quantities
from resources.settings.export import ENDINGS, EXPORT_SETTINGS, MODEL_FORMATS
from studio.cli.application import app
from studio.cli.options import Json, check_options
from studio.cli.output import emit_json, one_line_errors, say

_FORMAT = replace(EXPORT_SETTINGS["format"], choices=MODEL_FORMATS)
_BY_SUFFIX = {ending: format for format, ending in ENDINGS.items()}


@app.command()
def convert(
    source: Annotated[str, typer.Argument(help="The saved model: its PREFIX or its file.", metavar="SRC")],
    target: Annotated[
        Path, typer.Argument(help="What to write: NAME.h5, NAME.onnx, or a PREFIX.", metavar="DST")
    ],
    format: Annotated[
        str,
        typer.Option(
            help="The format: native (three files), packed (one file), onnx or paddle; by the suffix of DST "
            "unless given.",
        ),
    ] = "",
    opset: Annotated[int, typer.Option(help="The opset of ONNX, 17 or later.", min=17)] = 17,
    optimize: Annotated[
        bool, typer.Option("--optimize", help="Make batch norms part of the convolutions before them.")
    ] = False,
    compress: Annotated[bool, typer.Option("--compress", help="Make a packed file smaller.")] = False,
    rename: Annotated[
        list[str] | None, typer.Option(help="Rename an input or output; repeatable.", metavar="OLD=NEW")
    ] = None,
    dim: Annotated[
        list[str] | None,
        typer.Option(
            help="Give an axis of an input another size, -1 for one that varies; repeatable.",
            metavar="INPUT:AXIS=SIZE",
        ),
    ] = None,
    cut: Annotated[
        str,
        typer.Option(
            help="Write the part between tensors; several are separated by commas, and FROM.. or ..TO leaves "
            "the other end as it is.",
            metavar="FROM..TO",
        ),
    ] = "",
    fold: Annotated[bool, typer.Option("--fold", help="Compute what depends on constants alone.")] = False,
    as_json: Json = False,
) -> None:
    """Write a saved model in another format, and compare the results of both.

    ONNX needs the extra onnx; the file runs in a clean process, by ONNX Runtime where it is installed.
    """
    with one_line_errors():
        from engine.core.errors import ArgumentError
        from engine.jit.saved.edit_model import parse_edits
        from engine.jit.saved.model_files import ONNX, gain_of_compression, path_in_format, written_paths

        chosen = format or _BY_SUFFIX.get(target.suffix.lower(), "native")
        check_options({"format": _FORMAT}, {"format": chosen})
        other = _BY_SUFFIX.get(target.suffix.lower(), chosen)
        if other != chosen:
            raise typer.BadParameter(f"{target.name}: the suffix is that of {other}, not of {chosen}")
        place = path_in_format(target, chosen)
        try:
            edits = parse_edits(rename or [], dim or [], cut, fold)
        except ArgumentError as error:
            raise typer.BadParameter(error.message) from None
        found: dict[str, Any] = {"path": str(place), "format": chosen}
        if chosen == ONNX:
            from engine.onnx.convert import convert_model

            checked = convert_model(source, place, opset, optimize, edits)
            found |= {"opset": opset, "difference": checked.differences, "latency": checked.latencies}
        else:
            from engine.jit.saved.change_format import change_format

            changed = change_format(source, place, chosen, optimize, compress, edits)
            found |= {"save_id": changed.save_id, "difference": {"engine": changed.difference}}
        found["bytes"] = sum(each.stat().st_size for each in written_paths(place, chosen))
        if compress:
            found["saved"] = gain_of_compression(place, chosen)
        if as_json:
            emit_json(found)
            return
        compared = ", ".join(
            f"{name} {quantities.number(value, digits=3)}" for name, value in found["difference"].items()
        )
        what = f"opset {opset}" if chosen == ONNX else chosen
        smaller = f", {quantities.percent(found['saved'])} smaller by compression" if compress else ""
        say(
            f"{place}: {what}, {quantities.size(found['bytes'])}{smaller}; largest difference, as a share of "
            f"the largest result: {compared}"
        )
