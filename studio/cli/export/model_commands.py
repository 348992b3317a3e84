"""The commands for saved models and scripts: export, predict, inspect, run."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from resources import quantities
from resources.metrics import metric_of, metric_value
from resources.regular_files import path_problem
from resources.settings.export import EXPORT_SETTINGS, FOLDER, ExportSettings
from resources.settings.predict import PREDICT_SETTINGS, PredictSettings
from resources.settings.script import SCRIPT_SETTINGS, ScriptSettings
from studio.cli.application import app
from studio.cli.devices import chosen_device
from studio.cli.export.quantize_output import show_report
from studio.cli.limits import chosen_limits
from studio.cli.options import Json, Trust, check_options, with_options
from studio.cli.output import console, emit_json, fail, note, one_line_errors, plain, say
from studio.cli.trust import require_trust
from studio.session.runs.runs_folder import read_run_line


@app.command()
@with_options(EXPORT_SETTINGS)
def export(
    context: typer.Context,
    run: Annotated[Path, typer.Argument(help="The folder of a run.", metavar="RUN")],
    out: Annotated[
        str, typer.Option(help="PREFIX of the files, or one file; RUN/inference/model unless given.")
    ] = "",
    step: Annotated[
        int | None,
        typer.Option(help="The checkpoint of this step, even if untrained or not the best.", min=0),
    ] = None,
    deploy: Annotated[
        Path | None,
        typer.Option(
            help="The same as --format folder --out FOLDER.",
            metavar="FOLDER",
        ),
    ] = None,
    trust: Trust = False,
    as_json: Json = False,
    **settings: Any,
) -> None:
    """Write a run's inference files and check them by loading them in a clean process."""
    check_options(EXPORT_SETTINGS, settings)
    if deploy is not None:
        if out:
            raise typer.BadParameter("--out: --deploy names the folder; give one of them")
        if settings["format"] not in (FOLDER, EXPORT_SETTINGS["format"].default):
            raise typer.BadParameter(f"--format: --deploy writes a folder, not {settings['format']}")
        settings["format"] = FOLDER
    if settings["fixed"] and settings["format"] != FOLDER:
        raise typer.BadParameter("--fixed: needs --deploy FOLDER")
    with one_line_errors():
        from engine.training.exporting.export import export_run

        require_trust("export", run, trust)
        prefix = out or str(run / "inference" / "model")
        if settings["format"] == FOLDER:
            from studio.cli.export.deploy_output import deploy_and_show

            deploy_and_show(run, deploy or Path(prefix), ExportSettings(**settings), step, as_json)
            return
        line = read_run_line(run)
        note(line.note if line is not None else "", as_json)
        event = export_run(run, prefix, ExportSettings(**settings), step=step)
        if as_json:
            emit_json(event)
            return
        size = sum(event["sizes"].values())
        count = len(event["sizes"])
        files = "one file" if count == 1 else f"{count} files"
        if "saved" in event:
            files += f", {quantities.percent(event['saved'])} smaller by compression"
        fewer = "; {} operators became {}".format(*event["operators"]) if settings["optimize"] else ""
        metric = metric_of(event.get("task"))
        value = metric_value(event)
        known = value is not None and value == value
        name = metric.title if metric.name == "validation_r2" else metric.title.lower()
        measured = f"test {name} {metric.text(value)}" if known else f"{name} not measured"
        say(
            f"{event['prefix']}: step {event['step']}, {measured}; "
            f"{quantities.size(size)} in {files}; loaded in a clean process: "
            f"largest difference {quantities.number(event['difference'], digits=3)} "
            f"over {quantities.count(event['samples'])} images "
            f"({event['pictures']}), "
            f"{quantities.duration(event['latency'])} an image{fewer}"
        )


@app.command()
@with_options(PREDICT_SETTINGS)
def predict(
    context: typer.Context,
    prefix: Annotated[str, typer.Argument(help="The saved model: its PREFIX or its file.", metavar="PREFIX")],
    files: Annotated[
        list[Path],
        typer.Argument(help="Images, folders of images, or CSV, NPZ or NPY files.", metavar="FILE..."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="Write a table of all predictions to this file.", metavar="FILE.csv"),
    ] = None,
    as_json: Json = False,
    **settings: Any,
) -> None:
    """Predict images, rows of tables or sequences with a saved model.

    An untrusted model runs in a process with limits.
    """
    check_options(PREDICT_SETTINGS, settings)
    chosen = PredictSettings(**settings)
    with one_line_errors():
        from studio.cli.export.prediction_output import print_predictions, write_table
        from studio.session.predict.model_info import opened

        limits = chosen_limits(chosen)
        chosen_device(chosen.device)
        with opened(prefix, limits) as (info, scores):
            if out is not None:
                failed = write_table(out, files, info, scores, as_json)
            else:
                failed = print_predictions(prefix, files, info, scores, chosen.top, as_json)
    if failed:
        raise typer.Exit(1)


@app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@with_options(SCRIPT_SETTINGS)
def run(
    context: typer.Context,
    script: Annotated[
        str, typer.Argument(help="A script written for Paddle; with -m a module.", metavar="SCRIPT")
    ],
    args: Annotated[list[str] | None, typer.Argument(help="Its arguments.", metavar="[ARGS]...")] = None,
    module: Annotated[
        bool, typer.Option("-m", help="SCRIPT is the name of a module, as in python -m.")
    ] = False,
    **settings: Any,
) -> None:
    """Run a Paddle script unedited: its `import paddle` is the engine. Its exit status is the script's."""
    if not module and (problem := path_problem(script)):
        raise typer.BadParameter(f"the script {problem}: {script}; check the path")
    check_options(SCRIPT_SETTINGS, settings)
    chosen = ScriptSettings(**settings)
    if chosen.runs:
        os.environ["MODEL_STUDIO_RUNS"] = os.path.abspath(chosen.runs)
    from engine.run import run_module, run_script
    from studio.cli import bar

    bar.install()
    sys.excepthook = sys.__excepthook__  # not Typer's, which the runner would take for one of the script
    start = run_module if module else run_script
    raise typer.Exit(start(script, args or [], chosen.mode, chosen.device))


@app.command()
def inspect(
    prefix: Annotated[
        str,
        typer.Argument(help="The saved model: PREFIX or file; or a file of weights.", metavar="PREFIX"),
    ],
    as_json: Json = False,
) -> None:
    """Show what saved files hold: inputs, classes, operators, sizes, what a quantization cost.

    A model that loading refuses is listed as well, and ends with the reason and status 1. Of a file of
    weights (.pdparams, .safetensors, .npz, .pth) it shows names, shapes and dtypes.
    """
    with one_line_errors():
        from studio.session.predict.saved_files import describe_model
        from studio.session.predict.weight_files import describe_weights, is_weights_file

        if is_weights_file(prefix):
            weights = describe_weights(prefix)
            if as_json:
                emit_json(weights)
            else:
                _show_weights(weights)
            return

        described = describe_model(prefix)
        if as_json:
            emit_json(described)
        else:
            _show(described)
        if described["refusal"] is not None:
            fail(described["refusal"])


def _show_weights(described: dict[str, Any]) -> None:
    from rich.table import Table

    screen = console()
    facts = Table(show_header=False, box=None)
    for name in ("path", "form", "size", "parameters", "others"):
        facts.add_row(name, plain(str(described[name])))
    screen.print(facts)
    tensors = Table("name", "shape", "dtype")
    for tensor in described["tensors"]:
        tensors.add_row(*map(plain, (tensor["name"], json.dumps(tensor["shape"]), tensor["dtype"])))
    screen.print(tensors)


def _show(described: dict[str, Any]) -> None:
    from rich.table import Table

    screen = console()
    facts = Table(show_header=False, box=None)
    for name in ("prefix", "inputs", "outputs", "parameters", "info", "sizes", "save_id"):
        value = described[name]
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        facts.add_row(name.replace("_", " "), plain(shown))
    screen.print(facts)
    operators = Table("operator", "inputs", "outputs", "shape")
    for operator in described["operators"]:
        inputs, outputs = ", ".join(operator["inputs"]), ", ".join(operator["outputs"])
        operators.add_row(*map(plain, (operator["type"], inputs, outputs, json.dumps(operator["shape"]))))
    screen.print(operators)
    if described["quantization"] is not None:
        from engine.quantization.report import QuantizationReport

        show_report(QuantizationReport.from_plain(described["quantization"]), described["prefix"], screen)
