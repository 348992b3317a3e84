"""The queue: one training after another, kept in the project, shared by windows, held where it must be."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from resources.local_code import read_code
from resources.run_folders import NEXT_TRIAL
from studio.session.runs.run_queue import LOCK, NAME, RunQueue
from studio.session.session import Session
from studio.session.sweep.document import Sweep, read_sweep, write_sweep
from studio.session.sweep.queued import queue_sweep, sweep_of_words
from studio.session.train.run_settings import RunSettings
from tests.studio.windows.runs.run_folders import make_run


def rates(queue: RunQueue) -> list[float]:
    return [waiting.settings.learning_rate for waiting in queue.waiting]


def queue_rates(stage: Any, *wanted: float) -> None:
    for rate in wanted:
        stage.session.change_setting("learning_rate", rate)
        assert stage.session.execute("add_to_queue") == ""


def test_queued_runs_train_one_after_another(stage: Any) -> None:
    queue_rates(stage, 0.1, 0.2, 0.3)
    session = stage.session
    assert stage.worker.job.config["learning_rate"] == 0.1, "nothing trained: it starts at once"
    assert rates(session.queue) == [0.2, 0.3]
    for rate in (0.2, 0.3):
        stage.ended()
        assert stage.worker.job.config["learning_rate"] == rate
        assert session.train.busy
    stage.ended()
    assert not session.train.busy
    assert (rates(session.queue), (session.runs_folder / NAME).exists()) == ([], False)


def test_a_failed_or_cancelled_run_does_not_stop_the_queue(stage: Any) -> None:
    queue_rates(stage, 0.1, 0.2, 0.3)
    stage.tell("failed", message="train: no", error="E", file="", line=0, details="", step=0, folder="f")
    stage.worker.end(clean=False)
    stage.session.pump()
    assert stage.worker.job.config["learning_rate"] == 0.2
    stage.session.execute("cancel")
    stage.tell("cancelled", step=0)
    stage.worker.end()
    stage.session.pump()
    assert stage.worker.job.config["learning_rate"] == 0.3


def test_the_order_can_be_changed_and_entries_taken_out(stage: Any) -> None:
    queue_rates(stage, 0.1, 0.2, 0.3, 0.4)
    queue = stage.session.queue
    last = queue.waiting[-1].number
    assert queue.move([last], -1) == ""
    assert rates(queue) == [0.2, 0.4, 0.3]
    queue.move([last], -5)
    assert rates(queue) == [0.4, 0.2, 0.3]
    queue.remove([queue.waiting[1].number])
    assert rates(queue) == [0.4, 0.3]


def test_each_change_of_the_queue_is_undone_in_what_waits_then(stage: Any) -> None:
    queue_rates(stage, 0.1, 0.2, 0.3, 0.4)
    session, queue = stage.session, stage.session.queue
    queue.place([queue.waiting[2].number], queue.waiting[0].number)
    assert rates(queue) == [0.4, 0.2, 0.3]
    queue.remove([queue.waiting[1].number, queue.waiting[2].number])
    stage.ended()
    assert (rates(queue), stage.worker.job.config["learning_rate"]) == ([], 0.4)
    session.execute("undo")
    assert (rates(queue), session.undo_stack.undoable) == ([0.2, 0.3], "Move in queue")
    session.execute("undo")
    assert rates(queue) == [0.2, 0.3], "what has begun stays away"
    session.execute("redo")
    session.execute("redo")
    assert rates(queue) == []


def test_a_queued_run_is_taken_out_by_undo_until_it_begins(stage: Any) -> None:
    queue_rates(stage, 0.1)
    assert "queue" not in stage.session.undo_stack.undoable.lower(), "it began at once"
    queue_rates(stage, 0.2)
    assert stage.session.undo_stack.undoable == "Queue run"
    stage.session.execute("undo")
    assert rates(stage.session.queue) == []
    stage.session.execute("redo")
    assert rates(stage.session.queue) == [0.2]
    stage.ended()
    assert stage.session.undo_stack.undoable != "Queue run"


def test_the_trials_of_a_search_keep_their_order(stage: Any) -> None:
    queue, settings = stage.session.queue, RunSettings()
    queue.hold()
    queue.add([settings] * 3, [f"sweep-001/{NEXT_TRIAL}"] * 3)
    queue.add([RunSettings(epochs=9)])
    assert "keep their order" in queue.place([1], 3)
    assert [each.number for each in queue.waiting] == [1, 2, 3, 4]
    assert queue.place([3, 4], 2) == ""
    assert [each.number for each in queue.waiting] == [1, 2, 4, 3]


def test_a_found_queue_waits_for_a_command(stage: Any) -> None:
    queue_rates(stage, 0.1, 0.2)
    stage.session.interrupt()
    assert stage.session.queue.held
    stage.ended("stopped", reason="interrupted")
    assert not stage.session.train.busy, "who stops the training to close wants no other one"
    other = Session(stage.session.tasks.make_worker, stage.session.runs_folder)
    other.queue.look()
    assert (rates(other.queue), other.queue.held) == ([0.2], True)
    workers = len(stage.workers)
    assert other.execute("start_queue") == ""
    assert len(stage.workers) == workers + 1
    stage.session.queue.look()
    assert rates(stage.session.queue) == [], "the first window sees what the second has taken"
    stage.session.queue.release()
    assert len(stage.workers) == workers + 1
    other.close(0.0)


def test_a_run_that_cannot_start_pauses_the_queue_and_stays_in_it(stage: Any, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("class Net: pass\n")
    queue = stage.session.queue
    assert queue.add([RunSettings(model=f"{tmp_path / 'net.py'}:Net"), RunSettings()]) == ""
    assert stage.workers == []
    assert "not agreed" in queue.why
    assert "not agreed" in stage.problems[0].message
    assert len(queue.waiting) == 2
    stage.session.agree(read_code(tmp_path / "net.py"))
    queue.release()
    assert stage.worker.job.config["model"].endswith("net.py:Net")


def test_settings_that_no_training_takes_are_not_queued(stage: Any) -> None:
    stage.session.change_setting("epochs", 0)
    assert "Epochs" in stage.session.execute("add_to_queue")
    assert stage.session.queue.waiting == []


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"waiting": [{"number": 0, "settings": {}}]}',
        '{"version": 9}',
        '{"waiting": [{"number": 1, "settings": {"epochs": "many"}}]}',
        '{"waiting": [{"number": 1, "settings": {}, "folder": "../../elsewhere/trial-001"}]}',
    ],
)
def test_a_damaged_queue_is_reported_once_and_not_written_over(stage: Any, text: str) -> None:
    folder = stage.session.runs_folder
    folder.mkdir(parents=True)
    (folder / NAME).write_text(text)
    stage.session.queue.look()
    stage.session.queue.look()
    assert len(stage.problems) == 1
    assert NAME in stage.session.queue.add([RunSettings()])
    assert (folder / NAME).read_text() == text


def test_a_window_that_writes_is_waited_for_not_written_over(
    stage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from resources.locks import Lock, take

    monkeypatch.setattr("studio.session.runs.run_queue._WRITER_WAITS", 0.0)
    stage.session.runs_folder.mkdir(parents=True)
    lock = take(stage.session.runs_folder / LOCK)
    assert isinstance(lock, Lock)
    try:
        assert "another window" in stage.session.queue.add([RunSettings()])
    finally:
        lock.release()


def test_a_run_of_the_queue_leaves_alone_who_looks_at_another(stage: Any, tmp_path: Path) -> None:
    queue_rates(stage, 0.1, 0.2, 0.3)
    first = stage.session.selected_run
    Path(first).mkdir(parents=True)  # else the next one gets its name
    stage.ended()
    assert stage.session.selected_run == stage.session.train.folder != first, "who follows, follows on"
    stage.session.select_run(str(tmp_path))
    stage.ended()
    assert stage.session.selected_run == str(tmp_path)


def test_waiting_runs_move_with_a_project_that_is_saved(stage: Any, tmp_path: Path) -> None:
    session = stage.session
    before = session.runs_folder
    make_run(before / "lenet-static-001")
    session.refresh_runs()
    session.queue.look()
    session.queue.hold()
    queue_rates(stage, 0.1, 0.2)
    session.queue.look()
    session.save_project(tmp_path / "mine")
    assert session.runs_folder != before
    session.queue.look()
    assert (rates(session.queue), session.queue.held) == ([0.1, 0.2], True)
    assert (session.runs_folder / NAME).is_file()
    assert not (before / NAME).exists()


# ----- sweeps ---------------------------------------------------------------------------------------------


def test_the_trials_of_a_sweep_are_queued_and_their_results_noted(stage: Any) -> None:
    session = stage.session
    sweep = sweep_of_words(session.train.settings, ["lr=0.1,0.2", "epochs=1"], 0)
    queue_sweep(session.queue, session.files, sweep, pytest.fail)
    folder = session.runs_folder / "sweep-001"
    assert stage.worker.job.config["out"] == str(folder / "trial-001")
    assert [each.folder for each in session.queue.waiting] == ["sweep-001/trial-002"]
    make_run(folder / "trial-001", steps=10, accuracy=0.8, learning_rate=0.1, epochs=1)
    stage.ended()
    first, second = read_sweep(folder).trials
    assert (first.state, first.measured[0].accuracy, second.state) == ("done", 0.8, "waiting")
    assert stage.worker.job.config["out"] == str(folder / "trial-002")
    assert stage.worker.job.config["learning_rate"] == 0.2
    session.refresh_runs()
    assert session.runs[0].choices == "lr=0.1, epochs=1"


def test_a_sweep_on_a_slow_disk_is_queued_once_it_is_written(stage: Any, monkeypatch: Any) -> None:
    session, goes_on = stage.session, threading.Event()

    def slow(folder: Path, sweep: Sweep) -> None:
        assert goes_on.wait(20)
        write_sweep(folder, sweep)

    monkeypatch.setattr("studio.session.sweep.queued.write_sweep", slow)
    sweep = sweep_of_words(session.train.settings, ["lr=0.1,0.2"], 0)
    session.files.begin()
    try:
        queue_sweep(session.queue, session.files, sweep, pytest.fail)
        assert (session.files.writing.working, session.queue.waiting) == (True, [])
        goes_on.set()
        assert session.files.writing.wait(20)
        assert [each.folder for each in session.queue.waiting] == ["sweep-001/trial-002"]
        assert read_sweep(session.runs_folder / "sweep-001").trials[0].state == "waiting"
    finally:
        goes_on.set()
        session.files.close(20)


def test_a_sweep_that_can_not_be_written_is_refused(stage: Any) -> None:
    session = stage.session
    refused: list[str] = []
    sweep = sweep_of_words(session.train.settings, ["lr=0.1,0.2"], 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("studio.session.sweep.queued.write_sweep", no_space)
        queue_sweep(session.queue, session.files, sweep, refused.append)
    assert (refused, session.queue.waiting) == (["No space left on device"], [])


def no_space(folder: Path, sweep: Sweep) -> None:
    raise OSError("No space left on device")


def listed(session: Session) -> list[tuple[str, str]]:
    return [(task.title.format(task.subject), task.message) for task in session.tasks.shown]


def queue_three_rates(session: Session) -> None:
    sweep = sweep_of_words(session.train.settings, ["lr=0.1,0.2,0.3"], 0)
    queue_sweep(session.queue, session.files, sweep, pytest.fail)


def test_a_sweep_is_one_task_with_its_progress_until_the_last_trial_ends(stage: Any) -> None:
    session = stage.session
    queue_three_rates(session)
    (sweep,) = (task for task in session.tasks.shown if task.subject == "sweep-001")
    seen = []
    for number in (1, 2, 3):
        make_run(session.runs_folder / "sweep-001" / f"trial-00{number}", steps=10)
        seen.append((sweep.message, sweep.progress, len(session.tasks.shown)))
        stage.ended()
    assert seen == [(f"{done} of 3 trials", done / 3, 2) for done in (0, 1, 2)]
    assert (listed(session), sweep.state) == ([], "done")


def test_a_held_queue_lists_no_sweep_and_a_released_one_counts_earlier_trials(stage: Any) -> None:
    session = stage.session
    queue_three_rates(session)
    make_run(session.runs_folder / "sweep-001" / "trial-001", steps=10)
    session.queue.hold()
    assert ("Running sweep sweep-001", "0 of 3 trials") in listed(session), "a trial trains"
    stage.ended()
    assert listed(session) == []
    session.queue.release()
    assert ("Running sweep sweep-001", "1 of 3 trials") in listed(session)


def test_cancelling_a_sweep_empties_the_queue_and_stops_its_trial(stage: Any) -> None:
    session = stage.session
    queue_three_rates(session)
    stage.started()
    queue_rates(stage, 0.5)
    (sweep,) = (task for task in session.tasks.shown if task.subject == "sweep-001")
    sweep.cancel()
    assert rates(session.queue) == [0.5]
    assert stage.worker.commands == ["stop_early"]
    stage.ended()
    assert sweep.state == "done"
    assert stage.worker.job.config["learning_rate"] == 0.5


def test_words_that_no_training_takes_are_refused() -> None:
    with pytest.raises(ValueError, match="no such"):
        sweep_of_words(RunSettings(), ["speed=1,2"], 0)


def test_the_code_of_a_run_that_waits_is_read_in_a_thread(
    stage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, threads = stage.session, list[int]()
    needs_agreement = session.needs_agreement

    def read(settings: RunSettings) -> Any:
        threads.append(threading.get_ident())
        return needs_agreement(settings)

    monkeypatch.setattr(session, "needs_agreement", read)
    file = tmp_path / "net.py"
    file.write_text("class Net: ...\n")
    session.files.begin()
    assert session.queue.add([RunSettings(model=f"{file}:Net")]) == ""
    assert session.wait_until(lambda: session.queue.held, 20)
    assert session.queue.why.startswith(f"{file}: this file is code that was not agreed to yet")
    assert len(threads) == 1
    assert threading.get_ident() not in threads
