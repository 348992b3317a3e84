"""The command that makes models smaller, quantize, and how it shows what that costs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from resources.settings.quantize import QUANTIZE_SETTINGS, QuantizeSettings
from studio.cli.application import app
from studio.cli.export.quantize_output import show_report
from studio.cli.options import Json, Trust, check_options, given_options, with_options
from studio.cli.output import console, emit_json, one_line_errors
from studio.cli.progress_bar import progress_bar
from studio.cli.trust import require_trust

if TYPE_CHECKING:
    from engine.training.quantize.choices import Choices, Emit


@app.command()
@with_options(QUANTIZE_SETTINGS)
def quantize(
    context: typer.Context,
    source: Annotated[
        Path,
        typer.Argument(help="The folder of a run, or a saved model without suffix.", metavar="RUN|PREFIX"),
    ],
    out: Annotated[
        str,
        typer.Option(
            help="PREFIX of the files, or one file NAME.h5; RUN/inference/quantized unless given.",
            metavar="PREFIX",
        ),
    ] = "",
    bits: Annotated[
        int | None, typer.Option(help="Bits of weights and of values, 2 to 16; 8 unless given.")
    ] = None,
    qat: Annotated[
        bool, typer.Option("--qat", help="Train on with quantization first, from the checkpoint of the run.")
    ] = False,
    weights_only: Annotated[
        bool, typer.Option("--weights-only", help="Quantize weights and leave values in float.")
    ] = False,
    data: Annotated[
        str,
        typer.Option(
            help="Data that calibrates and measures, as of train, or an NPY file; a run has its own."
        ),
    ] = "",
    checkpoint: Annotated[
        str, typer.Option(help="Of a run: best, last, or the path of a checkpoint.")
    ] = "best",
    step: Annotated[int | None, typer.Option(help="Of a run: the checkpoint of this step.", min=0)] = None,
    trust: Trust = False,
    as_json: Json = False,
    **settings: Any,
) -> None:
    """Write a model with weights of integers, and tell what that costs; checked in a clean process."""
    with one_line_errors():
        from engine.core.errors import ArgumentError
        from engine.training.quantize.choices import Choices

        is_run = source.is_dir()
        given = set(given_options(context))
        if given & {"epochs", "learning_rate"} and not qat:
            raise typer.BadParameter("--epochs and --lr are those of --qat; give them together, or neither")
        if qat and weights_only:
            raise typer.BadParameter(
                "--qat trains with quantized values, --weights-only leaves them in float; give one of the two"
            )
        if qat and not is_run:
            raise typer.BadParameter(
                f"--qat trains a run's network on its data: {source} is not the folder of a run; give one, "
                "or omit --qat"
            )
        if bits is not None:
            settings |= dict.fromkeys({"weight_bits", "activation_bits"} - given, bits)
        settings["skip"] = tuple(settings["skip"] or ())
        check_options(QUANTIZE_SETTINGS, settings)
        if "samples" not in given:
            settings["samples"] = None  # the default, or all where the data has fewer
        method = "qat" if qat else "weights_only" if weights_only else "post_training"
        try:
            choices = Choices.of(QuantizeSettings(method=method, **settings), data)
        except ArgumentError as error:
            raise typer.BadParameter(str(error).removeprefix("quantize: ")) from None
        if is_run:
            require_trust("quantize", source, trust)
        with _progress(as_json) as emit:
            event = _carry_out(source, out, choices, emit, is_run, checkpoint, step)
        if as_json:
            emit_json(event)
            return
        from engine.quantization.report import QuantizationReport

        show_report(QuantizationReport.from_plain(event["report"]), event["prefix"], console())


def _carry_out(
    source: Path, out: str, choices: Choices, emit: Emit, is_run: bool, checkpoint: str, step: int | None
) -> Any:
    from engine.training.quantize.run import quantize_run, quantize_saved

    if is_run:
        prefix = out or str(source / "inference" / "quantized")
        return quantize_run(source, prefix, choices, emit, checkpoint=checkpoint, step=step)
    return quantize_saved(str(source), out or f"{source}-quantized", choices, emit)


@contextmanager
def _progress(as_json: bool) -> Iterator[Emit]:
    """Shows how far it is, on a terminal, while the block goes on."""
    with progress_bar(as_json) as show:
        yield lambda event: show(event["message"], event["done"], event["total"])
