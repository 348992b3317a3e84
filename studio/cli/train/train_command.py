"""Carries out the command train for words that have been read; prints progress or JSON.

Nothing here imports typer, and rich comes with the first thing that it shows: both took longer than the
engine takes to train a first step.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from resources import quantities
from resources.metrics import speed_unit
from resources.run_folders import new_run_folder
from studio.cli.output import (
    WrongUsage,
    console,
    drop_output,
    fail,
    load_styles,
    lost_output,
    note,
    one_line_errors,
    output_is_lost,
    plain,
    say,
    visible,
)
from studio.cli.parameters import read_all_parameters
from studio.cli.signals import interruptible
from studio.cli.train.result_words import epoch_words, result_words
from studio.cli.trust import require_trust
from studio.session.train.skipped_images import skipped_message

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from engine.training import TrainingConfig, TrainingRun
    from resources.training_events import Baseline, TrainingEvent, Transferred
    from studio.session.runs.runs_folder import Run


def carry_out(
    settings: Mapping[str, Any],
    given: Mapping[str, Any],
    out: str,
    resume: bool,
    stop_after: int,
    trust: bool,
    as_json: bool,
) -> None:
    """Train with all ``settings``, of which ``given`` stand on the command line; the rest as its help says.

    Raises:
        WrongUsage: they make no training; nothing has been done.
        SystemExit: it did not end as requested; the reason has been printed.
    """
    if resume and not out:
        raise WrongUsage("--resume needs the folder of the run: give --out DIR")
    settings, given = dict(settings), dict(given)
    with one_line_errors(), _without_collections():
        recorded = _recorded(out) if resume else None
        chosen = {**settings, **(recorded.config if recorded is not None else {}), **given}
        read_all_parameters(given if resume else settings, chosen)
        from engine.core.errors import ArgumentError
        from engine.training import TrainingConfig, TrainingRun
        from engine.training.network.models import find_model

        try:
            if resume:
                run = TrainingRun.from_folder(out, **given)
                require_trust("train", Path(out), trust)  # before the run imports any code
            else:
                config = TrainingConfig.from_dict(settings)
        except ArgumentError as error:
            raise WrongUsage(str(error)) from None
        if not resume:
            config = _resolved(config, given, as_json)
            find_model(config.model)  # before a folder is made for it
            folder = out or str(new_run_folder(Path("runs"), config.model, config.static))
            run = TrainingRun(config.changed(out=folder))
        note(recorded.note if recorded is not None else "", as_json)
        _run(run, as_json, stop_after)


def _resolved(config: TrainingConfig, given: Mapping[str, Any], as_json: bool) -> TrainingConfig:
    """``config``, with what is suggested where its model is ``auto``; reports each choice."""
    from engine.training.suggesting.suggest import AUTO, PHASES, suggested

    if config.model != AUTO:
        return config
    from studio.cli.progress_bar import progress_bar
    from studio.cli.train.suggested import suggested_settings

    with progress_bar(as_json) as show:
        found = suggested(config, given, report=lambda words, done: show(words, done, PHASES))
    for line in suggested_settings(found):
        note(line, as_json)
    return found.config


@contextlib.contextmanager
def _without_collections() -> Iterator[None]:
    """No search for garbage until the training has started: what is imported and built so far stays."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _recorded(folder: str) -> Run | None:
    from studio.session.runs.runs_folder import (
        read_run_line,  # with what checks documents, which a new run needs not
    )

    return read_run_line(Path(folder))


def _run(run: TrainingRun, as_json: bool, stop_after: int) -> None:
    """Train with a listener that prints; Ctrl-C stops with a checkpoint."""
    out = run.config.out
    stdout = sys.stdout
    watcher: JsonLines | Watcher = JsonLines(stdout) if as_json else Watcher()
    teller = EventPrinter(watcher, run, stdout)
    run.listeners.append(teller)
    stop = StopAfter(run, stop_after)
    if stop_after:
        run.listeners.append(stop)
    go_on = f"continue with: model-studio train --out {out} --resume"
    with interruptible(run), watcher, contextlib.redirect_stdout(sys.stderr if as_json else stdout):
        try:
            result = run.run()
        except KeyboardInterrupt:
            hint = f"; {Path(teller.checkpoint).name} is kept; {go_on}" if teller.checkpoint else ""
            fail(f"stopped at once{hint}")
    if result.reason == "interrupted" and not stop.reached:
        fail(f"stopped at step {result.step}; {go_on}")
    if result.reason == "diverged":
        fail(teller.diverged)
    if teller.lost:
        fail(f"{teller.lost}. The run itself is saved: {out}")
    if not as_json:
        say(
            f"{out}: {result.step} steps in {quantities.duration(result.seconds)}, "
            f"{result_words(result, teller.started, teller.baseline, teller.confusion)}"
        )


class StopAfter:
    """Stops a training, with a checkpoint, at the end of an epoch before its last."""

    def __init__(self, run: TrainingRun, epochs: int) -> None:
        self.reached = False
        self._run = run
        self._epochs = epochs

    def on_event(self, event: TrainingEvent) -> None:
        if event["event"] == "started":
            self._reach(event["step"] // event["steps_per_epoch"])  # a run that has come so far before
        elif event["event"] == "epoch":
            self._reach(event["epoch"])

    def _reach(self, epoch: int) -> None:
        if epoch >= self._epochs:
            self.reached = True
            self._run.interrupt()


class EventPrinter:
    """Passes events to what prints them, and keeps what the command says at the end.

    A training whose reader is gone (``| head``) stops with a checkpoint; one whose terminal is gone, without
    a hangup that would say so, continues silently; one whose output finds no room continues, and reports it
    at the end.
    """

    def __init__(self, watcher: JsonLines | Watcher, run: TrainingRun, stdout: TextIO) -> None:
        self.diverged = ""
        self.checkpoint = ""
        self.lost = ""
        self.started: Mapping[str, Any] = {}
        self.baseline: Baseline | None = None
        self.confusion: list[list[int]] = []
        self._watcher: JsonLines | Watcher | None = watcher
        self._run = run
        self._stdout = stdout

    def on_event(self, event: TrainingEvent) -> None:
        if event["event"] == "started":
            gc.enable()
            self.started = event
        elif event["event"] == "baseline":
            self.baseline = event
        elif event["event"] == "epoch":
            self.confusion = event.get("confusion", [])
        elif event["event"] == "diverged":
            self.diverged = event["message"]
        elif event["event"] == "failed":
            self.checkpoint = event["checkpoint"]
        if self._watcher is None:
            return
        try:
            self._watcher.on_event(event)
        except OSError as error:
            self._watcher = None
            drop_output(self._stdout)
            if isinstance(error, BrokenPipeError):
                self._run.interrupt()
            elif output_is_lost(error):
                self.lost = lost_output(error)


def _transferred(found: Transferred) -> str:
    """Which weights a training started from, in one line."""
    words = f"{len(found['matched'])} weights from {found['path']}"
    if found["replaced"]:
        words += f"; new: {', '.join(found['replaced'])}"
    if found["unused"]:
        words += f"; not used: {', '.join(found['unused'])}"
    return words


class JsonLines:
    """Prints each event as the journal holds it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass

    def on_event(self, event: TrainingEvent) -> None:
        from engine.files.journal import event_line
        from engine.training.folder.event_lines import as_lines

        for line in as_lines(event):
            self._stream.write(event_line(line) + "\n")
        self._stream.flush()


SHOWN_AFTER = 1.0  # seconds without a step


class Watcher:
    """Shows progress with rich: a bar, the loss, and a line for each epoch.

    The bar comes with the first steps that are reported, or before them where they let one wait, so that
    importing all of rich delays no step.
    """

    def __init__(self) -> None:
        load_styles()
        self._lock = threading.RLock()  # the timer shows the bar in another thread
        self._progress: Progress | None = None
        self._bar: dict[str, Any] = {"description": "starting", "speed": ""}  # what it is to show
        self._workers, self._kind = "", "images"
        self._started: Mapping[str, Any] = {}
        self._console: Console | None = None
        self._timer = threading.Timer(SHOWN_AFTER, self._show_in_time)
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._timer.join()
        with contextlib.suppress(OSError):  # a terminal that is gone
            if self._progress is not None:
                self._progress.stop()

    def _show_in_time(self) -> None:
        with contextlib.suppress(OSError):  # the reader has exited: the next event reports it
            self._show()

    def _show(self) -> Progress:
        """The bar, which is on the terminal from now on."""
        with self._lock:
            if self._progress is None:
                from rich.progress import (
                    BarColumn,
                    MofNCompleteColumn,
                    Progress,
                    TextColumn,
                    TimeRemainingColumn,
                )

                self._progress = Progress(
                    TextColumn("{task.description}", markup=False),
                    BarColumn(),
                    MofNCompleteColumn(),
                    TextColumn("{task.fields[speed]}"),
                    TimeRemainingColumn(),
                    console=self._lines(),
                    transient=True,
                    disable=not self._lines().is_terminal,
                )
                self._task = self._progress.add_task(**{"total": None, **self._bar})
                self._progress.start()
            return self._progress

    def _lines(self) -> Console:
        """Where lines are printed, above the bar."""
        with self._lock:
            if self._console is None:
                self._console = console()
            return self._console

    def _update(self, **changes: Any) -> None:
        with self._lock:
            self._bar |= changes
            if self._progress is not None:
                self._progress.update(self._task, **changes)

    def on_event(self, event: TrainingEvent) -> None:
        if event["event"] == "preparing":
            self._update(description=visible(event["message"]))
            self._show()
        elif event["event"] == "started":
            self._started = event
            self._kind = event.get("kind", "images")
            if event["resumed_from"]:
                self._say(f"resuming after step {event['step']}")
            if "fallback" in event:
                self._say(event["fallback"])
            if "transferred" in event:
                self._say(_transferred(event["transferred"]))
            if "unlabelled" in event:
                self._say(f"note: {event['unlabelled']:,} samples without a label are omitted")
            if "skipped" in event:
                self._say(f"warning: {skipped_message(event['skipped'])}")
            if "differs" in event:
                self._say(f"warning: {event['differs']}")
            self._update(total=event["total_steps"], completed=event["step"])
        elif event["event"] == "steps":
            if "ranks" in event:
                waiting = max(pace["waiting"] for pace in event["ranks"])
                self._workers = (
                    f", {len(event['ranks'])} workers, waiting up to {quantities.percent(waiting)}"
                )
            speed = quantities.number(round(event["samples_per_second"]), speed_unit(self._kind))
            self._update(
                completed=event["step"],
                speed=visible(f"{speed}{self._workers}"),
                description=visible(f"epoch {event['epoch']}  loss {quantities.loss(event['losses'][-1])}"),
            )
            self._show()
        elif event["event"] == "epoch":
            self._say(epoch_words(event, self._started))
        elif event["event"] == "checkpoint_failed":
            self._say(f"not saved: {event['message']}")
        elif event["event"] in ("space_low", "checkpoint_skipped", "layer_alert"):
            kind = "hint" if event.get("kind") == "no_effect" else "warning"  # NO_EFFECT's module needs NumPy
            self._say(f"{kind}: {event['message']}")
        elif event["event"] == "stopping":
            self._say("stopping...")

    def _say(self, text: str) -> None:
        self._lines().print(plain(text), highlight=False, soft_wrap=True)
