"""The command suggest: a model and its settings for data, each with its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from resources.quantities import duration, size
from studio.cli.application import app
from studio.cli.options import Json, given_options, read_all_parameters, with_settings
from studio.cli.output import emit_json, one_line_errors, say
from studio.cli.progress_bar import progress_bar
from studio.cli.train.suggested import suggested_settings, train_command

if TYPE_CHECKING:
    from engine.training.suggesting.suggest import Suggestion


@app.command()
@with_settings
def suggest(context: typer.Context, as_json: Json = False, **settings: Any) -> None:
    """Suggest a model and settings for data. Settings that are given stay."""
    given = [name for name in given_options(context) if name in settings]
    with one_line_errors():
        read_all_parameters(settings, settings)
        from engine.core.errors import ArgumentError
        from engine.training import TrainingConfig
        from engine.training.suggesting.estimate import estimated
        from engine.training.suggesting.suggest import PHASES, suggested

        with progress_bar(as_json) as show:

            def report(words: str, done: float) -> None:
                show(words, done, PHASES)

            try:
                found = suggested(TrainingConfig.from_dict(settings), given, report=report)
            except ArgumentError as error:
                raise typer.BadParameter(str(error)) from None
            cost = estimated(found.config, report)
        command = train_command(found)
        if as_json:
            emit_json(
                {**found.as_plain(), "seconds": cost.seconds, "memory": cost.memory, "command": command}
            )
            return
        for line in describe(found):
            say(line)
        seconds = f"about {duration(cost.seconds, whole=True)}" if cost.seconds >= 1 else "below 1 s"
        say(f"{seconds} of training, {size(cost.memory)} of memory on this machine")
        say(command)


def describe(found: Suggestion) -> list[str]:
    """What the data is, what was chosen and why, and which other networks fit."""
    spec = found.spec
    what = f"{len(spec.classes)} classes" if spec.task == "classes" else ", ".join(spec.targets)
    lines = [f"data: {spec.kind}, {spec.samples} for training; to predict: {what}"]
    lines += [f"  {reason}" for reason in (spec.kind_reason, spec.task_reason) if reason]
    lines += suggested_settings(found)
    others = [name for name, problem in found.problems.items() if not problem and name != found.config.model]
    lines.append(f"other models that fit: {', '.join(others) or 'none'}")
    return lines
