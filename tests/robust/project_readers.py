"""Attacks on what lies in a project: notes, queue, corrections, predictions, collected images, drafts."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from engine.core.errors import EngineError
from tests.robust.containers import container
from tests.robust.corpus import sample
from tests.robust.mutations import json_text, mutated, mutated_bytes
from tests.robust.reader import Reader, check_message, one_line


def _document(plain: Callable[[], Any]) -> Callable[[random.Random], bytes]:
    """Cases of a JSON file: its values changed, one time in five its bytes too."""

    def make(draw: random.Random) -> bytes:
        text = json_text(mutated(plain(), draw, 0.93), draw)
        return mutated_bytes(text, draw, [text]) if draw.random() < 0.2 else text

    return make


def _empty(folder: Path, name: str) -> Path:
    path = folder / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    return path


# ----- notes, queue, what was open last ---------------------------------------------------------------------


def _notes() -> Any:
    return {
        "format": "model-studio run notes",
        "version": 1,
        "name": "a",
        "note": "b\nc",
        "tags": ["x", "y"],
        "hidden": False,
    }


def read_notes_file(data: bytes, folder: Path) -> object:
    """Notes never raise: what is wrong with them is reported."""
    from studio.session.runs.run_notes import read_notes

    (folder / "notes.json").write_bytes(data)
    found, trouble = read_notes(folder)
    check_message(ValueError(trouble or "fine"))
    return found


def _queue() -> Any:
    from studio.session.train.run_settings import RunSettings

    settings = RunSettings().as_dict()
    return {
        "format": "model-studio queue",
        "version": 1,
        "waiting": [
            {"number": 1, "settings": settings, "folder": "sweep-1/trial-001"},
            {"number": 2, "settings": settings | {"model": "./net.py:Net"}, "folder": ""},
        ],
    }


def read_queue_file(data: bytes, folder: Path) -> object:
    """A window finds it, changes it, and lets it continue: nothing starts outside the runs folder."""
    from resources.local_code import LocalCode
    from studio.session.project.code_agreement import own_code
    from studio.session.project.undo import UndoStack
    from studio.session.runs.run_queue import RunQueue
    from studio.session.train.run_settings import RunSettings
    from studio.session.work.file_thread import FileThreads

    runs, started, messages = _empty(folder, "runs"), [], []
    (runs / "queue.json").write_bytes(data)

    def needs_agreement(settings: RunSettings) -> LocalCode | None:
        return own_code(Path(settings.user_file), b"") if settings.user_file else None

    library: Any = SimpleNamespace(
        files=FileThreads(lambda: None),
        runs_folder=runs,
        report=lambda text, title: messages.append(text),
        needs_agreement=needs_agreement,
        moving="",
        undo_stack=UndoStack(),
    )
    queue = RunQueue(library, lambda settings, place: started.append(place), lambda: len(started) > 5)
    queue.look()
    assert not started
    assert queue.held or not queue.waiting
    messages += [queue.move([2], -1)]
    queue.release()
    for text in filter(None, messages):
        check_message(ValueError(text))
    for place in filter(None, started):
        assert Path(os.path.realpath(place)).is_relative_to(os.path.realpath(runs)), place
    return queue.add([RunSettings()])


def _last() -> Any:
    return {
        "version": 1,
        "project": "/a/p",
        "page": "train",
        "selected_run": "/a/p/runs/r",
        "failures": 1,
        "shown_runs": ["/a/p/runs/r", "b"],
    }


def read_last_time(data: bytes, folder: Path) -> object:
    """A start never fails for what was remembered; it says what it could not open."""
    from studio.session.project.open_project import OpenProject
    from studio.session.project.project_file import ProjectError
    from studio.session.project.session_state import SessionState, remembered_path
    from studio.session.selection import Selected
    from studio.session.work.file_thread import FileThreads

    path = remembered_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    keeping = OpenProject(folder / "home", folder / "home" / "runs")

    def restore(project: Path | None) -> None:
        keeping.open_home() if project is None else keeping.open(project)

    files = FileThreads(lambda: None)
    session: Any = SimpleNamespace(keeping=keeping, project_path=None, restore_project=restore, files=files)
    last = SessionState(session)
    one_line(last.restore, (ProjectError,))
    if last.trouble is not None:
        check_message(ValueError(last.trouble.message))
    last.done()
    selected = Selected("run", last.remembered.selected_run)
    last.keep("train", [str(name) for name in last.remembered.shown_runs], selected)
    return last.remembered


# ----- corrections, predictions -----------------------------------------------------------------------------


@cache
def _digits() -> Any:
    from engine.training.data import load_data

    return load_data("digits", 20)


def _corrections() -> Any:
    from engine.training.corrections import sample_digest

    rows = _digits().test
    seen = sample_digest(rows.rows.read(rows.chosen[:1])[0])
    return {
        "format": "model-studio corrections",
        "version": 2,
        "corrections": [
            {
                "data": "digits",
                "sha256": seen,
                "action": "relabel",
                "label": 9,
                "was": 4,
                "split": "test",
                "index": 0,
                "time": 1.5e9,
            },
            {"data": "digits", "sha256": "0" * 64, "action": "drop", "label": -1, "was": 7},
            {
                "data": "/elsewhere/rents.csv",
                "sha256": "1" * 64,
                "action": "value",
                "label": -1,
                "was": 0,
                "target": [640.5, 3.0],
                "were": [6405.0, 3.0],
            },
        ],
    }


def read_corrections_file(data: bytes, folder: Path) -> object:
    """As the page and a training do: read, applied to the data, written again."""
    from engine.training.corrections import apply_corrections, read_corrections
    from studio.session.data.corrections import ProjectCorrections

    path = folder / "corrections.json"
    path.write_bytes(data)
    found, _ = read_corrections(path)
    one_line(lambda: apply_corrections(_digits(), found, str(path)), (EngineError,))
    if found:
        ProjectCorrections(path).add(found[0])
    return found


def _predictions() -> Any:
    import numpy as np

    images = np.zeros((2, 4, 4), np.uint8)
    return {
        "step": 2,
        "labels": np.array([0, 1, 2], np.uint32),
        "answers": np.array([0, 2, 2], np.uint32),
        "of_truth": np.ones(3, np.float32),
        "of_answer": np.ones(3, np.float32),
        "probabilities": np.ones((3, 3), np.float16),
        "hardest": np.array([1, 0]),
        "pictures": images,
    }


_SHAPES: list[tuple[int, ...]] = [
    (),
    (0,),
    (3,),
    (0, 3),
    (3, 0),
    (0, 0, 0),
    (2, 4, 4, 3),
    (2, 0, 4),
    (0, 10**9),
]


def predictions_case(draw: random.Random) -> bytes:
    """A file with an array of another type or shape, or other numbers; or with another tree."""
    import numpy as np

    tree = _predictions()
    for _ in range(draw.randint(1, 2)):
        name = draw.choice(list(tree)[1:])
        array = tree[name]
        if not isinstance(array, np.ndarray):
            continue
        what = draw.randrange(6)
        if what == 0:
            tree[name] = array.astype(draw.choice(("f8", "i8", "u1", "c8", "b1", "f4", "u4")))
        elif what == 1:
            tree[name] = array.reshape(draw.choice(((-1,), (*array.shape, 1), (1, *array.shape))))
        elif what == 2:
            tree[name] = np.zeros(draw.choice(_SHAPES), array.dtype)
        elif what == 3 and array.dtype.kind == "f":
            tree[name] = np.full_like(array, draw.choice((np.nan, np.inf, -1.0, 1e-30)))
        elif what == 3:
            tree[name] = np.full_like(array, draw.choice((3, 200, np.iinfo(array.dtype).max)))
        elif what == 4:
            tree[name] = array[:-1]
        else:
            tree = mutated(tree, draw)
            if not isinstance(tree, dict) or len(tree) < 2:
                break
    try:
        return container("predictions", tree)
    except (EngineError, ValueError, UnicodeError):
        return mutated_bytes(container("predictions", _predictions()), draw, [])


def read_predictions(data: bytes, folder: Path) -> object:
    """As the page Mistakes does: every cell, and what it says of each image."""
    from engine.training.measuring.predictions import PredictionsFolder
    from studio.session.runs.report.report_page import write_report
    from studio.session.train.mistakes import _sample

    predictions = PredictionsFolder(folder / "run")
    predictions.path.mkdir(parents=True, exist_ok=True)
    (predictions.path / "step-00000002.h5").write_bytes(data)
    (folder / "run" / "journal.jsonl").write_bytes(sample("journal.jsonl"))
    one_line(lambda: write_report(folder / "run", folder / "report.html"), (EngineError,))
    found = predictions.read(2)
    assert found is not None
    if found.classes < 100:
        found.confusion()
    return [
        _sample(found, int(place)) for place in (*found.hardest, *found.cell(1, 2))
    ], predictions.entries()


# ----- collected images, code -----------------------------------------------------------------------------

_CLASSES = b"zero\none\nT-shirt/top\n"
_FOLDERS = ("zero", "one", "T-shirt%2Ftop", "%2E%2E", "..%2F..", "%00", "new", "%", "a" * 200, "%ff")


def collected_case(draw: random.Random) -> dict[str, bytes]:
    """Files by their places: a list of classes, images of any format that are called PNG."""
    images = [sample(f"digit.{kind}") for kind in ("png", "alpha.png", "deep.png", "gif", "jpg", "tif")]
    files = {"classes.txt": mutated_bytes(_CLASSES, draw, []) if draw.random() < 0.5 else _CLASSES}
    for place in range(draw.randint(1, 4)):
        data = draw.choice(images)
        files[f"{draw.choice(_FOLDERS)}/{place}.png"] = (
            mutated_bytes(data, draw, images) if draw.random() < 0.7 else data
        )
    if draw.random() < 0.3:
        files["zero/eps.png"] = (
            mutated_bytes(_POSTSCRIPT, draw, images) if draw.random() < 0.5 else _POSTSCRIPT
        )
    if draw.random() < 0.2:
        files["one/bomb.png"] = _BOMB
    return files


# Formats of which Pillow starts a program, or says that they hold billions of pixels.
_POSTSCRIPT = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n%%EOF\n"
_BOMB = (
    sample("digit.png")[:16]
    + (60000).to_bytes(4, "big") * 2
    + sample("digit.png")[24:29]
    + bytes.fromhex("1b4e07ad")
    + sample("digit.png")[33:]
)


def read_collected(files: dict[str, bytes], folder: Path) -> object:
    """The list of them, their pixels, one more and one moved; and the same folder as data."""
    import numpy as np

    from engine.training.data import load_data
    from studio.session.data.collected_images import CollectedImages

    place = _empty(folder, "collected")
    for name, data in files.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_bytes(data)
    collected = CollectedImages(place)
    for image in collected.images():
        one_line(image.pixels, (EngineError, OSError))
    one_line(lambda: load_data(str(place)).train[0], (EngineError,))
    one_line(lambda: collected.collect(np.zeros((4, 4), np.uint8), 0), (EngineError,))
    return collected.collect(np.zeros((4, 4), np.uint8), "one")


_CODE = b'''from engine import nn


class Net(nn.Layer):
    """A network."""

    def forward(self, x):
        return [f"{x!r}", (x for x in {1: 2}), lambda: -(+x)][0] if x else 1e9 ** 2
'''
_NESTED = (
    b"(",
    b"-",
    b"[",
    b"f(",
    b"lambda:",
    b"x if y else ",
    b"not ",
    b"{1:",
    b"if 1:\n ",
    b"f'{",
    b"1+",
    b"a.",
)


def code_case(draw: random.Random) -> bytes:
    """The text of a model with changed bytes, or nested deeper than any real model."""
    if draw.random() < 0.3:
        deep = draw.choice(_NESTED) * draw.choice((50, 99, 101, 999, 5000, 100_000))
        return _CODE + draw.choice((b"", b"x = ", b"class A(nn.Layer):\n x = ")) + deep
    return mutated_bytes(_CODE, draw, [_CODE])


def read_code(data: bytes, folder: Path) -> object:
    """What the page Code does with a file and its draft before anybody agreed to run it."""
    from studio.session.code.drafts import draft_path, read_draft
    from studio.session.code.syntax import syntax_problem
    from studio.session.code.user_models import classes_in, model_classes, trouble_in
    from studio.session.project.code_agreement import check_code

    path = folder / "net.py"
    path.write_bytes(data)
    draft_path(path).parent.mkdir(parents=True, exist_ok=True)
    draft_path(path).write_bytes(data)
    text = read_draft(path)
    classes_in(path)
    trouble_in(path)
    check_code(path, ())
    if text is None:
        return None
    problem = syntax_problem(text, "net.py")
    if problem is not None:
        check_message(ValueError(problem.message))
    return model_classes(text)


# ----- the project itself -----------------------------------------------------------------------------------


def _project() -> Any:
    from studio.session.train.run_settings import RunSettings

    settings = RunSettings().as_dict() | {"data": "./data/collected", "model": "./code/net.py:Net"}
    return {
        "format": "model-studio project",
        "version": 2,
        "name": "p",
        "settings": settings,
        "runs": "runs",
        "further_runs": ["/a/runs", "b"],
    }


def read_project_folder(data: bytes, folder: Path) -> object:
    """Opened, written, joined with what another window wrote, and listed with its further runs."""
    from studio.session.project.open_project import OpenProject
    from studio.session.runs.runs_folder import RunsFolder

    place = _empty(folder, "project")
    (place / "project.studio.json").write_bytes(data)
    keeping = OpenProject(folder / "home", folder / "home" / "runs")
    keeping.open(place)
    runs = RunsFolder().read(keeping.runs_folder, keeping.further_runs)
    keeping.project = keeping.project.model_copy(update={"name": "other"})
    (place / "project.studio.json").write_bytes(data + b" ")
    keeping.write()
    return runs


def project_readers() -> list[Reader]:
    """The readers of what lies in a project."""
    from studio.session.project.project_file import ProjectError

    ours = (EngineError,)
    return [
        Reader("run notes", _document(_notes), read_notes_file, (), 10),
        Reader("queue", _document(_queue), read_queue_file, (), 10),
        Reader("last time", _document(_last), read_last_time, (), 6),
        Reader("corrections", _document(_corrections), read_corrections_file, ours, 10),
        Reader("predictions", predictions_case, read_predictions, ours, 8, 128),
        Reader("collected images", collected_case, read_collected, ours, 10, 512),
        Reader("code", code_case, read_code, (), 10, 320),
        Reader("project folder", _document(_project), read_project_folder, (ProjectError,), 10),
    ]
