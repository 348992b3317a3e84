"""The command graph: a model's Program as a diagram in an SVG file, or as a tree of its groups."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from studio.cli.application import app
from studio.cli.options import Json, Trust
from studio.cli.output import emit_json, one_line_errors, say
from studio.cli.trust import require_trust

if TYPE_CHECKING:
    from studio.session.graph.trace_job import TraceModel, TraceRun

_PHASES = ("forward", "backward", "update")
_GROUPINGS = ("auto", "layer", "line", "prefix")


@app.command()
def graph(
    prefix: Annotated[
        str | None,
        typer.Argument(
            help="The saved model: its PREFIX or its file; or the folder of a run.",
            metavar="PREFIX",
            show_default=False,
        ),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(help="Write the diagram to this SVG file.", metavar="FILE", show_default=False),
    ] = None,
    opened: Annotated[
        list[str] | None,
        typer.Option(
            "--open",
            help="Open the group of this path, such as layer1.0; all for every one. May be repeated.",
            metavar="GROUP",
            show_default=False,
        ),
    ] = None,
    by: Annotated[
        str, typer.Option(help="What groups are of: auto, layer, line or prefix (of parameters).")
    ] = "auto",
    phases: Annotated[
        str, typer.Option(help="Parts to show, with commas between: forward, backward, update.")
    ] = ",".join(_PHASES),
    dark: Annotated[bool, typer.Option("--dark", help="Colours for a dark ground.")] = False,
    model: Annotated[
        str | None,
        typer.Option(
            help="Instead of PREFIX: trace a network, built in or FILE.py:Class, as train takes it.",
            metavar="MODEL",
            show_default=False,
        ),
    ] = None,
    data: Annotated[
        str, typer.Option(help="With --model: the data that gives the shape of a sample.", metavar="DATA")
    ] = "digits",
    input_name: Annotated[
        str,
        typer.Option(
            "--input-name",
            help="With --model: the arrays of the data that are inputs, with commas between.",
            metavar="NAME",
            show_default=False,
        ),
    ] = "",
    label_name: Annotated[
        str,
        typer.Option(
            "--label-name",
            "--target",
            help="With --model: the array or column of the data that is to be predicted.",
            metavar="NAME",
            show_default=False,
        ),
    ] = "",
    step: Annotated[
        bool, typer.Option("--step", help="Of a run or --model: a whole step, with gradients and updates.")
    ] = False,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Show the Program of a model as nested groups: as an SVG file, as JSON, or printed as a tree.

    Of a saved model nothing is executed; the network of a run or of --model is traced. Groups are layer
    calls; where a file has none, lines of source, then prefixes of parameter names.
    """
    if (prefix is None) == (model is None):
        raise typer.BadParameter("graph: give the PREFIX of a saved model, or --model, and only one of them")
    if by not in _GROUPINGS:
        raise typer.BadParameter(f"--by: no such choice: got {by!r}; choose {', '.join(_GROUPINGS)}")
    chosen = [each.strip() for each in phases.split(",")]
    for each in chosen:
        if each not in _PHASES:
            raise typer.BadParameter(f"--phases: no such part: got {each!r}; choose {', '.join(_PHASES)}")
    run = Path(prefix) if prefix is not None and os.path.isdir(os.path.join(prefix, "checkpoints")) else None
    if step and run is None and model is None:
        raise typer.BadParameter("--step: goes with a run or --model: a saved model does not train")
    with one_line_errors():
        from studio.session.graph.diagram.diagram import Diagram
        from studio.session.graph.diagram.listing import lines_of, open_groups, plain_scene, saved_program
        from studio.session.graph.diagram.svg import DARK, LIGHT, save_svg

        if model is not None:
            program = _traced(model, {"data": data, "input_name": input_name, "label_name": label_name}, step)
        elif run is not None:
            require_trust("graph", run, trust)
            program = _traced_run(run, step)
        else:
            program = saved_program(str(prefix))
        diagram = Diagram(program, by)
        diagram.show(chosen)
        open_groups(diagram, opened or [])
        scene = diagram.scene(seconds=2.0)
        title = prefix or str(model)
        if svg is not None:
            save_svg(svg, scene, DARK if dark else LIGHT, title=Path(title).name)
        if as_json:
            emit_json({"path": title, "svg": svg and str(svg), **plain_scene(diagram, scene)})
            return
        if svg is not None:
            boxes = sum(not each for each in scene.opened.tolist())
            say(
                f"{svg}: {boxes:,} boxes, {len(scene.edge_texts):,} edges; {diagram.operator_count:,} "
                f"operators grouped by {_WORDS[diagram.grouped_by]}"
            )
        else:
            for depth, name, note in lines_of(diagram, scene):
                say("  " * depth + name + (f"  ({note})" if note else ""))
        if diagram.shortened:
            say(f"note: {diagram.shortened}", err=True)


_WORDS = {"layer": "layer calls", "line": "lines of source", "prefix": "prefixes of parameter names"}


def _traced(model: str, data: dict[str, str], step: bool) -> Mapping[str, Any]:
    """The Program of a network that is not saved; runs its code. ``data`` are settings."""
    from engine.training import TrainingConfig
    from engine.training.suggesting.suggest import with_suggestions
    from studio.session.graph.trace_job import TraceModel

    given = {"model": model, **data}
    config = with_suggestions(
        TrainingConfig.from_dict({"kind": "auto", "task": "auto", **given}), tuple(given)
    )
    return _program_of(TraceModel(config.as_dict(), step))


def _traced_run(run: Path, step: bool) -> Mapping[str, Any]:
    """The Program of a run's network, with the code in it."""
    from engine.core.errors import DataError
    from engine.profiler.training import config_of_run
    from studio.session.graph.trace_job import TraceRun

    try:
        config = config_of_run(run)
    except DataError as error:
        raise DataError(str(error).replace("profile:", "graph:", 1)) from error
    return _program_of(TraceRun(str(run), config.as_dict(), step=step))


def _program_of(job: TraceModel | TraceRun) -> Mapping[str, Any]:
    from studio.session.work.job import Inbox

    events: list[Any] = []
    job.run(events.append, Inbox())
    program: Mapping[str, Any] = events[-1]["program"]
    return program
