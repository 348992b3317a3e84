"""The command that makes models smaller, quantize, and how it shows what that costs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from studio.cli.application import app
from studio.cli.export.quantize_output import show_report
from studio.cli.options import Json, Trust
from studio.cli.output import console, emit_json, one_line_errors
from studio.cli.trust import require_trust

if TYPE_CHECKING:
    from engine.training.quantize_choices import Choices, Emit


@app.command()
def quantize(
    source: Annotated[
        Path,
        typer.Argument(help="The folder of a run, or a saved model without suffix.", metavar="RUN|PREFIX"),
    ],
    out: Annotated[
        str, typer.Option(help="PREFIX of the files; RUN/inference/quantized unless given.", metavar="PREFIX")
    ] = "",
    algo: Annotated[
        str, typer.Option(help="How thresholds are found: abs_max, avg, hist, KL, mse, emd, min_max or ptf.")
    ] = "hist",
    samples: Annotated[
        int | None, typer.Option(help="Training samples that calibrate: 320, or all of fewer, unless given.")
    ] = None,
    bits: Annotated[
        int | None, typer.Option(help="Bits of weights and of values, 2 to 16; 8 unless given.")
    ] = None,
    weight_bits: Annotated[int | None, typer.Option(help="Bits of weights alone.")] = None,
    activation_bits: Annotated[
        int | None, typer.Option(help="Bits of the values between layers alone.")
    ] = None,
    weight_type: Annotated[
        str,
        typer.Option(help="channel_wise_abs_max: a scale for each channel of a weight; abs_max: one scale."),
    ] = "channel_wise_abs_max",
    bias_correction: Annotated[
        bool, typer.Option("--bias-correction", help="Correct mean and deviation of each channel of weights.")
    ] = False,
    rounding: Annotated[
        str,
        typer.Option(help="nearest; adaptive: each weight up or down, as the layer's results change least."),
    ] = "nearest",
    equalize: Annotated[
        bool,
        typer.Option("--equalize", help="Let neighbouring layers share the ranges of their weights first."),
    ] = False,
    skip: Annotated[
        list[str] | None,
        typer.Option(
            help="Leave layers in float: by name, pattern (fc*) or type of operator; may be repeated."
        ),
    ] = None,
    target_drop: Annotated[
        float | None,
        typer.Option(help="Lose at most so many points of accuracy: the worst layers stay in float."),
    ] = None,
    qat: Annotated[
        bool, typer.Option("--qat", help="Train on with quantization first, from the checkpoint of the run.")
    ] = False,
    epochs: Annotated[int | None, typer.Option(help="Epochs of --qat; 1 unless given.", min=1)] = None,
    lr: Annotated[
        float | None, typer.Option("--lr", help="Learning rate of --qat; a tenth of the run's unless given.")
    ] = None,
    weights_only: Annotated[
        bool, typer.Option("--weights-only", help="Quantize weights and leave values in float.")
    ] = False,
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity/--no-sensitivity", help="Measure what each layer costs alone.")
    ] = True,
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
) -> None:
    """Write a model with weights of integers, and tell what that costs; checked in a clean process."""
    with one_line_errors():
        from engine.core.errors import ArgumentError
        from engine.quantization.options import QuantizeOptions
        from engine.training.quantize_choices import Choices

        is_run = source.is_dir()
        if (epochs is not None or lr is not None) and not qat:
            raise typer.BadParameter("--epochs and --lr are those of --qat; give them together, or neither")
        if qat and not is_run:
            raise typer.BadParameter(
                f"--qat trains a run's network on its data: {source} is no folder of a run; give one, or "
                "leave --qat out"
            )
        try:
            options = QuantizeOptions(
                algo=algo,
                samples=samples,
                weight_bits=_first(weight_bits, bits, 8),
                activation_bits=_first(activation_bits, bits, 8),
                weight_type=weight_type,
                bias_correction=bias_correction,
                rounding=rounding,
                equalize=equalize,
                skip=tuple(skip or ()),
            )
            choices = Choices(
                options,
                target_drop=target_drop,
                sensitivity=sensitivity,
                weights_only=weights_only,
                epochs=(epochs or 1) if qat else 0,
                learning_rate=lr or 0.0,
                data=data,
            )
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
    from engine.training.quantize_run import quantize_run, quantize_saved

    if is_run:
        prefix = out or str(source / "inference" / "quantized")
        return quantize_run(source, prefix, choices, emit, checkpoint=checkpoint, step=step)
    return quantize_saved(str(source), out or f"{source}-quantized", choices, emit)


def _first(*values: int | None) -> int:
    return next(value for value in values if value is not None)


@contextmanager
def _progress(as_json: bool) -> Iterator[Emit]:
    """Shows how far it is, on a terminal, while the block goes on."""
    from rich.console import Console
    from rich.progress import Progress

    from studio.cli.output import visible

    screen = Console(stderr=True)
    with Progress(console=screen, transient=True, disable=as_json or not screen.is_terminal) as progress:
        task = progress.add_task("", total=None)

        def show(event: Any) -> None:
            progress.update(
                task,
                description=visible(event["message"]),
                completed=event["done"],
                total=event["total"] or None,
            )

        yield show
