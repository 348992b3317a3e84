"""Every reader of files as the fuzz attacks it: how a case is made, what reads it, what may come out.

A case is bytes, plain values, or several files. It is made from a seeded generator alone, so a reader's name
and a number name it for ever. Readers of container files are called without the guarded child here: the
harness itself is a child with limits; :mod:`tests.robust.guarded_cases` goes through the real one.
"""

from __future__ import annotations

import functools
import random
from pathlib import Path
from typing import Any

from engine.core.errors import EngineError
from tests.robust.container_readers import tree
from tests.robust.corpus import names, sample
from tests.robust.model_readers import MODELS
from tests.robust.mutations import json_text, mutated, mutated_bytes
from tests.robust.reader import Reader, check_message


def project_case(draw: random.Random) -> bytes:
    from studio.session.train.run_settings import RunSettings

    project = {
        "format": "model-studio project",
        "version": 1,
        "name": "p",
        "settings": RunSettings().as_dict(),
        "runs": "runs",
    }
    text = json_text(mutated(project, draw), draw)
    return mutated_bytes(text, draw, [sample("project.studio.json")]) if draw.random() < 0.2 else text


def read_project_file(data: bytes, folder: Path) -> object:
    from studio.session.project.project_file import read_project
    from studio.session.runs.runs_folder import RunsFolder
    from studio.session.train.run_settings import setting_problems

    path = folder / "p.studio.json"
    path.write_bytes(data)
    found = read_project(path)
    setting_problems(found.settings)
    return RunsFolder().read(path.parent / found.runs)


def sweep_case(draw: random.Random) -> bytes:
    settings = {"data": "digits", "model": "lenet", "epochs": 4, "optimizer": "momentum", "seed": 3}
    trials = [
        {
            "number": number,
            "choices": {"learning_rate": rate, "optimizer_params.momentum": 0.8},
            "measured": [{"epochs": 1, "best": 1, "accuracy": rate, "loss": None}],
            "message": "m",
            "state": state,
        }
        for number, rate, state in ((1, 0.1, "done"), (2, 0.01, "failed"), (3, 0.001, "waiting"))
    ]
    sweep = {
        "format": "model-studio sweep",
        "version": 1,
        "settings": settings,
        "metric": "accuracy",
        "goal": "max",
        "halving": {"eta": 2, "min_epochs": 1},
        "models": {"/a/net.py": "0" * 64},
        "mark": "0" * 64,
        "trials": trials,
        "parameters": [
            {"name": "learning_rate", "low": 1e-4, "high": 0.1, "log": True},
            {"name": "optimizer_params.momentum", "values": [0.8]},
        ],
    }
    text = json_text(mutated(sweep, draw), draw)
    return mutated_bytes(text, draw, [text]) if draw.random() < 0.2 else text


def read_sweep_file(data: bytes, folder: Path) -> object:
    """As a resume does, up to the trainings that it would start; and as the list of runs does."""
    from studio.session.runs.runs_folder import RunsFolder
    from studio.session.sweep.document import read_sweep
    from studio.session.sweep.models import model_file, not_agreed_model
    from studio.session.sweep.results import ranked
    from studio.session.sweep.runner import due
    from studio.session.sweep.words import command

    (folder / "sweep.json").write_bytes(data)
    (folder / "trial-001").mkdir(exist_ok=True)
    RunsFolder().read(folder)
    sweep = read_sweep(folder)
    words = [command(sweep.settings_of(trial), trial.name) for trial, _ in due(sweep)]
    words += [model_file(sweep.settings_of(trial)) for trial in ranked(sweep, sweep.trials)]
    return words, not_agreed_model(sweep.models, sweep.mark, [])


def preferences_case(draw: random.Random) -> bytes:
    values = {
        "version": 1,
        "theme": "dark",
        "language": "en",
        "recent_projects": ["/a", "b"],
        "recent_models": ["m"],
        "agreed": ["0" * 64],
    }
    text = json_text(mutated(values, draw), draw)
    return mutated_bytes(text, draw, [text]) if draw.random() < 0.2 else text


def read_preferences_file(data: bytes, folder: Path) -> object:
    """Preferences never raise: an unusable value is reported, and the defaults apply."""
    from studio.session.project.project_file import preferences_path, read_preferences

    path = preferences_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    found, trouble = read_preferences()
    found.remember(Path("x"))
    check_message(ValueError(trouble or "fine"))
    return found


def information_case(draw: random.Random) -> Any:
    return mutated(tree(f"{draw.choice(MODELS)}.pdiparams.info")["info"], draw)


def read_information(info: Any, folder: Path) -> object:
    from studio.session.predict.info_file_check import checked_information

    return checked_information(info, folder / "m.pdiparams.info")


def image_case(draw: random.Random) -> bytes:
    images = [sample(name) for name in names() if name.startswith(("digit.", "turned."))]
    return mutated_bytes(draw.choice(images), draw, images)


def read_image(data: bytes, folder: Path) -> object:
    from studio.session.predict.digit_images import digit_from_bytes

    return digit_from_bytes(data, "picture.png")


def parameters_case(draw: random.Random) -> Any:
    words = ["beta1=0.9", "step_size=3", "milestones=1,2", "gamma", "=", "a=b=c", "momentum=nan", "values=[1"]
    return [
        mutated_bytes(draw.choice(words).encode(), draw, []).decode("utf-8", "surrogateescape")
        for _ in range(draw.randint(1, 3))
    ]


def read_parameters(words: list[str], folder: Path) -> object:
    from resources.settings import parse_parameters

    return parse_parameters(
        *(("optimizer_params", "Adam") if len(words) % 2 else ("schedule_params", "step_decay")), words
    )


def _studio_errors() -> tuple[type[Exception], ...]:
    from studio.session.predict.digit_images import ImageError
    from studio.session.project.project_file import ProjectError

    return (ProjectError, ImageError)


@functools.cache
def readers() -> dict[str, Reader]:
    """Every reader by name; the shares sum to 1000, and readers without one are asked for by name."""
    from tests.robust.command_readers import command_readers
    from tests.robust.container_readers import container_readers
    from tests.robust.data_readers import DATA_READERS
    from tests.robust.guarded_cases import guarded_readers
    from tests.robust.journal_readers import journal_readers
    from tests.robust.model_readers import model_readers
    from tests.robust.onnx_readers import onnx_readers
    from tests.robust.packed_readers import packed_readers
    from tests.robust.paddle_readers import paddle_readers
    from tests.robust.project_readers import project_readers
    from tests.robust.run_readers import run_readers
    from tests.robust.source_readers import source_readers
    from tests.robust.weight_readers import weight_readers
    from tests.robust.wire_readers import wire_readers

    studio = _studio_errors()
    found = [
        *container_readers(),
        *packed_readers(),
        *onnx_readers(),
        *paddle_readers(),
        *weight_readers(),
        *model_readers(),
        *run_readers(),
        Reader("project", project_case, read_project_file, studio, 20),
        Reader("sweep", sweep_case, read_sweep_file, studio, 20),
        Reader("preferences", preferences_case, read_preferences_file, (), 20),
        Reader("information", information_case, read_information, (EngineError,), 30),
        Reader("picture", image_case, read_image, studio, 40, 512),
        Reader("parameters", parameters_case, read_parameters, (ValueError,), 10),
        *journal_readers(),
        *project_readers(),
        *DATA_READERS,
        *source_readers(),
        *guarded_readers(),
        *command_readers(),
        *wire_readers(),
    ]
    total = sum(reader.share for reader in found)
    assert total == 1000, f"the shares of the readers sum to {total}"
    return {reader.name: reader for reader in found}
