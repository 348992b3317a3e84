"""Mistakes of a run: cells and hardest samples, worked out again from the data and the weights."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import DataError
from engine.training import TrainingConfig, TrainingRun
from engine.training.corrections import (
    Correction,
    load_run_data,
    read_corrections,
    sample_digest,
    write_corrections,
)
from engine.training.data import load_data
from studio.session.data.corrections import ProjectCorrections
from studio.session.runs.run_history import read_history
from studio.session.session import Session
from studio.session.train import mistakes
from studio.session.train.mistakes import NO_IMAGES, PAGE
from studio.session.train.mistakes_job import ReadMistakes
from studio.session.train.number_errors import WrongNumber
from studio.session.work.job import Inbox, perform
from studio.session.work.worker import ThreadWorker


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, np.ndarray]:
    """A run of the built-in digits, and the scores of its last network on each test image."""
    out = tmp_path_factory.mktemp("runs") / "linear-static-001"
    config = TrainingConfig("digits", model="linear", batch_size=100, epochs=2, samples=500, out=str(out))
    training = TrainingRun(config)
    training.run()
    state = {name: value.numpy() for name, value in training.network.state_dict().items()}
    weight = next(value for value in state.values() if value.shape == (784, 10))
    bias = next(value for value in state.values() if value.shape == (10,))
    test = load_data("digits").test
    images = np.stack([test[place][0].reshape(-1) for place in range(len(test))]).astype(np.float64)
    return out, images @ weight + bias


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    made = Session(ThreadWorker, tmp_path / "project" / "runs")
    yield made
    made.close()


def shown(session: Session, folder: Path) -> Any:
    history = read_history(folder)
    session.mistakes.show(str(folder), "digits", history.tables, history.classes)
    return session.mistakes.view


def wait(session: Session, condition: Any) -> None:
    assert session.wait_until(condition, 60)


def test_a_run_from_before_shows_its_mistakes(run: tuple[Path, np.ndarray], session: Session) -> None:
    folder, scores = run
    view = shown(session, folder)
    test = load_data("digits").test
    labels = np.array([int(test[place][1][0]) for place in range(len(scores))])
    answers = scores.argmax(axis=1)
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares = odds / odds.sum(axis=1, keepdims=True)
    assert [table.epoch for table in view.tables] == [1, 2]
    wait(session, lambda: bool(view.hardest))
    worst = np.argsort(shares[np.arange(len(labels)), labels], kind="stable")[:40]
    assert [each.index for each in view.hardest] == worst.tolist()
    for each in view.hardest[:5]:
        assert np.array_equal(each.image, np.rint(test[each.index][0][0] * 255).astype(np.uint8))
        assert each.probabilities == pytest.approx(tuple(shares[each.index]), abs=2e-3)
    counts = view.table.counts.astype(int)
    np.fill_diagonal(counts, 0)
    true, answer = np.unravel_index(counts.argmax(), counts.shape)
    session.mistakes.open_cell(int(true), int(answer))
    wait(session, lambda: not view.loading)
    expected = np.flatnonzero((labels == true) & (answers == answer))
    assert view.message == ""
    assert view.total == len(expected) == counts[true, answer]
    by_truth = expected[np.argsort(shares[expected, true])]
    assert [each.index for each in view.samples] == by_truth.tolist()[: len(view.samples)]
    for each in view.samples:
        assert (each.label, each.answer) == (labels[each.index], answers[each.index])
        assert each.of_answer == pytest.approx(shares[each.index, answer], rel=1e-3)
        assert np.array_equal(each.image, np.rint(test[each.index][0][0] * 255).astype(np.uint8))
        assert each.digest == sample_digest(test.rows.read(np.array([each.index]))[0])


def test_pages_of_a_large_cell(run: tuple[Path, np.ndarray], session: Session) -> None:
    folder, _ = run
    view = shown(session, folder)
    label = int(view.table.counts.diagonal().argmax())
    session.mistakes.open_cell(label, label)
    wait(session, lambda: not view.loading)
    first = [each.index for each in view.samples]
    assert len(first) == PAGE
    assert view.pages == -(-int(view.table.counts[label, label]) // PAGE)
    session.mistakes.turn_page(-1)
    assert view.page == 0
    session.mistakes.turn_page(1)
    wait(session, lambda: not view.loading)
    assert view.page == 1
    assert not {each.index for each in view.samples} & set(first)


def test_a_run_of_an_earlier_version_says_what_it_can_not_show(
    run: tuple[Path, np.ndarray], session: Session, tmp_path: Path
) -> None:
    folder = tmp_path / "old"
    folder.mkdir()
    (folder / "journal.jsonl").write_bytes((run[0] / "journal.jsonl").read_bytes())
    view = shown(session, folder)
    # The hardest samples are named by the journal, so their images are read from the data.
    wait(session, lambda: bool(view.hardest) and view.hardest[0].image is not None)
    assert len(view.hardest) == 40
    true, answer = np.unravel_index(view.table.counts.argmax(), view.table.counts.shape)
    session.mistakes.open_cell(int(true), int(answer))
    wait(session, lambda: not view.loading)
    assert (view.samples, view.message) == ([], NO_IMAGES)


def test_other_data_is_noticed(run: tuple[Path, np.ndarray], tmp_path: Path) -> None:
    test = load_data("digits").test
    label = int(test[3][1][0])
    events: list[Any] = []
    assert perform(ReadMistakes(str(run[0]), (3,), (label,)), events.append, Inbox())
    assert events[-1]["digests"] == [sample_digest(test.rows.read(np.array([3]))[0])]
    with pytest.raises(DataError, match=f"image 3 was of class {label + 1}, and there is class {label} now"):
        ReadMistakes(str(run[0]), (3,), (label + 1,)).run(events.append, Inbox())
    with pytest.raises(DataError, match=r"image 99999 .* there is nothing"):
        ReadMistakes(str(run[0]), (99999,), (0,)).run(events.append, Inbox())


def test_corrections_are_kept_undone_and_used(run: tuple[Path, np.ndarray], session: Session) -> None:
    view = shown(session, run[0])
    wait(session, lambda: bool(view.hardest))
    assert session.blocked("train_corrected") == "Nothing is corrected yet."
    session.mistakes.open_hardest(0)
    wait(session, lambda: not view.loading)
    one, other = view.samples[:2]
    session.mistakes.relabel(one, (one.label + 1) % 10)
    session.mistakes.drop(other)
    session.mistakes.relabel(one, one.answer)  # another word about the same image replaces the first
    path = session.corrections.path
    assert path == session.project_folder / "data" / "corrections.json"
    stored, _ = read_corrections(path)
    assert [(each.sha256, each.action, each.label, each.was) for each in stored] == [
        (other.digest, "drop", -1, other.label),
        (one.digest, "relabel", one.answer, one.label),
    ]
    session.mistakes.take_back(stored[0])
    assert [each.sha256 for each in read_corrections(path)[0]] == [one.digest]
    assert view.correction_of(one) == stored[1]
    assert session.use_corrections(str(run[0])) == ""
    settings = session.train.settings
    assert (settings.corrections, settings.model, settings.samples) == (str(path), "linear", 500)


def test_two_windows_lose_no_correction(tmp_path: Path) -> None:
    file = ProjectCorrections(tmp_path / "data" / "corrections.json")
    digests = [f"{number:064x}" for number in range(24)]

    def add(mine: list[str]) -> None:
        for digest in mine:
            file.add(Correction("digits", digest, "drop", -1, 0))

    threads = [threading.Thread(target=add, args=(digests[part::3],)) for part in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(each.sha256 for each in file.read()) == digests


def test_corrections_that_were_read_before_a_change_do_not_replace_it(
    run: tuple[Path, np.ndarray], session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = shown(session, run[0])
    session.mistakes.open_cell(0, 0)
    wait(session, lambda: not view.loading)
    late: list[Any] = []
    monkeypatch.setattr(session.files.reading, "do", lambda work, then, key: late.append((work(), then)))
    session.mistakes.read_corrections()
    session.mistakes.drop(view.samples[0])
    dropped = [(each.sha256, each.action) for each in view.corrections]
    assert dropped == [(view.samples[0].digest, "drop")]
    ((found, take),) = late
    take(found)
    assert [(each.sha256, each.action) for each in view.corrections] == dropped


def test_a_damaged_file_of_corrections_is_reported_and_left(session: Session) -> None:
    outcome: list[Any] = []
    session.problem.connect(outcome.append)
    path = session.corrections.path
    write_corrections(path, [])
    path.write_text(json.dumps({"format": "something else"}))
    session.mistakes.take_back(Correction("digits", "0" * 64, "drop", -1, 0))
    assert "no file of corrections" in outcome[-1].message
    assert json.loads(path.read_text()) == {"format": "something else"}


def test_a_corrected_number_is_trained_on(session: Session, tmp_path: Path) -> None:
    drawn = np.random.default_rng(0).uniform(0, 9, 40)
    lines = [
        f"{value:.3f},{'5000' if place == 37 else f'{3 * value:.3f}'}" for place, value in enumerate(drawn)
    ]
    (tmp_path / "rents.csv").write_text("\n".join(["size,rent", *lines]) + "\n")
    settings = {"data": str(tmp_path / "rents.csv"), "model": "linear", "label_name": "rent"}
    config = TrainingConfig(**settings, split="order", epochs=1, task="numbers", out=str(tmp_path / "run"))
    TrainingRun(config).run()
    splits = load_run_data(config).splits
    in_test = splits.test.chosen.tolist().index(37)
    target = tuple(splits.test.targets[in_test].tolist())
    events: list[Any] = []
    job = ReadMistakes(str(tmp_path / "run"), (in_test,), (0,), (target,))
    perform(job, events.append, Inbox())
    with pytest.raises(DataError, match="other numbers are to be predicted"):
        replace(job, targets=((target[0] * 1.1,),)).run(events.append, Inbox())
    session.mistakes.show(str(tmp_path / "run"), settings["data"], (), ())
    sample = WrongNumber(in_test, target, (0.0,), -target[0], None, events[-1]["digests"][0], 37)
    session.mistakes.correct_numbers(sample, (21.25,))
    later: list[Any] = []
    TrainingRun(replace(config, out="", corrections=str(session.corrections.path)), [later.append]).run()
    assert later[0]["corrections"]["relabelled"] == {"train": 0, "test": 1}
    worst = next(each for each in later if each["event"] == "epoch")["worst"]
    assert max(each["target"][0] for each in worst) < 30


def test_the_tables_of_a_long_training_stay_bounded_and_the_one_looked_at_stays(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mistakes, "MOST_TABLES", 8)
    session.mistakes.show("run", "digits", [], ("0", "1"))
    view, counts = session.mistakes.view, [[3, 1], [0, 4]]

    def end_epoch(epoch: int) -> None:
        event = {"event": "epoch", "epoch": epoch, "step": 10 * epoch, "confusion": counts}
        session.mistakes.add_epoch("run", event)

    for epoch in range(1, 7):
        end_epoch(epoch)
    session.mistakes.choose_table(3)
    for epoch in range(7, 100):
        end_epoch(epoch)
        assert view.table is not None
        assert (view.table.epoch, len(view.tables) <= 8) == (4, True)
    epochs = [table.epoch for table in view.tables]
    assert (epochs[-4:], sorted(epochs)) == ([96, 97, 98, 99], epochs)
    session.mistakes.choose_table(len(epochs) - 1)
    end_epoch(100)
    assert view.table.epoch == 100
