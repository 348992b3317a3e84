"""The command debug: one batch operator by operator, up to the first that goes wrong."""

from __future__ import annotations

import os
import re
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from resources.settings.predict import PREDICT_SETTINGS, PredictSettings
from studio.cli.application import app
from studio.cli.debug.stop_output import show_stop
from studio.cli.explain.sample import is_run
from studio.cli.limits import chosen_limits
from studio.cli.options import Json, Trust, given_options, read_all_parameters, with_settings
from studio.cli.output import emit_json, fail, note, one_line_errors, say
from studio.cli.train.reading import read_ahead
from studio.cli.trust import require_trust

if TYPE_CHECKING:
    import numpy as np

    from engine.debugger import Debugger, GuardedDebugger, Stop
    from engine.training import TrainingConfig

FOUND = 3
"""The exit status where something was found."""
NEW, RUN, SAVED = "new", "run", "saved"
_LARGEST = 1 << 30  # bytes of an input
_LINE = re.compile(r"(.+):(\d+)")
_OF_A_RUN = {"data", "device", "threads"}


@app.command()
@with_settings
def debug(
    context: typer.Context,
    run: Annotated[
        Path | None,
        typer.Argument(
            help="The folder of a run, or the PREFIX of a saved model.", metavar="RUN", show_default=False
        ),
    ] = None,
    until: Annotated[
        str,
        typer.Option(
            help="nan: the first operator with finite inputs and a result that is not; the default without "
            "--break and --above.",
            metavar="nan",
            show_default=False,
        ),
    ] = "",
    stops: Annotated[
        list[str] | None,
        typer.Option(
            "--break",
            help="Stop there: FILE.py:LINE, a layer (features.3) or an operator (conv2d); repeatable.",
            metavar="PLACE",
            show_default=False,
        ),
    ] = None,
    above: Annotated[
        float | None, typer.Option(help="Stop where an absolute value is above this.", show_default=False)
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            help="An operator or a layer whose results may be infinite or NaN; repeatable.",
            metavar="NAME",
            show_default=False,
        ),
    ] = None,
    checkpoint: Annotated[
        int | None,
        typer.Option(help="Begin with the checkpoint of this step.", min=0, metavar="N", show_default=False),
    ] = None,
    batch: Annotated[
        int | None,
        typer.Option(
            help="The step of the training to debug, from 1; those before it are trained.",
            min=1,
            metavar="N",
            show_default=False,
        ),
    ] = None,
    steps: Annotated[int, typer.Option(help="How many steps to look at.", min=1, metavar="N")] = 1,
    input_file: Annotated[
        Path | None,
        typer.Option(
            "--input",
            help="An NPY or NPZ file with the inputs of a saved model; random numbers unless given.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    memory: Annotated[str, typer.Option(help=PREDICT_SETTINGS["memory"].help, show_default=False)] = "",
    seconds: Annotated[str, typer.Option(help=PREDICT_SETTINGS["seconds"].help, show_default=False)] = "",
    trust: Trust = False,
    as_json: Json = False,
    **settings: Any,
) -> None:
    """Compute one batch of a run, of --model or of a saved model operator by operator, forward, backward and
    update, and stop at the first that goes wrong. Of a run that diverged: the step at which it did.

    Nothing of the run changes. Exit status 0: nothing was found; 3: an operator was found.
    """
    if until not in ("", "nan"):
        raise typer.BadParameter(f"--until: got {until!r}; give nan")
    if above is not None and not above >= 0:
        raise typer.BadParameter(f"--above: a limit is from 0 on: got {above}; give e.g. 1e6")
    kind = _kind_of(run)
    if kind != RUN and checkpoint is not None:
        raise typer.BadParameter("--checkpoint: only a run has checkpoints; give the folder of one")
    if kind != SAVED and (input_file is not None or memory or seconds):
        raise typer.BadParameter("--input, --memory and --seconds are for a saved model; give its PREFIX")
    if kind == SAVED and batch is not None:
        raise typer.BadParameter("--batch: a saved model has one batch; leave it out")
    limits = chosen_limits(PredictSettings(memory=memory, seconds=seconds))
    changes = _changes(context, settings) if kind == RUN else {}
    with one_line_errors():
        from engine.debugger import Above, Debugger, of_config, of_run, open_saved

        if kind == SAVED:
            debugger = open_saved(str(run), _inputs(input_file), limits=limits)
        elif run is not None:
            require_trust("debug", run, trust)
            debugger = Debugger(of_run(run, checkpoint, batch, _said, changes))
        else:
            debugger = Debugger(of_config(_config(context, settings), batch, _said))
        with closing(debugger):
            for each in ignore or []:
                if ":" not in each:  # else a place, such as forward:12
                    debugger.remove_breakpoint(_add_breakpoint(debugger, each))
            for place in stops or []:
                _add_breakpoint(debugger, place)
            if above is not None:
                debugger.conditions = [Above(above)]
            stop = _looked(debugger, bool(until) or not (stops or above is not None), ignore or [], steps)
            for each in debugger.notes:
                note(each, as_json)
            if as_json:
                found = {"title": debugger.title, "found": stop.found, "notes": debugger.notes}
                emit_json(found | stop.plain())
            else:
                say(debugger.title)
                show_stop(stop, sources=isinstance(debugger, Debugger))
            if stop.error == "LimitError":  # which says nothing about the model
                fail(stop.message)
    if stop.found:
        raise typer.Exit(FOUND)


def _kind_of(path: Path | None) -> str:
    if path is None:
        return NEW
    if is_run(path):
        return RUN
    from engine.core.errors import EngineError
    from engine.jit.saved.model_files import model_paths

    with suppress(EngineError):
        return SAVED if any(map(os.path.isfile, model_paths(path))) else RUN
    return SAVED  # which says what it is instead


def _add_breakpoint(debugger: Debugger | GuardedDebugger, place: str) -> int:
    """Stop at a line, else at a layer or an operator; returns the number of the breakpoint.

    Raises ArgumentError where there is none.
    """
    from engine.core.errors import ArgumentError
    from engine.debugger import Breakpoint

    line = _LINE.fullmatch(place)
    if line is not None:
        return debugger.add_breakpoint(Breakpoint("line", file=line[1], line=int(line[2])))
    try:
        return debugger.add_breakpoint(Breakpoint("layer", layer=place))
    except ArgumentError as no_layer:
        try:
            return debugger.add_breakpoint(Breakpoint("operator", operator=place))
        except ArgumentError as error:
            raise ArgumentError(f"{no_layer}; and {str(error).removeprefix('debug: ')}") from None


def _looked(debugger: Debugger | GuardedDebugger, for_nan: bool, ignore: list[str], steps: int) -> Stop:
    if for_nan:
        return debugger.until_nan(ignore, steps, breaks=True)
    stop = debugger.resume()
    for _ in range(steps - 1):
        if stop.reason != "end":
            break
        stop = debugger.resume()
    return stop


def _config(context: typer.Context, settings: dict[str, Any]) -> TrainingConfig:
    from engine.core.errors import ArgumentError
    from engine.training import TrainingConfig
    from engine.training.suggesting.suggest import with_suggestions

    try:
        read_all_parameters(settings, settings)
        config = with_suggestions(TrainingConfig.from_dict(settings), tuple(given_options(context)))
    except ArgumentError as error:
        raise typer.BadParameter(str(error)) from None
    read_ahead(config)
    return config


def _changes(context: typer.Context, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings that were given for a run. Raises typer.BadParameter for those that it has itself."""
    given = {name: settings[name] for name in given_options(context) if name in settings}
    own = sorted(given.keys() - _OF_A_RUN)
    if own:
        raise typer.BadParameter(
            f"a run has its own settings: got {', '.join(own)}; only data, device and threads can be given "
            "with one, or leave RUN out"
        )
    return given


def _inputs(file: Path | None) -> list[np.ndarray[Any, Any]] | None:
    """The arrays of an NPY or NPZ file, in their order. Raises DataError for another file."""
    if file is None:
        return None
    from engine.files.data.npy import open_npy
    from engine.files.data.npz import NpzFile

    if file.suffix.lower() == ".npz":
        archive = NpzFile(file)
        return [archive.array(name) for name in archive.members]
    return [open_npy(file).whole(_LARGEST)]


def _said(message: str) -> None:
    """What takes long, on stderr."""
    say(message, err=True)
