"""The session over a controlled worker: states, what is enabled, settings, projects, closing."""

from __future__ import annotations

import json
import math
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from studio.session.commands import BY_ID, COMMANDS, PAGES
from studio.session.project.code_agreement import count_agreements
from studio.session.project.project_file import ProjectChangedError, ProjectError, preferences_path
from studio.session.session import Session


def test_a_whole_training(stage: Any) -> None:
    train, states = stage.session.train, []
    train.events.state.connect(states.append)
    points: list[tuple[list[int], list[float]]] = []
    train.new_points.connect(lambda steps, losses, accuracies: points.append((steps, losses)))
    assert stage.session.execute("start") == ""
    job = stage.worker.job
    assert (stage.worker.job_name, job.resume) == ("train", False)
    assert Path(job.config["out"]).name == "lenet-static-001"
    stage.started()
    stage.steps(2.0, 1.5)
    assert (train.step, train.epochs, train.loss, train.seconds_left) == (2, 2, 1.5, 3.0)
    assert train.progress == 0.2
    stage.ended()
    assert states == ["starting", "running", "finished"]
    assert points == [([1, 2], [2.0, 1.5])]
    assert (train.best_accuracy, train.message) == (0.9, "Finished")
    assert stage.worker.closed
    assert not stage.session.busy()


def test_only_real_changes_are_reported(stage: Any) -> None:
    stage.session.execute("start")
    stage.started()
    heard: list[Any] = []
    stage.session.train.events.connect(lambda info: heard.append(info.signal.name))
    stage.steps(2.0)
    assert {"step", "loss", "accuracy"} <= set(heard)
    heard.clear()
    stage.steps(2.0)
    assert heard == []


def test_not_a_number_is_no_change_from_not_a_number(stage: Any) -> None:
    heard: list[float] = []
    stage.session.train.events.loss.connect(heard.append)
    stage.session.train.clear()
    assert heard == []
    stage.session.train.loss = 1.0
    stage.session.train.clear()
    assert heard[0] == 1.0
    assert math.isnan(heard[1])


def test_pausing_is_acknowledged_at_once_and_ends_with_the_trainings_event(stage: Any) -> None:
    train = stage.session.train
    stage.session.execute("start")
    assert stage.session.execute("pause") == "The training is starting."
    stage.started()
    assert stage.session.execute("pause") == ""
    assert (train.state, train.message, stage.worker.commands) == ("pausing", "Pausing…", ["pause"])
    assert stage.session.execute("pause") == "Pausing…"
    stage.tell("paused", step=3)
    assert train.state == "paused"
    assert stage.session.execute("resume") == ""
    stage.tell("resumed", step=3)
    assert train.state == "running"
    assert stage.worker.commands == ["pause", "resume"]


def test_start_and_resume_share_a_key_and_are_never_both_enabled(stage: Any) -> None:
    assert BY_ID["start"].keys == BY_ID["resume"].keys == "F5"
    train = stage.session.train
    for state in (
        "idle",
        "starting",
        "running",
        "pausing",
        "paused",
        "stopping",
        "finished",
        "failed",
        "crashed",
    ):
        train.go_to(state, "")
        assert {"start", "resume"} & set(train.why_not), state


def test_stop_early_and_cancel(stage: Any, tmp_path: Path) -> None:
    train = stage.session.train
    stage.session.execute("start")
    stage.started()
    stage.session.execute("stop_early")
    assert (train.state, train.message) == ("stopping", "Stopping…")
    assert "stop_early" in train.why_not
    assert "cancel" not in train.why_not, "a stop that takes long can still be turned into a cancel"
    stage.ended("stopped", reason="early")
    assert (train.state, train.message) == ("finished", "Stopped early; the best weights are kept")
    stage.session.execute("start")
    stage.started()
    stage.session.execute("cancel")
    assert train.message == "Cancelling…"
    stage.ended("cancelled")
    assert (train.state, train.folder) == ("idle", "")


def test_a_failure_shows_the_users_line(stage: Any) -> None:
    stage.session.execute("start")
    stage.started()
    stage.tell(
        "failed",
        error="ShapeError",
        message="m",
        where="linear",
        what="shapes don't fit: (64, 400)",
        do="make it 400 wide",
        file="net.py",
        line=12,
        traceback="Traceback ...",
        step=3,
        checkpoint="",
    )
    stage.worker.end()
    stage.session.pump()
    (problem,) = stage.problems
    assert problem == stage.session.train.last_problem
    assert problem.message == "linear: shapes don't fit: (64, 400) (net.py:12); make it 400 wide"
    assert 'in "net.py", line 12' in problem.report()
    assert stage.session.train.state == "failed"
    assert "start" not in stage.session.train.why_not


def test_a_dead_worker_is_reported_and_leaves_the_session_usable(stage: Any) -> None:
    train = stage.session.train
    stage.session.execute("start")
    stage.started()
    stage.tell(
        "checkpoint",
        step=5,
        epoch=1,
        path="f/checkpoints/step-00000005.h5",
        reason="steps",
        seconds=0.1,
        bytes=9,
    )
    stage.worker.end(
        clean=False, message="training process: it was killed from outside: signal SIGKILL; resume"
    )
    stage.session.pump()
    assert (train.state, train.message) == ("crashed", "The training process has died; resume from step 5")
    assert "killed from outside" in stage.problems[0].what
    assert "resume_run" not in train.why_not
    assert stage.session.execute("start") == ""


def test_a_failed_checkpoint_is_a_problem_but_no_end(stage: Any) -> None:
    stage.session.execute("start")
    stage.started()
    stage.tell("checkpoint_failed", step=5, path="p", message="p: could not be saved: no space; free some")
    assert stage.session.train.state == "running"
    assert stage.problems[0].do == "free some"


def test_divergence(stage: Any) -> None:
    stage.session.execute("start")
    stage.started()
    stage.tell("diverged", step=4, epoch=1, loss=math.nan, checkpoint="", message="step 4: NaN; smaller rate")
    stage.ended("stopped", reason="diverged")
    assert stage.session.train.state == "failed"
    assert stage.problems[0].title == "The loss is not a number any more"


def test_a_wrong_setting_blocks_start_and_says_why(stage: Any) -> None:
    stage.session.change_setting("learning_rate", -1.0)
    reason = stage.session.execute("start")
    assert reason == "Learning rate must be a positive number: got -1.0; give e.g. 0.001"
    assert stage.workers == []
    stage.session.change_setting("learning_rate", 0.01)
    assert stage.session.execute("start") == ""


def test_code_of_the_user_needs_agreement_once_per_content(stage: Any, tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text("class Net: pass\n")
    stage.session.change_setting("model", f"{file}:Net")
    code = stage.session.needs_agreement()
    assert code.file == file
    stage.session.execute("start")
    assert stage.workers == []
    assert "not agreed to yet" in stage.problems[0].what
    stage.session.agree(code)
    assert stage.session.preferences.agreed == [
        sha256(file.read_bytes()).hexdigest()
    ]  # as earlier versions remembered it
    assert stage.session.needs_agreement() is None
    stage.session.execute("start")
    assert len(stage.workers) == 1
    again = Session(lambda notify: stage.worker, tmp_path)
    assert again.needs_agreement(stage.session.train.settings) is None
    file.write_text("import os\n")
    assert stage.session.needs_agreement().file == file


def test_graph_before_any_training(stage: Any) -> None:
    assert stage.session.execute("show_graph") == ""
    assert stage.session.graph.loading
    assert stage.session.blocked("export") == "Select a run to export."
    assert stage.session.execute("show_graph") == "Another task is running."
    program = {
        "blocks": [{"idx": 0, "parent": -1, "vars": [], "ops": [{"type": "relu", "file": "m.py", "line": 7}]}]
    }
    stage.tell(
        "program",
        model="lenet",
        program=program,
        text="",
        source="s",
        source_file="m.py",
        source_line=3,
        converted="c",
    )
    stage.worker.end()
    stage.session.pump()
    graph = stage.session.graph
    assert not graph.loading
    graph.select(0, 0)
    assert graph.selected_operator()["type"] == "relu"
    graph.select(0, 9)
    assert graph.selected is None
    assert graph.operators_at_line(7) == [(0, 0)]
    assert graph.operators_at_line(8) == []


def test_export_follows_the_run(stage: Any, tmp_path: Path) -> None:
    export = stage.session.export
    export.choose_run(str(tmp_path / "a"))
    export.choose_run(str(tmp_path / "b"))
    assert export.prefix == str(tmp_path / "b" / "inference" / "model")
    export.prefix = str(tmp_path / "b" / "inference" / "digits")
    export.choose_run(str(tmp_path / "c"))
    assert export.prefix == str(tmp_path / "b" / "inference" / "digits"), "what the user chose stays"
    export.change(optimize=True, input_shape=(-1, 1, 28, 28))
    assert stage.session.execute("export") == ""
    assert stage.worker.job.settings.optimize is True
    assert stage.worker.job.settings.input_shape == (-1, 1, 28, 28)
    stage.tell(
        "exported",
        prefix="p",
        difference=1e-7,
        samples=8,
        latency=1e-5,
        sizes={"a": 2, "b": 3},
        accuracy=1.0,
        pictures="test",
        operators=[9, 6],
    )
    stage.worker.end()
    stage.session.pump()
    assert (export.state, export.verification.total_size) == ("done", 5)
    assert export.verification.operators == (9, 6)


def test_a_task_can_be_cancelled(stage: Any, tmp_path: Path) -> None:
    assert stage.session.execute("cancel_task") == "No task is running."
    stage.session.export.choose_run(str(tmp_path))
    stage.session.execute("export")
    assert stage.session.execute("cancel_task") == ""
    stage.session.pump()
    assert stage.session.export.state == "idle"
    assert stage.problems == []


def test_closing_stops_the_training_with_a_checkpoint(stage: Any) -> None:
    stage.session.execute("start")
    stage.started()
    assert stage.session.busy()
    stage.session.close(0.0)
    assert stage.worker.commands == ["interrupt"]
    assert stage.worker.closed
    assert not stage.session.busy()


def test_a_spare_worker_is_used_for_the_next_job(stage: Any) -> None:
    stage.session.tasks.warm_up()
    stage.session.tasks.warm_up()
    assert len(stage.workers) == 1
    stage.session.execute("start")
    assert len(stage.workers) == 1
    assert stage.worker.job_name == "train"


def test_a_spare_that_died_is_replaced(stage: Any) -> None:
    stage.session.tasks.warm_up()
    stage.worker.end(clean=False)
    stage.session.execute("start")
    assert len(stage.workers) == 2


def test_projects_keep_settings_and_runs_next_to_the_file(stage: Any, tmp_path: Path) -> None:
    session = stage.session
    session.change_setting("epochs", 7)
    session.save_project(tmp_path / "mine")
    path = tmp_path / "mine" / "project.studio.json"
    assert json.loads(path.read_text())["settings"]["epochs"] == 7
    assert session.runs_folder == tmp_path / "mine" / "runs"
    session.execute("new_project")
    assert session.train.settings.epochs == 5
    session.open_project(path)
    assert session.train.settings.epochs == 7
    assert session.project.name == "mine"
    assert session.preferences.recent_projects == [str(path)]


def test_a_project_that_another_window_saved_meanwhile_is_not_overwritten(stage: Any, tmp_path: Path) -> None:
    first, path = stage.session, tmp_path / "p.json"
    second = Session(make_worker=first.tasks.make_worker)
    first.save_project(path)
    second.open_project(path)
    first.change_setting("epochs", 7)
    first.save_project()
    second.change_setting("epochs", 9)
    with pytest.raises(ProjectChangedError, match=r"p\.json: not saved: another window or program has"):
        second.save_project()
    assert json.loads(path.read_text())["settings"]["epochs"] == 7
    second.save_project(tmp_path / "q.json")
    second.save_project()
    first.save_project()
    second.save_project(path)  # asked for by name, it replaces what is there
    assert json.loads(path.read_text())["settings"]["epochs"] == 9
    with pytest.raises(ProjectChangedError):
        first.save_project()
    path.unlink()
    first.save_project()
    assert json.loads(path.read_text())["settings"]["epochs"] == 7
    assert sorted(p.name for p in tmp_path.glob("*.json")) == ["p.json", "q.json"]
    assert not list(tmp_path.glob(".*"))
    second.close()


def test_projects_keep_the_parameters_of_optimizer_and_schedule(stage: Any, tmp_path: Path) -> None:
    session = stage.session
    session.change_setting("optimizer", "momentum")
    session.change_setting("optimizer_params.momentum", 0.5)
    session.change_setting("schedule", "multi_step_decay")
    assert session.train.settings.schedule_params == {"milestones": [2, 4]}  # a value to start from
    session.change_setting("schedule_params.milestones", [1, 9])
    session.save_project(tmp_path / "mine")
    session.execute("new_project")
    assert session.train.settings.optimizer_params == {}
    session.open_project(tmp_path / "mine")
    settings = session.train.settings
    assert (settings.optimizer, settings.optimizer_params) == ("momentum", {"momentum": 0.5})
    assert (settings.schedule, settings.schedule_params) == ("multi_step_decay", {"milestones": [1, 9]})
    session.execute("start")
    assert stage.worker.job.config["schedule_params"] == {"milestones": [1, 9]}


def test_a_project_from_before_there_were_parameters_opens(stage: Any, tmp_path: Path) -> None:
    settings = {
        "data": "digits",
        "model": "lenet",
        "optimizer": "sgd",
        "learning_rate": 0.01,
        "batch_size": 32,
        "epochs": 3,
        "seed": 1,
        "static": False,
        "device": "cpu",
        "checkpoint_every": 100,
        "keep": 2,
        "on_divergence": "continue",
        "samples": 10,
    }
    path = tmp_path / "old.json"
    path.write_text(json.dumps({"format": "model-studio project", "version": 1, "settings": settings}))
    stage.session.open_project(path)
    found = stage.session.train.settings.as_dict()
    assert {name: found[name] for name in settings} == settings
    assert (found["optimizer_params"], found["schedule"]) == ({}, "constant")
    assert stage.session.train.setting_problems == {}


def test_parameters_begin_anew_with_another_optimizer_and_defaults_are_not_kept(stage: Any) -> None:
    session = stage.session
    session.change_setting("optimizer_params.beta1", 0.5)
    assert session.train.settings.optimizer_params == {"beta1": 0.5}
    session.change_setting("optimizer_params.beta1", 0.9)
    assert session.train.settings.optimizer_params == {}
    session.change_setting("optimizer_params.beta2", 0.5)
    session.change_setting("optimizer", "sgd")
    assert session.train.settings.optimizer_params == {}
    session.change_setting("optimizer_params.weight_decay", -1.0)
    assert session.execute("start") == "Weight decay must be at least 0: got -1.0; give e.g. 0"
    with pytest.raises(ValueError, match="no such setting: 'colour'"):
        session.change_setting("colour", 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("[1]", "the file"),
        ('{"version": 3}', "written by a later Model Studio: version 3"),
        ('{"version": 1, "settings": {"epochs": "many"}}', r"settings\.epochs: .*'many'"),
        ('{"version": 1, "colour": 3}', "colour"),
        ("[" * 100_000, "nested deeper"),
    ],
)
def test_a_file_that_is_no_project_is_refused(stage: Any, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(ProjectError, match=message):
        stage.session.open_project(path)
    assert stage.session.project_path is None


def test_damaged_preferences_are_reported_and_replaced_by_the_defaults(tmp_path: Path) -> None:
    path = preferences_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{")
    session = Session(lambda notify: pytest.fail("no worker is needed"), tmp_path)
    assert session.preferences.theme == "system"
    session.change_preferences(theme="dark")
    assert json.loads(path.read_text())["theme"] == "dark"


def test_the_table_of_commands(stage: Any) -> None:
    assert len(BY_ID) == len(COMMANDS)
    for page in ("", *PAGES):  # of each page its own, and those of all pages that it does not have too
        own = [c.keys for c in COMMANDS if c.keys and c.on_page == page and page]
        shortcuts = [c.keys for c in COMMANDS if c.keys not in ("", "F5", *own) and not c.on_page] + own
        assert len([k for k in shortcuts if k != "F5"]) == len(set(shortcuts) - {"F5"})
    assert all(c.help.endswith(".") for c in COMMANDS)
    for found in COMMANDS:
        assert isinstance(stage.session.blocked(found), str)
        if stage.session.handles(found):
            with pytest.raises(ValueError, match="has a handler"):
                stage.session.handle(found, lambda: None)
        else:
            with pytest.raises(KeyError, match="command of the window"):
                stage.session.execute(found.id)
    with pytest.raises(KeyError, match="no such command"):
        stage.session.execute("fly")
    assert [found.id for found in COMMANDS if stage.session.handles(found)] == [
        *("new_project", "undo", "redo", "label_images", "next_unlabelled", "exclude_images"),
        *("finish_labelling", "start", "pause", "resume", "stop_early", "cancel", "checkpoint_now"),
        *(
            "change_rate",
            "end_process",
            "resume_run",
            "add_to_queue",
            "start_queue",
            "suggest",
            "find_rate",
        ),
        *("train_corrected", "show_graph", "measure_step", "stop_measuring_step", "debug", "debug_continue"),
        *("debug_step", "debug_step_back"),
        *("debug_until_nan", "debug_restart", "debug_stop", "export", "cancel_task"),
    ]


def test_an_agreement_covers_what_the_file_imports(stage: Any, tmp_path: Path) -> None:
    file, helper = tmp_path / "net.py", tmp_path / "helper.py"
    file.write_text("import helper\nclass Net: pass\n")
    stage.session.change_setting("model", f"{file}:Net")
    stage.session.agree(stage.session.needs_agreement())
    digest = stage.session.agreed()
    helper.write_text("X = 1\n")  # an agreement to the file alone, as earlier versions remembered it
    asked = stage.session.needs_agreement()
    assert stage.session.new_files(asked) == ["helper.py"]
    stage.session.execute("start")
    assert (stage.workers, stage.session.agreed()) == ([], "")
    assert stage.problems[0].where == str(helper)
    stage.session.agree(asked)
    stage.session.execute("start")
    assert stage.workers[0].job.agreed == stage.session.agreed() == asked.digest != digest
    assert count_agreements(stage.session.preferences.agreed) == 2
    helper.write_text("X = 2\n")
    asked = stage.session.needs_agreement()
    assert stage.session.new_files(asked) == ["helper.py"]
    helper.write_text("X = 3\n")
    stage.session.agree(asked)  # to what was shown, which is not what is there by now
    assert stage.session.needs_agreement() is not None


def test_every_file_that_a_run_keeps_needs_agreement(stage: Any, tmp_path: Path) -> None:
    source = tmp_path / "run" / "source"
    source.mkdir(parents=True)
    folder = str(tmp_path / "run")
    assert stage.session.needs_agreement_of(folder) is None
    (source / "net.py").write_text("import helper\n")
    (source / "helper.py").write_text("print('once harmless')\n")
    code = stage.session.needs_agreement_of(folder)
    assert stage.session.new_files(code) == ["helper.py", "net.py"]
    stage.session.agree(code)
    assert stage.session.needs_agreement_of(folder) is None
    stage.session.export.choose_run(folder)
    (source / "helper.py").write_text("print('not what was agreed to')\n")
    stage.session.execute("export")
    assert stage.workers == []
    assert "helper.py: this file is code" in stage.problems[-1].message
