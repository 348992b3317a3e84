"""The command explain: which values of a sample an answer depends on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from resources import quantities
from resources.settings.predict import PREDICT_SETTINGS, PredictSettings
from studio.cli.application import app
from studio.cli.explain.sample import OpenedSample, opened_sample, place_of
from studio.cli.limits import chosen_limits
from studio.cli.options import Json, Trust
from studio.cli.output import emit_json, one_line_errors, say

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
        str, typer.Option(help="Integrated gradients: what the sample is compared with: zero, mean or white.")
    ] = "zero",
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
        if value not in choices:
            raise typer.BadParameter(f"{option}: got {value!r}; choose {', '.join(choices)}")
    if out is not None and out.suffix.lower() not in ENDINGS:
        raise typer.BadParameter(f"--out: got {out.name!r}; give a file that ends with {', '.join(ENDINGS)}")
    limits = chosen_limits(PredictSettings(memory=memory, seconds=seconds))
    with (
        one_line_errors(),
        opened_sample("explain", model, file, row, checkpoint, limits, trust) as opened,
    ):
        found = _explained(
            opened, method, of_class, output, of_input, steps, baseline, size, stride, color, as_json
        )
        written = out is not None and _write(out, opened, found)
        _tell(opened, found, file, out if written else None, as_json)


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
) -> Attribution:
    from rich.console import Console
    from rich.progress import Progress

    from studio.session.explain.covering import covering_of, filled
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
        return subject.saliency(opened.arrays, target, which, place)
    screen = Console(stderr=True)
    with Progress(console=screen, transient=True, disable=as_json or not screen.is_terminal) as shown:
        task = shown.add_task("", total=1.0)

        def progress(share: float, values: object) -> None:
            shown.update(task, completed=share)

        if method == "integrated":
            return subject.integrated_gradients(
                opened.arrays, target, steps, fed(baseline), which, place, progress
            )
        covering = covering_of(asked)
        return subject.occlusion(
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
        )


def _names(opened: OpenedSample, output: int) -> tuple[str, ...]:
    """The names of the numbers of an output."""
    info = opened.info
    if output:
        return ()
    return tuple(info.raw.spec.targets) if info.raw is not None and info.predicts_numbers else info.classes


def _target(opened: OpenedSample, given: str, output: int) -> int:
    from engine.core.errors import ArgumentError

    names = _names(opened, output)
    if not names and not given.isdecimal():
        raise ArgumentError(f"explain: no such class: got {given!r}; give the number of the output, from 0")
    return place_of(given, names, len(names) or 1 << 62, "class")


def _write(out: Path, opened: OpenedSample, found: Attribution) -> bool:
    from engine.core.errors import ArgumentError
    from studio.session.explain.map_files import array_npy, map_png, table_csv, write
    from studio.session.explain.maps import is_image, map_of

    asked, value = opened.inputs[found.input], opened.values[found.input]
    kind = out.suffix.lower()
    if kind == ".npy":
        data = array_npy(found.values)
    elif is_image(asked):
        values = map_of(asked, found.values, found.method)
        if kind == ".png":
            data = map_png(value, values)
        else:
            data = table_csv([str(n) for n in range(values.shape[1])], values.tolist())
    elif kind == ".png":
        raise ArgumentError(f"explain: {asked.name} is not an image, but numbers: give --out FILE.csv")
    else:
        data = table_csv(["name", "value", found.method], _rows(opened, found))
    write(out, data)
    return True


def _rows(opened: OpenedSample, found: Attribution) -> list[tuple[str, float, float]]:
    """The name, value and attribution of each column, or of each step of a sequence."""
    from studio.session.explain.maps import numbers_of

    asked, value = opened.inputs[found.input], opened.values[found.input]
    numbers = numbers_of(asked, found.values, found.method)
    given = value.reshape(len(numbers), -1)
    columns = [each.name for each in asked.raw.inputs] if asked.raw is not None and asked.raw.is_table else []
    names = columns if len(columns) == len(numbers) else [str(n) for n in range(len(numbers))]
    return [
        (name, float(row[0]), float(number)) for name, row, number in zip(names, given, numbers, strict=True)
    ]


def _without_gradient(opened: OpenedSample, found: Attribution) -> list[str]:
    """The columns of words that the model looks up as integers, through which no gradient flows."""
    raw = opened.inputs[found.input].raw
    if found.method == "occlusion" or raw is None or not raw.is_table:
        return []
    words = {column.name for column in raw.inputs if column.words}
    return [name for name, _, number in _rows(opened, found) if name in words and number == 0.0]


def _tell(opened: OpenedSample, found: Attribution, file: Path, out: Path | None, as_json: bool) -> None:
    import numpy as np

    from studio.session.explain.maps import is_image, strongest

    names = _names(opened, found.output)
    name = names[found.target] if found.target < len(names) else str(found.target)
    table = not is_image(opened.inputs[found.input])
    rows = _rows(opened, found) if table else []
    without = _without_gradient(opened, found) if table else []
    if as_json:
        said: dict[str, Any] = {
            "file": str(file),
            "method": found.method,
            "class": name,
            "target": found.target,
            "score": found.score,
            "seconds": found.seconds,
            "shape": list(found.values.shape),
            **found.settings,
        }
        if found.difference is not None:
            said |= {"difference": found.difference, "gap": found.gap}
        if table:
            said["values"] = {row[0]: None if row[0] in without else row[2] for row in rows}
        if out is not None:
            said["out"] = str(out)
        emit_json(said)
        return
    title = "integrated gradients" if found.method == "integrated" else found.method
    words = f"{file}: {title} of {name} (score {quantities.number(found.score, digits=4)})"
    if found.difference is not None:
        share = found.gap_share
        words += f"; difference to the baseline {quantities.number(found.difference, digits=4)}"
        words += f", the sum is {quantities.percent(share)} away" if share is not None else ""
    say(words + (f": {out}" if out is not None else ""))
    chosen = strongest(np.array([row[2] for row in rows], np.float32))
    for place in chosen.tolist():
        title, value, number = rows[place]
        if title in without:
            continue
        say(f"  {title} = {value:.6g}: {number:+.4g}")
    if without:
        say(f"  no gradient: {', '.join(without)} (words become integers); --method occlusion covers them")
        if found.difference is not None:
            say("  the sum is away by what they change; more steps do not bring it closer")
    if len(chosen) < len(rows):
        say(f"  and {quantities.count(len(rows) - len(chosen))} weaker ones; all are in --out FILE.csv")
