"""The command explain: which values of a sample an answer depends on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from resources.settings.predict import PREDICT_SETTINGS, PredictSettings
from studio.cli.application import app
from studio.cli.explain.explain_output import names_of, tell, write_map
from studio.cli.explain.sample import OpenedSample, opened_sample, place_of
from studio.cli.limits import chosen_limits
from studio.cli.options import Json, Trust
from studio.cli.output import fail, one_line_errors
from studio.cli.signals import interruptible

if TYPE_CHECKING:
    from engine.explain import Attribution

METHODS = ("saliency", "integrated", "occlusion")
FILLS = ("zero", "mean", "white")
ENDINGS = (".png", ".csv", ".npy")
Model = Annotated[
    Path,
    typer.Argument(help="The PREFIX of a saved model, its file, or the folder of a run.", metavar="PREFIX"),
]
File = Annotated[
    Path, typer.Argument(help="An image, or a CSV, NPY or NPZ file with samples.", metavar="IMAGE")
]
Row = Annotated[
    int,
    typer.Option("--sample", help="Of a file with several samples: its number, from 0.", min=0, metavar="N"),
]
Checkpoint = Annotated[
    int | None,
    typer.Option(
        help="Of a run: the checkpoint of this step; the best one unless given.",
        min=0,
        metavar="N",
        show_default=False,
    ),
]
Memory = Annotated[
    str, typer.Option(help=PREDICT_SETTINGS["memory"].help, metavar="SIZE", show_default=False)
]
Seconds = Annotated[
    str, typer.Option(help=PREDICT_SETTINGS["seconds"].help, metavar="SECONDS", show_default=False)
]


@app.command()
def explain(
    model: Model,
    file: File,
    method: Annotated[
        str, typer.Option(help="saliency, integrated or occlusion.", metavar="METHOD")
    ] = "saliency",
    of_class: Annotated[
        str,
        typer.Option(
            "--class",
            help="The class, or the number of the output, to explain: its name or its place from 0; the "
            "largest unless given.",
            metavar="CLASS",
            show_default=False,
        ),
    ] = "",
    output: Annotated[
        str, typer.Option(help="The output of a model with several: its name or its place.", metavar="NAME")
    ] = "0",
    of_input: Annotated[
        str,
        typer.Option(
            "--input", help="The input of a model with several: its name or its place.", metavar="NAME"
        ),
    ] = "0",
    row: Row = 0,
    steps: Annotated[
        int, typer.Option(help="Integrated gradients: steps between baseline and sample.", min=1, max=10_000)
    ] = 32,
    baseline: Annotated[
        str,
        typer.Option(
            help="Integrated gradients: what the sample is compared with: zero, mean or white; of a table "
            "the mean of each column in the training, of others zero unless given.",
            metavar="FILL",
            show_default=False,
        ),
    ] = "",
    size: Annotated[
        int | None,
        typer.Option(
            help="Occlusion: the side of the window; a fifth unless given.", min=1, show_default=False
        ),
    ] = None,
    stride: Annotated[
        int | None,
        typer.Option(
            help="Occlusion: the distance between windows; a third of the side unless given.",
            min=1,
            show_default=False,
        ),
    ] = None,
    color: Annotated[str, typer.Option(help="Occlusion: what covers: zero, mean or white.")] = "mean",
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write the map: FILE.png (images), FILE.csv or FILE.npy (its numbers).",
            metavar="FILE.png",
            show_default=False,
        ),
    ] = None,
    checkpoint: Checkpoint = None,
    memory: Memory = "",
    seconds: Seconds = "",
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Show which values of a sample the answer of a model depends on, and how much.

    saliency: the gradient of the score. integrated: the share of each value in the difference to a baseline.
    occlusion: how far the score drops where a window covers the values; the only one for quantized models.
    """
    for option, value, choices in (
        ("--method", method, METHODS),
        ("--baseline", baseline, FILLS),
        ("--color", color, FILLS),
    ):
        if value not in choices and (value or option != "--baseline"):
            raise typer.BadParameter(f"{option}: got {value!r}; choose {', '.join(choices)}")
    if out is not None and out.suffix.lower() not in ENDINGS:
        raise typer.BadParameter(f"--out: got {out.name!r}; give a file that ends with {', '.join(ENDINGS)}")
    limits = chosen_limits(PredictSettings(memory=memory, seconds=seconds))
    with (
        one_line_errors(),
        opened_sample("explain", model, file, row, checkpoint, limits, trust) as opened,
    ):
        found, fill = _explained(
            opened, method, of_class, output, of_input, steps, baseline, size, stride, color, as_json
        )
        written = write_map(out, opened, found) if out is not None else None
        tell(opened, found, fill, file, written, as_json)
        if found.is_partial:
            fail("stopped")


def _explained(
    opened: OpenedSample,
    method: str,
    of_class: str,
    output: str,
    of_input: str,
    steps: int,
    baseline: str,
    size: int | None,
    stride: int | None,
    color: str,
    as_json: bool,
) -> tuple[Attribution, str]:
    """The map, and what the sample was compared with or covered by."""
    from rich.console import Console
    from rich.progress import Progress

    from studio.session.explain.covering import covering_of, fill_used, filled, usual_baseline
    from studio.session.predict.model_input import array_of

    subject = opened.subject
    place, which = (
        place_of(given, tuple(each.name for each in group), len(group), what)
        for given, group, what in ((of_input, subject.inputs, "input"), (output, subject.outputs, "output"))
    )
    target = None if not of_class else _target(opened, of_class, which)
    asked, value = opened.inputs[place], opened.values[place]

    def fed(fill: str) -> Any:
        return array_of(asked, filled(asked, value, fill), opened.info.scaling, opened.info.prefix)

    if method == "saliency":
        return subject.saliency(opened.arrays, target, which, place), ""
    screen = Console(stderr=True)
    with Progress(console=screen, transient=True, disable=as_json or not screen.is_terminal) as shown:
        task = shown.add_task("", total=1.0)

        def progress(share: float, values: object) -> None:
            shown.update(task, completed=share)

        if method == "integrated":
            chosen = baseline or usual_baseline(asked)
            found = subject.integrated_gradients(
                opened.arrays, target, steps, fed(chosen), which, place, progress
            )
            return found, fill_used(asked, chosen)
        covering, stop = covering_of(asked), _Stop()
        with interruptible(stop):
            found = subject.occlusion(
                opened.arrays,
                target,
                size or covering.size,
                stride or covering.step,
                fed(color),
                covering.axes,
                covering.form,
                which,
                place,
                progress,
                lambda: stop.asked,
            )
        if not found.share:
            fail("stopped")
        return found, fill_used(asked, color)


class _Stop:
    """Ctrl+C ends an occlusion after the windows that are computed; a second one ends it at once."""

    asked = False

    def interrupt(self) -> None:
        self.asked = True


def _target(opened: OpenedSample, given: str, output: int) -> int:
    from engine.core.errors import ArgumentError

    names = names_of(opened, output)
    if not names and not given.isdecimal():
        raise ArgumentError(f"explain: no such class: got {given!r}; give the number of the output, from 0")
    return place_of(given, names, len(names) or 1 << 62, "class")
