"""What the command sweep prints: trials as they go, a table of them, JSON lines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resources import quantities
from resources.settings import Setting
from studio.cli.output import console, emit_json, plain, say, visible

if TYPE_CHECKING:
    from studio.session.sweep.document import Measurement, Sweep, Trial

_MOST_ROWS = 100


class SweepLines:
    """Prints the events of a sweep: one object a line, or a sentence for each trial over a bar."""

    def __init__(self, sweep: Sweep, as_json: bool) -> None:
        self._console = None
        if not as_json:
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            self._console = console()
            self._progress = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                console=self._console,
                transient=True,
                disable=not self._console.is_terminal,
            )
            self._task = self._progress.add_task("trials", total=sweep.planned)
        self._sweep = sweep

    def __enter__(self) -> None:
        if self._console is not None:
            self._progress.start()

    def __exit__(self, *_: object) -> None:
        if self._console is not None:
            self._progress.stop()

    def on_event(self, event: Mapping[str, Any]) -> None:
        """Show an event of a SweepRun."""
        if self._console is None:
            emit_json(event)
            return
        if event["event"] == "sweep_waiting":
            self._console.print(plain(event["message"]), highlight=False, soft_wrap=True)
            return
        through = sum(
            trial.state not in ("waiting", "running", "interrupted") for trial in self._sweep.trials
        )
        going = [str(trial.number) for trial in self._sweep.trials if trial.state == "running"]
        self._progress.update(
            self._task, completed=through, description=f"trials, training {', '.join(going)}"
        )
        if event["event"] != "trial_ended":
            return
        trial = self._sweep.trials[event["trial"] - 1]
        said = trial.message or (words_of(trial.measured[-1]) if trial.measured else "")
        state = (
            "" if trial.state in ("done", "waiting", "dropped") else f"{trial.state}{': ' if said else ''}"
        )
        self._console.print(plain(f"{_title(trial)}: {state}{said}"), highlight=False, soft_wrap=True)


def words_of(result: Measurement) -> str:
    """A result in a few words."""
    figure = "R²" if result.r2 is not None else "accuracy"
    numbers = [
        f"{name} {text}" for name, text in zip((figure, "loss"), _numbers(result), strict=True) if text
    ]
    return f"test {', '.join(numbers)} after {result.epochs} epoch{'s' if result.epochs > 1 else ''}"


def _numbers(result: Measurement | None) -> tuple[str, str]:
    if result is None:
        return "", ""
    r2 = "" if result.r2 is None else quantities.loss(result.r2)
    return (
        r2 if result.accuracy is None else quantities.percent(result.accuracy),
        "" if result.loss is None else quantities.loss(result.loss),
    )


def _title(trial: Trial) -> str:
    from studio.session.sweep.parameters import short_text

    return f"trial {trial.number} ({short_text(trial.choices)})"


def show_table(sweep: Sweep) -> None:
    """Print the trials, the best first."""
    from rich.table import Table

    from studio.session.sweep.parameters import short_name
    from studio.session.sweep.results import ranked

    table = Table(box=None)
    names = [parameter.name for parameter in sweep.parameters]
    of_numbers = any(each.measured and each.measured[-1].r2 is not None for each in sweep.trials)
    figure = "R²" if of_numbers else "accuracy"
    for title in ("trial", *map(short_name, names), "state", "epochs", figure, "loss"):
        table.add_column(plain(title), overflow="fold")
    trials = ranked(sweep, sweep.trials)
    for trial in trials[:_MOST_ROWS]:
        last = trial.measured[-1] if trial.measured else None
        values = [Setting.write(trial.choices[name]) for name in names]
        numbers = _numbers(last)
        cells = [str(trial.number), *values, trial.state, str(last.epochs) if last else "", *numbers]
        table.add_row(*map(plain, cells))
    console().print(table)
    if len(trials) > _MOST_ROWS:
        say(f"and {len(trials) - _MOST_ROWS} more: --json lists all")


def list_trials(sweep: Sweep, folder: Path) -> None:
    """Print the trials as JSON, in their order."""
    for trial in sweep.trials:
        emit_json({"event": "trial", **_plain(sweep, trial, folder)})


def show_best(sweep: Sweep, folder: Path, as_json: bool) -> None:
    """Say which trial is the best, and the command that trains it alone."""
    from studio.session.sweep.results import best_trial
    from studio.session.sweep.words import command

    trial = best_trial(sweep)
    if as_json:
        best = None if trial is None else _plain(sweep, trial, folder)
        emit_json({"event": "sweep_ended", "folder": str(folder), "best": best})
    elif trial is not None:
        again = command(sweep.settings_of(trial), str(folder.with_name(f"{folder.name}-best")))
        say(f"best: {_title(trial)}: {words_of(trial.measured[-1])}: {folder / trial.name}")
        say(f"the same alone: {again}")


def _plain(sweep: Sweep, trial: Trial, folder: Path) -> dict[str, Any]:
    from studio.session.sweep.words import command

    return {
        "trial": trial.number,
        "state": trial.state,
        "choices": trial.choices,
        "folder": str(folder / trial.name),
        "measured": trial.measured[-1].model_dump() if trial.measured else None,
        "message": trial.message,
        "command": visible(command(sweep.settings_of(trial), str(folder.with_name(f"{folder.name}-best")))),
    }
