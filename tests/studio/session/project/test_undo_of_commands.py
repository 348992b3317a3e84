"""Undo covers whatever edits a project: a command is listed as an edit, or with the reason why it is none."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from studio.session.commands import COMMANDS
from studio.session.data.collecting import collect_image
from studio.session.data.data_view import UnlabelledFolder
from studio.session.project.project_file import Project
from studio.session.runs.run_notes import RunNotes, read_notes
from studio.session.session import Session
from studio.session.sweep.queued import queue_sweep, sweep_of_words
from studio.session.train.mistakes_view import SampleView
from tests.engine.training.sources.images.test_labels import flat
from tests.studio.windows.runs.run_folders import make_run

SAMPLE = SampleView(3, 1, 2, 0.1, digest="ab" * 32)


def run_of(session: Session) -> str:
    return session.runs[0].path


def queued(session: Session) -> list[int]:
    return [each.number for each in session.queue.waiting]


def delete(session: Session) -> None:
    trash = session.runs_folder.parent / "trash"
    trash.mkdir(exist_ok=True)
    session.run_changes.to_trash = lambda path: Path(shutil.move(path, trash / path.name))
    assert session.run_changes.delete([run_of(session)]) == ""


def sweep(session: Session) -> None:
    made = sweep_of_words(session.train.settings, ["lr=0.1,0.2"], 0)
    queue_sweep(session.queue, session.files, made, pytest.fail)


def collect(session: Session) -> None:
    collect_image(session, np.full((28, 28), 9, np.uint8), "7", "drawn", lambda count: None)


def take_back(session: Session) -> None:
    session.mistakes.take_back(session.corrections.read()[0])


def choose_rate(session: Session) -> None:
    view = session.rate_finder.view
    view.settings = replace(view.settings, steps=view.settings.steps + 1)


# What edits, by the id of its command, or the place that does it.
EDITS: dict[str, Callable[[Session], object]] = {
    "rename_project": lambda session: session.rename_project("another"),
    "duplicate_run": lambda session: session.duplicate_run(run_of(session)),
    "run_notes": lambda session: session.run_changes.describe(run_of(session), "n", ["t"], "note", 3),
    "hide_run": lambda session: session.run_changes.hide([run_of(session)]),
    "delete_run": delete,
    "add_to_queue": lambda session: session.queue.add([session.train.settings]),
    "start_sweep": sweep,
    "queue_earlier": lambda session: session.queue.move(queued(session)[1:], -1),
    "queue_later": lambda session: session.queue.move(queued(session)[:1], 1),
    "queue_remove": lambda session: session.queue.remove(queued(session)),
    "suggest": lambda session: session.use_suggestion({"batch_size": 17}),
    "label_images": lambda session: session.labelling.label("dark"),
    "exclude_images": lambda session: session.labelling.exclude(),
    "corrections": take_back,
    "export": lambda session: session.export.change(title="Ours"),
    "quantize": lambda session: session.export.choose(method="post_training"),
    "find_rate": choose_rate,
    "folder and name of exported files": lambda session: session.export.choose_prefix("/exports/best"),
    "row of the queue dragged": lambda session: session.queue.place(queued(session)[:1], 0),
    "field of a setting": lambda session: session.change_setting("epochs", 9),
    "data chosen": lambda session: session.choose_data("bars"),
    "runs linked": lambda session: session.link_runs(session.runs_folder.parent / "elsewhere"),
    "name of a run": lambda session: session.run_changes.rename(run_of(session), "n"),
    "tags of a run": lambda session: session.run_changes.tag(run_of(session), ["t"]),
    "colour of a run": lambda session: session.run_changes.color([run_of(session)], "#123456"),
    "class added": lambda session: session.labelling.add_class("third"),
    "class renamed": lambda session: session.labelling.rename_class("dark", "black"),
    "label corrected": lambda session: session.mistakes.relabel(replace(SAMPLE, digest="cd" * 32), 5),
    "sample excluded": lambda session: session.mistakes.drop(SAMPLE),
    "image collected": collect,
}

_FILE = "writes or opens files that the user names; the project stays"
_LIVE = "about the training that runs, not an edit; its run can be deleted with undo"
_SHOWS = "changes only what is shown"
_OPENS = "opens or moves a project; nothing in it is edited"
_UNDO = "undo itself"
NO_EDITS = {
    **dict.fromkeys(("new_project", "open_project", "save_project", "save_project_as"), _OPENS),
    **dict.fromkeys(("new_model", "open_model", "save_model", "load_model", "edit_model", "report"), _FILE),
    **dict.fromkeys(("save_quantization", "save_runs", "export_script", "open_folder"), _FILE),
    **dict.fromkeys(("undo", "redo"), _UNDO),
    **dict.fromkeys(("start", "pause", "resume", "stop_early", "cancel", "checkpoint_now"), _LIVE),
    **dict.fromkeys(("change_rate", "end_process", "resume_run", "start_queue", "train_corrected"), _LIVE),
    **dict.fromkeys(("compare_models", "check_model", "quit", "next_unlabelled", "finish_labelling"), _SHOWS),
    **dict.fromkeys(("train_labelled", "try_run", "compare_runs", "show_graph", "measure_model"), _SHOWS),
    "compare_numbers": _SHOWS,
    "show_checkpoints": _SHOWS,
    **dict.fromkeys(("stop_measuring", "plan_model", "cancel_task", "quantization_report", "find"), _SHOWS),
    **dict.fromkeys(("debug", "find_operator", "debug_continue", "debug_step", "debug_step_back"), _SHOWS),
    **dict.fromkeys(("debug_until_nan", "debug_breakpoint", "debug_restart", "debug_stop"), _SHOWS),
    **dict.fromkeys(("palette", "reset_layout", "help", "keys", "copy_report", "about"), _SHOWS),
    **dict.fromkeys(("measure_step", "stop_measuring_step", "fit_diagram", "zoom_in", "zoom_out"), _SHOWS),
    **dict.fromkeys(("open_groups", "close_groups", "explain"), _SHOWS),
    **dict.fromkeys(("save_diagram", "save_map"), _FILE),
    "remove_run": "changes no file; its folder had disappeared before, and is listed when it comes back",
    "preferences": "belongs to the person, not to a project",
}


def state_of(session: Session) -> dict[str, Any]:
    """Whatever of the project undo has to bring back."""
    folder = session.labelling.view.folder
    return {
        "project": session.project.model_dump(),
        "notes": {run.path: read_notes(Path(run.path))[0] for run in session.runs},
        "runs": sorted(run.path for run in session.runs),
        "queue": list(session.queue.waiting),
        "corrections": session.corrections.read(),
        "collected": [(each.label, each.path.name) for each in session.collected.images()],
        "labels": None if folder is None else (dict(folder.labels), folder.classes),
    }


def prepare(stage: Any, tmp_path: Path) -> Session:
    """A project with a run, two runs that wait, labels and a correction."""
    session: Session = stage.session
    session.undo_stack._clock = count(step=2.0).__next__
    make_run(session.runs_folder / "lenet-static-001", epochs=3)
    make_run(tmp_path / "elsewhere" / "lenet-static-005")
    session.refresh_runs()
    session.queue.hold()
    for epochs in (4, 5):
        session.queue.add([session.train.settings.changed("epochs", epochs)])
    images = flat(tmp_path / "own", 3)
    (images / "labels.csv").write_text("file_name,label\n0.png,dark\n")
    session.data.unlabelled = UnlabelledFolder(
        str(images), ("0.png", "1.png", "2.png"), ("dark", "", ""), ("dark", "bright")
    )
    session.labelling.select(["1.png"])
    session.mistakes.view.data = "digits"
    session.mistakes.relabel(SAMPLE, 2)
    return session


def problems_of(session: Session, edit: Callable[[Session], object]) -> str:
    """What is wrong with the undo of an edit, which is undone in the end; empty where nothing is."""
    before, steps = state_of(session), len(session.undo_stack._done)
    edit(session)
    after = state_of(session)
    if after == before:
        return "it edits nothing"
    if len(session.undo_stack._done) != steps + 1:
        return f"steps of undo: {len(session.undo_stack._done) - steps}"
    session.execute("undo")
    if state_of(session) != before:
        return "undo brings something else"
    session.execute("redo")
    if state_of(session) != after:
        return "redo brings something else"
    session.execute("undo")
    return ""


def test_each_edit_is_a_step_of_undo_and_redo(stage: Any, tmp_path: Path) -> None:
    session = prepare(stage, tmp_path)
    assert {name: wrong for name, edit in EDITS.items() if (wrong := problems_of(session, edit))} == {}
    assert stage.problems == []


def test_every_command_is_known_as_an_edit_or_has_a_reason(stage: Any, tmp_path: Path) -> None:
    shown = {each.id for each in COMMANDS if each.page or each.choice}
    known = [*NO_EDITS, *(edit for edit in EDITS if " " not in edit), *shown]
    assert sorted(known) == sorted(each.id for each in COMMANDS)
    session = prepare(stage, tmp_path)
    before = state_of(session)
    for name, reason in NO_EDITS.items():
        command = next(each for each in COMMANDS if each.id == name)
        if reason == _SHOWS and session.handles(command):
            session.execute(name)
            assert state_of(session) == before, name


def test_every_field_of_a_project_and_of_notes_is_edited_with_undo(stage: Any, tmp_path: Path) -> None:
    session = prepare(stage, tmp_path)
    before = session.project.model_copy()
    changed: set[str] = set()
    for edit in EDITS.values():
        edit(session)
        now = session.project
        changed |= {name for name in Project.model_fields if getattr(now, name) != getattr(before, name)}
        for notes in state_of(session)["notes"].values():
            changed |= {name for name, value in notes if value != getattr(RunNotes(), name)}
        session.undo_stack.undo()
    fixed = {"format", "version", "runs"}  # "runs" follows a project that is saved in another folder
    assert changed >= {*Project.model_fields, *RunNotes.model_fields} - fixed
