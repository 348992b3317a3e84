"""The command convert: a saved model as a file of another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from studio.cli.application import app
from studio.cli.options import Json
from studio.cli.output import emit_json, one_line_errors, say


@app.command()
def convert(
    source: Annotated[str, typer.Argument(help="The saved model, without suffix.", metavar="PREFIX")],
    target: Annotated[Path, typer.Argument(help="The file to write, NAME.onnx.", metavar="NAME.onnx")],
    opset: Annotated[int, typer.Option(help="The opset of ONNX, 17 or later.", min=17)] = 17,
    optimize: Annotated[
        bool, typer.Option("--optimize", help="Make batch norms part of the convolutions before them.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write a saved model as an ONNX file, and compare their results in a clean process.

    Needs the extra onnx. ONNX Runtime takes part in the comparison where it is installed.
    """
    if target.suffix.lower() != ".onnx":
        raise typer.BadParameter(f"the file must end with .onnx: got {target.name}")
    with one_line_errors():
        from engine.onnx.convert import convert_model

        done = convert_model(source, target, opset, optimize)
        size = target.stat().st_size
        if as_json:
            emit_json(
                {
                    "path": str(target),
                    "opset": opset,
                    "bytes": size,
                    "difference": done.differences,
                    "latency": done.latencies,
                }
            )
            return
        compared = ", ".join(f"{name} {value:.2g}" for name, value in done.differences.items())
        say(
            f"{target}: opset {opset}, {size / 1024:.0f} KB; largest difference in a clean process, as a "
            f"share of the largest result: {compared}"
        )
