"""The command ``model-studio``: the window, and train, export, predict, inspect and run without one."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TextIO

import typer
from rich.console import Console

if TYPE_CHECKING:
    from engine.training import TrainingRun

app = typer.Typer(
    add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Train, watch, look inside, export and try models. Without a command the window opens.",
)  # fmt: skip

Json = Annotated[bool, typer.Option("--json", help="Print JSON, one object a line, and nothing else.")]


def main() -> None:
    """The entry point: exit status 0 done, 1 failed with one line on stderr, 2 wrong usage."""
    app(prog_name="model-studio")


@app.callback(invoke_without_command=True)
def window(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    """Open the window, or carry out a command."""
    if version:
        from importlib.metadata import PackageNotFoundError
        from importlib.metadata import version as installed

        try:
            typer.echo(f"model-studio {installed('model-studio')}")
        except PackageNotFoundError:
            typer.echo("model-studio (from its source tree, not installed)")
        raise typer.Exit(0)
    if context.invoked_subcommand is not None:
        return
    from studio.session.display import display_problem

    problem = display_problem()
    if problem:
        fail(f"no window can be opened here: {problem}; train without one: model-studio train --out DIR")
    try:
        from studio.app import main as open_window
    except ImportError as error:
        fail(f"no window can be opened here: {error}; train without one: model-studio train --out DIR")
    raise typer.Exit(open_window())


@app.command()
def train(
    context: typer.Context,
    data: Annotated[str, typer.Option(help="digits, mnist, or a folder with IDX files.")] = "digits",
    model: Annotated[str, typer.Option(help="lenet, linear, cnn, or FILE.py:Class.")] = "lenet",
    optimizer: Annotated[str, typer.Option(help="adam, sgd, momentum or adamw.")] = "adam",
    lr: Annotated[float, typer.Option(help="The learning rate.")] = 0.001,
    batch_size: Annotated[int, typer.Option(help="Pictures a step.")] = 64,
    epochs: Annotated[int, typer.Option(help="Passes over the training pictures.")] = 1,
    seed: Annotated[int, typer.Option(help="Fixes initial weights, order and dropout.")] = 0,
    static: Annotated[bool, typer.Option("--static/--eager", help="Through to_static, or eagerly.")] = True,
    device: Annotated[str, typer.Option(help="cpu, gpu or gpu:0.")] = "cpu",
    out: Annotated[str, typer.Option(help="The run's folder; a new one in runs/ unless given.")] = "",
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in --out.")] = False,
    checkpoint_every: Annotated[int, typer.Option(help="Steps between checkpoints.")] = 200,
    keep: Annotated[int, typer.Option(help="How many checkpoints stay.")] = 3,
    samples: Annotated[int, typer.Option(help="Take only so many training pictures; 0 for all.")] = 0,
    as_json: Json = False,
) -> None:
    """Train a model."""
    values: dict[str, Any] = {
        "data": data, "model": model, "optimizer": optimizer, "learning_rate": lr, "batch_size": batch_size,
        "epochs": epochs, "seed": seed, "static": static, "device": device, "out": out,
        "checkpoint_every": checkpoint_every, "keep": keep, "samples": samples,
    }  # fmt: skip
    with one_line_errors():
        from engine.core.errors import ArgumentError
        from engine.training import TrainingConfig, TrainingRun
        from studio.session.runs import new_run_folder

        try:
            if resume:
                if not out:
                    raise typer.BadParameter("--resume needs the folder of the run: give --out DIR")
                given = {name: values[name] for name in _given(context) if name in values and name != "out"}
                run = TrainingRun.from_folder(out, **given)
            else:
                values["out"] = out or str(new_run_folder(Path("runs"), model, static))
                run = TrainingRun(TrainingConfig.from_dict(values))
        except ArgumentError as error:
            raise typer.BadParameter(str(error)) from None
        _run(run, as_json)


def _given(context: typer.Context) -> Iterator[str]:
    """The settings that stand on the command line, by the names that TrainingConfig has for them."""
    for name in context.params:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            yield {"lr": "learning_rate"}.get(name, name)


def _run(run: TrainingRun, as_json: bool) -> None:
    """Train with a listener that prints; Ctrl-C stops with a checkpoint."""
    out = run.config.out
    stdout = sys.stdout
    watcher: JsonLines | Watcher = JsonLines(stdout) if as_json else Watcher()
    run.listeners.append(watcher)
    with interruptible(run), watcher, contextlib.redirect_stdout(sys.stderr if as_json else stdout):
        result = run.run()
    if result.reason == "interrupted":
        fail(f"stopped at step {result.step}; continue with: model-studio train --out {out} --resume")
    if result.reason == "diverged":
        fail(watcher.diverged)
    if not as_json:
        typer.echo(
            f"{out}: {result.step} steps in {result.seconds:.1f} s, "
            f"test accuracy {result.validation_accuracy:.2%} (best {result.best_accuracy:.2%})"
        )


class JsonLines:
    """Prints each event as the journal holds it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.diverged = ""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self._stream.flush()

    def on_event(self, event: dict[str, Any]) -> None:
        from engine.files.journal import event_line
        from engine.training.events import as_lines

        if event["event"] == "diverged":
            self.diverged = event["message"]
        for line in as_lines(event):
            self._stream.write(event_line(line) + "\n")
        self._stream.flush()


class Watcher:
    """Shows progress with rich: a bar, the loss, and a line for each epoch."""

    def __init__(self) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self.diverged = ""
        self._console = Console()
        self._progress = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
            TextColumn("{task.fields[speed]}"), TimeRemainingColumn(), console=self._console, transient=True,
            disable=not self._console.is_terminal,
        )  # fmt: skip
        self._task = self._progress.add_task("starting", total=None, speed="")

    def __enter__(self) -> None:
        self._progress.start()

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def on_event(self, event: dict[str, Any]) -> None:
        kind = event["event"]
        if kind == "preparing":
            self._progress.update(self._task, description=event["message"])
        elif kind == "started":
            if event["resumed_from"]:
                self._say(f"resuming after step {event['step']}")
            self._progress.update(self._task, total=event["total_steps"], completed=event["step"])
        elif kind == "steps":
            self._progress.update(
                self._task, completed=event["step"], speed=f"{event['samples_per_second']:.0f} img/s",
                description=f"epoch {event['epoch']}  loss {event['losses'][-1]:.4f}",
            )  # fmt: skip
        elif kind == "epoch":
            self._say(
                f"epoch {event['epoch']}: loss {event['train_loss']:.4f}, test loss "
                f"{event['validation_loss']:.4f}, test accuracy {event['validation_accuracy']:.2%}"
            )
        elif kind == "checkpoint_failed":
            self._say(f"not saved: {event['message']}")
        elif kind == "stopping":
            self._say("stopping...")
        elif kind == "diverged":
            self.diverged = event["message"]

    def _say(self, text: str) -> None:
        self._console.print(text, highlight=False, markup=False)


@contextlib.contextmanager
def interruptible(run: TrainingRun) -> Iterator[None]:
    """Within the block the first Ctrl-C (or SIGTERM) stops ``run`` with a checkpoint; the second ends at
    once."""
    before = {}

    def ask(number: int, frame: object) -> None:
        run.interrupt()
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(ValueError):  # not the main thread: a test's runner
            before[number] = signal.signal(number, ask)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@app.command()
def export(
    run: Annotated[Path, typer.Argument(help="The folder of a run.", metavar="RUN")],
    out: Annotated[str, typer.Option(help="PREFIX of the files; RUN/inference/model unless given.")] = "",
    checkpoint: Annotated[str, typer.Option(help="best, last, or the path of a checkpoint.")] = "best",
    samples: Annotated[int, typer.Option(help="Test pictures to compare after reloading.")] = 256,
    as_json: Json = False,
) -> None:
    """Write a run's inference files and check them by loading them in a clean process."""
    with one_line_errors():
        from engine.training.export import export_run

        prefix = out or str(run / "inference" / "model")
        event = export_run(run, prefix, checkpoint, samples=samples)
        if as_json:
            emit_json(event)
            return
        size = sum(event["sizes"].values())
        typer.echo(
            f"{prefix}: {size / 1024:.0f} KB in {len(event['sizes'])} files; loaded in a clean process: "
            f"largest difference {event['difference']:.2g} over {event['samples']} pictures "
            f"({event['pictures']}), "
            f"{event['latency'] * 1e6:.0f} us a picture"
        )


@app.command()
def predict(
    prefix: Annotated[str, typer.Argument(help="The saved model, without suffix.", metavar="PREFIX")],
    images: Annotated[list[Path], typer.Argument(help="Pictures of digits.", metavar="IMAGE...")],
    top: Annotated[int, typer.Option(help="How many classes to show.", min=1)] = 3,
    as_json: Json = False,
) -> None:
    """Ask a saved model about pictures."""
    failed = False
    with one_line_errors():
        from studio.session.pictures import PictureError, load_digit
        from studio.session.predict_view import load_model, rank

        model = load_model(prefix)
        for image in images:
            try:
                picture = load_digit(image)
            except PictureError as error:
                failed = True
                typer.echo(str(error), err=True)
                continue
            ranking = rank(model.scores(picture), model.info.classes)[:top]
            if as_json:
                answers = [{"class": name, "probability": value} for name, value in ranking]
                emit_json(
                    {
                        "image": str(image),
                        "class": ranking[0][0],
                        "probability": ranking[0][1],
                        "top": answers,
                    }
                )
            else:
                shown = "  ".join(f"{name} {value:.1%}" for name, value in ranking)
                typer.echo(f"{image}: {shown}")
    if failed:
        raise typer.Exit(1)


@app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def run(
    script: Annotated[Path, typer.Argument(help="A script written for Paddle.", metavar="SCRIPT")],
    args: Annotated[list[str] | None, typer.Argument(help="Its arguments.", metavar="[ARGS]...")] = None,
) -> None:
    """Run a Paddle script unedited: its `import paddle` is the engine. Its exit status is the script's."""
    if not script.is_file():
        raise typer.BadParameter(f"the script is not there: {script}; check the path")
    from engine.run import run_script

    raise typer.Exit(run_script(str(script), args or []))


@app.command()
def inspect(
    prefix: Annotated[str, typer.Argument(help="The saved model, without suffix.", metavar="PREFIX")],
    as_json: Json = False,
) -> None:
    """Show what saved files hold: inputs, classes, operators, sizes. Nothing in them is run."""
    with one_line_errors():
        from studio.session.inspecting import describe_model

        described = describe_model(prefix)
        if as_json:
            emit_json(described)
            return
        _show(described)


def _show(described: dict[str, Any]) -> None:
    from rich.table import Table

    console = Console()
    facts = Table(show_header=False, box=None)
    for name in ("prefix", "inputs", "outputs", "parameters", "info", "sizes", "save_id"):
        value = described[name]
        facts.add_row(name.replace("_", " "), value if isinstance(value, str) else json.dumps(value))
    console.print(facts)
    operators = Table("operator", "inputs", "outputs", "shape")
    for operator in described["operators"]:
        inputs, outputs = ", ".join(operator["inputs"]), ", ".join(operator["outputs"])
        operators.add_row(operator["type"], inputs, outputs, json.dumps(operator["shape"]))
    console.print(operators)


def emit_json(values: dict[str, Any]) -> None:
    """One line of strict JSON on stdout."""
    from engine.files.journal import event_line

    typer.echo(event_line(values))


def fail(message: str) -> NoReturn:
    """Say ``message`` in one line on stderr and leave with status 1."""
    typer.echo(" ".join(message.split()), err=True)
    raise typer.Exit(1)


@contextlib.contextmanager
def one_line_errors() -> Iterator[None]:
    """An error of ours, or of the user's model, ends the command with one line on stderr and status 1."""
    try:
        yield
    except (typer.Exit, typer.BadParameter, typer.Abort):
        raise
    except BrokenPipeError:
        # Whoever read our output has left (`| head`); Python must not try to flush into the pipe at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        fail("stopped")
    except Exception as error:
        from engine.core.errors import EngineError
        from engine.training import describe_problem

        problem = describe_problem(error)
        place = f" ({problem.file}:{problem.line})" if problem.file not in problem.message else ""
        kind = "" if isinstance(error, EngineError) else f"{problem.error}: "
        fail(f"{kind}{problem.message}{place}")
