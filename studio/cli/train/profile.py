"""The command profile: where the time of a training goes, by operator or by source line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from studio.cli.application import app
from studio.cli.options import Trust, given_options, read_all_parameters, with_settings
from studio.cli.output import one_line_errors, say
from studio.cli.train.plan_output import plain_planned, show_passes, show_plans
from studio.cli.train.reading import read_ahead
from studio.cli.trust import require_trust

if TYPE_CHECKING:
    from engine.training import TrainingConfig


LAYER = "layer"


@app.command()
@with_settings
def profile(
    context: typer.Context,
    run: Annotated[
        Path | None,
        typer.Argument(
            help="The folder of a run, whose settings are taken.", metavar="RUN", show_default=False
        ),
    ] = None,
    steps: Annotated[int, typer.Option(help="How many steps to record, after three others.", min=1)] = 10,
    by: Annotated[
        str, typer.Option(help="A row for each operator, line, or call of a Layer: operator, line, layer.")
    ] = "operator",
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write rows of all kinds to this file.", metavar="FILE")
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option(help="Write all calls to this file, for chrome://tracing or Perfetto.", metavar="FILE"),
    ] = None,
    passes: Annotated[
        bool, typer.Option("--passes", help="Print the Program of a step after each pass.")
    ] = False,
    plan: Annotated[
        bool,
        typer.Option("--plan", help="Print what really runs: fused, views, in place, whose kernel and why."),
    ] = False,
    trust: Trust = False,
    **settings: Any,
) -> None:
    """Time, calls, bytes and GFLOP/s of a training's operators, of a run or of --model, what passes made of
    its Program, and what its plan runs. Nothing is kept."""
    with one_line_errors():
        from engine.core.errors import ArgumentError
        from engine.profiler.costs import by_layer
        from engine.profiler.costs import table_of as table_of_layers
        from engine.profiler.report import BY, rows_of, table_of
        from engine.profiler.training import profile as profiled

        if by not in (*BY, LAYER):
            raise typer.BadParameter(f"--by: no such row: got {by!r}; choose {', '.join(BY)} or {LAYER}")
        try:
            config, source = _config(context, run, trust, settings)
        except ArgumentError as error:
            raise typer.BadParameter(str(error)) from None
        read_ahead(config)
        found = profiled(config, steps, source)
        shown = None
        if passes or plan:
            from engine.profiler.planned import planned

            shown = planned(config, source)
        own = str(Path(__file__).parents[2])
        if trace is not None:
            found.result.save(str(trace))
        if json_file is not None:
            _write(
                json_file,
                {
                    "model": config.model,
                    "batch_size": config.batch_size,
                    "static": config.static,
                    "threads": found.threads,
                    "device": found.device,
                    "compiled": list(found.compiled),
                    "steps": found.steps,
                    "seconds": found.seconds,
                    "seconds_unrecorded": found.unrecorded,
                    "peak_gflops": found.peak or None,
                    **{kind: [row.plain() for row in rows_of(found.result, kind, own)] for kind in BY},
                    LAYER: [row.plain() for row in by_layer(found.costs)],
                    "costs": [cost.plain() for cost in found.costs],
                    **(plain_planned(shown, passes, plan) if shown is not None else {}),
                },
            )
        mode = "static" if config.static else "eager"
        say(
            f"{config.model}, batch {config.batch_size}, {mode}: {1e3 * found.unrecorded:.3f} ms a step, "
            f"{1e3 * found.seconds / found.steps:.3f} while recorded ({found.steps} steps)"
        )
        kernels = f"compiled for {', '.join(found.compiled)}" if found.compiled else "NumPy's"
        say(f"threads: {found.threads}; kernels: {kernels}; device: {found.device}")
        if found.fallback:
            say(found.fallback)
        if found.device != "cpu":
            say("times of operators are the host's: a GPU computes after the call has returned")
        if by == LAYER:
            table = table_of_layers(by_layer(found.costs), found.seconds / found.steps, found.peak)
        else:
            table = table_of(rows_of(found.result, by, own), found.steps, found.seconds, by)
        for line in table.splitlines():
            say(line)
        if shown is not None and passes:
            show_passes(shown)
        if shown is not None and plan:
            show_plans(shown)


def _config(
    context: typer.Context, run: Path | None, trust: bool, settings: dict[str, Any]
) -> tuple[TrainingConfig, Path | None]:
    """The settings of the run, or of the command line, and where the run's code is."""
    from engine.profiler.training import config_of_run
    from engine.training import TrainingConfig
    from engine.training.suggesting.suggest import with_suggestions

    if run is None:
        read_all_parameters(settings, settings)
        return with_suggestions(TrainingConfig.from_dict(settings), tuple(given_options(context))), None
    require_trust("profile", run, trust)
    config = config_of_run(run)
    given = {name: settings[name] for name in given_options(context) if name in settings}
    changed = sorted(given.keys() - {"batch_size", "static", "threads", "kernels", "data", "device"})
    if changed:
        raise typer.BadParameter(
            f"a run has its own settings: got {', '.join(changed)}; only batch size, static or eager, "
            "threads, kernels, data and device can be given with one, or leave RUN out"
        )
    return config.changed(**given), run / "source"


def _write(path: Path, content: dict[str, Any]) -> None:
    from engine.files.atomic import atomic_write

    text = (json.dumps(content, indent=1) + "\n").encode()
    atomic_write(path, lambda file: file.write(text))
