"""The list of running tasks: whatever the session starts is in it, with its progress, until its end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from studio.session.code.job import CheckCode
from studio.session.code.plan_job import PlanCode
from studio.session.predict.model_choice import ModelChoice
from studio.session.train.rate_finder_job import FindRate
from studio.session.work.running_tasks import RunningTasks
from studio.session.work.task import RequestTask
from tests.studio.session.conftest import FakeWorker
from tests.studio.session.work.own_job import DoubleValues

WAIT = 60.0


def listed(stage: Any) -> list[tuple[str, str, float | None]]:
    return [
        (task.title.format(task.subject), task.message, task.progress) for task in stage.session.tasks.shown
    ]


def test_a_training_is_listed_with_its_progress_and_stopped_gently(stage: Any) -> None:
    stage.session.start()
    name = Path(stage.session.train.folder).name
    assert listed(stage) == [(f"Training {name}", "Starting…", None)]
    stage.started()
    stage.steps(0.5, 0.4)
    ((_, message, progress),) = listed(stage)
    assert (message, progress) == (stage.session.train.message, 0.2)
    (task,) = stage.session.tasks.shown
    task.cancel()
    assert stage.worker.commands == ["stop_early"]
    assert listed(stage) == [(f"Training {name}", "Stopping…", 0.2)]
    task.cancel()  # it is stopping: nothing more to ask
    assert stage.worker.commands == ["stop_early"]
    assert not stage.worker.killed
    stage.session.train.unanswered = True
    task.cancel()
    stage.session.pump()
    assert stage.worker.killed
    assert (listed(stage), task.state) == ([], "cancelled")


def test_a_training_that_has_ended_is_not_listed_while_its_process_exits(stage: Any) -> None:
    stage.session.start()
    stage.started()
    (task,) = stage.session.tasks.shown
    stage.tell(
        "failed",
        **dict.fromkeys(("error", "message", "where", "what", "do", "file"), "e"),
        line=0,
        traceback="",
        step=1,
        checkpoint="",
    )
    assert (listed(stage), task.ended) == ([], False)
    stage.worker.end()
    stage.session.pump()
    assert task.state == "failed"
    assert [problem.what for problem in stage.problems] == ["e"]


def start_export(session: Any) -> None:
    session.export.run_folder, session.export.prefix = "runs/a", "out/best"
    session._begin_task(session.export, export_job("out/best"))


def export_job(prefix: str) -> Any:
    from resources.settings.export import ExportSettings
    from studio.session.export.export_job import Export

    return Export("runs/a", prefix, ExportSettings())


STARTS = {
    "graph": (lambda session: session.show_graph(), "Tracing LeNet"),
    "export": (start_export, "Exporting best"),
    "suggestion": (lambda session: session.suggest(), "Suggesting settings"),
    "rate": (lambda session: session.find_rate(), "Finding a learning rate"),
    "samples": (
        lambda session: (session.samples.use({"data": "digits"}), session.samples.step(1)),
        "Reading test samples",
    ),
    "report": (lambda session: session.report_writer.write("runs/a", "out/a.html"), "Writing a.html"),
    "data": (
        lambda session: session.dataset_browser.look(session.train.settings),
        "Reading Digits (built in)",
    ),
}


@pytest.mark.parametrize("which", STARTS)
def test_each_job_of_the_session_is_listed_can_be_cancelled_and_leaves(stage: Any, which: str) -> None:
    start, title = STARTS[which]
    session = stage.session
    changes: list[int] = []
    start(session)
    session.tasks.changed.connect(lambda: changes.append(len(session.tasks.shown)))
    assert [name for name, _, _ in listed(stage)] == [title]
    (task,) = session.tasks.shown
    task.cancel()
    session.pump()
    assert stage.worker.killed
    assert (listed(stage), task.state, changes[-1]) == ([], "cancelled", 0)
    start(session)
    stage.worker.end(clean=False, message="it crashed")
    (task,) = session.tasks.shown
    session.pump()
    assert (listed(stage), task.state) == ([], "failed")


def test_progress_of_a_job_is_shown(stage: Any) -> None:
    start_export(stage.session)
    stage.tell("quantize_progress", stage="calibrate", message="Calibrating", done=3, total=12)
    assert listed(stage) == [("Exporting best", "Calibrating", 0.25)]
    stage.session.cancel_task()
    stage.session.pump()
    stage.session.find_rate()
    assert isinstance(stage.worker.job, FindRate)
    stage.tell("rates_tried", steps=8, rates=[0.1, 0.2], losses=[1.0, 1.0], smoothed=[1.0, 1.0])
    assert listed(stage) == [("Finding a learning rate", "", 0.25)]


def test_data_is_listed_while_it_is_read_and_checked(stage: Any) -> None:
    session = stage.session
    session.dataset_browser.look(session.train.settings)
    number = stage.worker.commands[-1].number
    stage.tell("data_waiting", number=number, message="Downloading")
    assert listed(stage) == [("Reading Digits (built in)", "Downloading", None)]
    session.data.state, session.data.checking = "ready", True
    stage.tell("data_checked", number=number, done=5, total=20, problems=[])
    assert listed(stage) == [("Checking Digits (built in)", "", 0.25)]
    (task,) = session.tasks.shown
    task.cancel()
    assert type(stage.worker.commands[-1]).__name__ == "StopCheck"
    stage.tell("data_check_stopped", number=number)
    assert (listed(stage), task.ended) == ([], False)


def test_a_model_is_listed_while_it_is_loaded_and_its_failure_is_reported(stage: Any, tmp_path: Path) -> None:
    session = stage.session
    session.load_model(str(tmp_path / "absent"))
    assert listed(stage) == [("Loading absent", "", None)]
    (task,) = session.tasks.shown
    assert session.wait_until(lambda: not session.predict.loading, WAIT)
    assert (listed(stage), task.state) == ([], "failed")
    assert len(stage.problems) == 1


def test_models_to_compare_and_batches_end_with_the_session(stage: Any, tmp_path: Path) -> None:
    session = stage.session
    choice = ModelChoice(str(tmp_path / "absent"))
    session.predict_models.compare([choice])
    session.predict_models.many.start(choice, str(tmp_path / "images"), str(tmp_path / "out.csv"))
    assert [name for name, _, _ in listed(stage)] == ["Loading absent", "Predicting images"]
    tasks = session.tasks.shown
    session.predict_models.close(WAIT)
    assert listed(stage) == []
    assert all(task.ended for task in tasks)


def test_a_task_that_rests_is_kept_and_not_shown() -> None:
    tasks = RunningTasks(FakeWorker, lambda: None)
    stopped: list[int] = []
    task = tasks.add(RequestTask("Loading {0}", "a", lambda: stopped.append(1)))
    assert tasks.shown == (task,)
    task.rest()
    assert tasks.shown == ()
    task.begin("Reading {0}", "b")
    task.report("half", 0.5)
    assert tasks.shown == (task,)
    assert (task.title, task.subject, task.message, task.progress) == ("Reading {0}", "b", "half", 0.5)
    task.cancel()
    assert (stopped, task.state) == ([1], "running")
    task.end("done")
    task.end("failed")
    assert (tasks.shown, task.state) == ((), "done")


def test_a_job_without_a_title_is_not_shown_and_the_spare_worker_is_used_once() -> None:
    made: list[FakeWorker] = []

    def make(notify: Any) -> FakeWorker:
        made.append(FakeWorker(notify))
        return made[-1]

    tasks = RunningTasks(make, lambda: None)
    tasks.warm_up()
    tasks.warm_up()
    assert len(made) == 1
    task = tasks.start(DoubleValues(()), lambda event: None)
    assert (made[0].job, tasks.shown, len(made)) == (DoubleValues(()), (), 1)
    tasks.start(DoubleValues(()), lambda event: None)
    assert len(made) == 2
    task.close()
    assert (task.state, made[0].closed) == ("cancelled", True)


@pytest.mark.parametrize("job", [CheckCode("", "net.py", "Net", (), {}), PlanCode("", "net.py", "Net", {})])
def test_a_job_of_each_pause_in_typing_is_listed_once_it_takes_longer(stage: Any, job: Any) -> None:
    tasks = stage.session.tasks
    task = tasks.start(job, lambda event: None)
    assert tasks.shown == ()
    assert 0 < tasks.next_shown <= 1
    task._began -= 1
    assert [each.title.format(each.subject) for each in tasks.shown] == [job.TITLE.format("Net")]
    assert tasks.next_shown is None
    task.cancel()
    task.take()
    assert (tasks.shown, task.state) == ((), "cancelled")
