"""Labelling of a folder of images: labels on the disk at once, undo, pages, filters, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.training.sources.images.labels import UnlabelledImages, stored_labels
from engine.training.sources.opening import open_source
from studio.session.data.labelled_folder import PAGE, UNLABELLED, LabelledFolder
from studio.session.data.thumbnails import ThumbnailReader
from studio.session.session import Session
from studio.session.work.worker import ThreadWorker
from tests.engine.training.sources.images.test_labels import flat, labels
from tests.studio.held_thread import HeldThread

HEAD = "file_name,label\n"


@pytest.fixture
def session(tmp_path):
    made = Session(ThreadWorker, runs_folder=tmp_path / "runs")
    yield made
    made.close()


def opened(session: Session, folder: Path, state: str = "labelling") -> LabelledFolder | None:
    session.choose_data(str(folder))
    session.dataset_browser.look(session.train.settings, again=True)
    assert session.wait_until(lambda: session.data.state in (state, "failed"), 30)
    assert session.data.state == state, session.data.last_problem
    return session.labelling.view.folder


def view(session: Session) -> LabelledFolder:
    assert session.labelling.view.folder is not None
    return session.labelling.view.folder


def test_labels_are_saved_at_once_and_undone(session, tmp_path):
    folder = flat(tmp_path / "own", 4)
    opened(session, folder)
    labelling, file = session.labelling, folder / "labels.csv"
    assert view(session).selected == ("0.png",)
    assert [labelling.add_class(name) for name in ("dark", " bright ")] == ["", ""]
    assert "already" in labelling.add_class("dark")
    assert not file.exists()
    assert "two images in each of two classes" in session.blocked("train_labelled")
    labelling.label("dark")
    labelling.label("bright")
    assert file.read_text() == HEAD + "0.png,dark\n1.png,bright\n"
    labelling.select(["3.png", "2.png"])
    labelling.label("dark")
    assert file.read_text() == HEAD + "0.png,dark\n1.png,bright\n2.png,dark\n3.png,dark\n"
    assert view(session).counts == {"dark": 3, "bright": 1}
    assert session.undo_stack.undo() == "Label 2 images"
    assert file.read_text() == HEAD + "0.png,dark\n1.png,bright\n"
    assert view(session).selected == ("2.png", "3.png")
    session.undo_stack.redo()
    labelling.select(["2.png"])
    labelling.label("bright")
    assert view(session).selected == ("2.png",)  # nothing is left without a label
    assert session.blocked("train_labelled") == ""
    labelling.label("")
    assert file.read_text() == HEAD + "0.png,dark\n1.png,bright\n3.png,dark\n"
    for _ in range(4):
        session.undo_stack.undo()
    assert (view(session).labels, view(session).classes) == ({"0.png": "dark"}, ("dark", "bright"))


def test_the_labelled_folder_is_shown_as_data_and_labelled_further(session, tmp_path):
    folder = flat(tmp_path / "own", 6, labels(5))
    opened(session, folder, "ready")
    assert (session.data.facts.label_file, session.data.facts.unlabelled) == ("labels.csv", 1)
    assert session.execute("label_images") == ""
    assert session.wait_until(lambda: session.data.state == "labelling", 30)
    assert view(session).selected == ("5.png",)
    assert view(session).classes == ("bright", "dark")
    session.labelling.label("dark")
    assert session.execute("finish_labelling") == ""
    assert session.wait_until(lambda: session.data.state == "ready", 30)
    assert (session.data.facts.unlabelled, session.labelling.view.folder) == (0, None)


def test_a_folder_with_too_few_labels_is_labelled_further(session, tmp_path):
    assert opened(session, flat(tmp_path / "own", 6, labels(2))).labels == {
        "0.png": "dark",
        "1.png": "bright",
    }
    (tmp_path / "own" / "labels.csv").write_text("file_name,label\n0.png,a\n0.png,b\n")
    opened(session, tmp_path / "own", "failed")
    problem = session.data.last_problem
    assert "line 3: '0.png' appears in line 2" in f"{problem.where}: {problem.what}"


def test_excluded_images_are_a_setting_and_need_no_label(session, tmp_path):
    opened(session, flat(tmp_path / "own", 3))
    session.labelling.add_class("dark")
    session.labelling.exclude()
    session.dataset_browser.look(session.train.settings)  # as the page does: the labelling stays
    assert session.data.state == "labelling"
    assert session.train.settings.exclude == ("0.png",)
    assert (view(session).total, view(session).selected) == (2, ("1.png",))
    session.labelling.select(["0.png", "1.png"])
    session.labelling.label("dark")
    assert view(session).labels == {"1.png": "dark"}
    session.undo_stack.undo()
    session.undo_stack.undo()
    assert view(session).excluded == frozenset()
    session.undo_stack.redo()
    session.labelling.select(["0.png"])
    session.labelling.exclude()
    assert session.train.settings.exclude == ()


def test_labels_of_another_program_are_kept(session, tmp_path):
    folder = flat(tmp_path / "own", 4)
    opened(session, folder)
    session.labelling.label("dark")
    (folder / "labels.csv").write_text("file_name,label,by\n0.png,dark,me\n3.png,moth,you\n")
    session.labelling.label("bright")
    assert (folder / "labels.csv").read_text() == (
        "file_name,label,by\n0.png,dark,me\n3.png,moth,you\n1.png,bright,\n"
    )
    assert view(session).classes == ("dark", "moth", "bright")


def test_a_renamed_class_is_renamed_in_its_labels(session, tmp_path):
    folder = flat(tmp_path / "own", 4, labels(3))
    session.choose_data(str(folder))
    session.labelling.begin()
    assert session.wait_until(lambda: session.data.state == "labelling", 30)
    labelling = session.labelling
    labelling.filter("class:dark")
    assert "already" in labelling.rename_class("dark", "bright")
    assert labelling.rename_class("dark", " moth ") == ""
    assert (view(session).classes, view(session).filter) == (("bright", "moth"), "class:moth")
    assert (folder / "labels.csv").read_text() == HEAD + "0.png,moth\n1.png,bright\n2.png,moth\n"
    assert session.undo_stack.undo() == "Rename class dark"
    assert (folder / "labels.csv").read_text() == labels(3)
    assert (view(session).classes, view(session).filter) == (("bright", "dark"), "class:dark")
    labelling.add_class("wasp")
    labelling.rename_class("wasp", "ant")  # without images
    assert view(session).classes == ("bright", "dark", "ant")


def test_a_label_that_cannot_be_saved_is_reported_and_not_shown(session, tmp_path):
    folder = flat(tmp_path / "own", 2)
    opened(session, folder)
    problems = []
    session.problem.connect(problems.append)
    (folder / "labels.csv").mkdir()
    session.labelling.label("dark")
    assert problems[0].title == "The labels can't be saved"
    assert view(session).labels == {}
    assert session.undo_stack.undoable.startswith("Change")


def test_labels_show_while_they_are_written_and_are_undone_in_their_order(session, tmp_path):
    folder = flat(tmp_path / "own", 4, labels(1))
    opened(session, folder)
    labelling, file = session.labelling, folder / "labels.csv"
    waiting = HeldThread(session.files.writing)
    labelling.add_class("bright")
    for name in ("bright", "dark"):
        labelling.label(name)
    assert labelling.rename_class("dark", "moth") == ""
    labelling.label("moth")
    shown = {"0.png": "moth", "1.png": "bright", "2.png": "moth", "3.png": "moth"}
    assert (view(session).labels, view(session).saving) == (shown, frozenset(shown))
    assert (view(session).classes, file.read_text()) == (("moth", "bright"), labels(1))
    assert session.undo_stack.undo() == "Label 3.png"
    assert session.undo_stack.undo() == "Rename class dark"
    assert view(session).labels == {"0.png": "dark", "1.png": "bright", "2.png": "dark"}
    session.undo_stack.redo()
    waiting.finish()
    assert file.read_text() == HEAD + "0.png,moth\n1.png,bright\n2.png,moth\n"
    assert (view(session).labels, view(session).saving) == (dict(list(shown.items())[:3]), frozenset())


def test_labels_that_turn_out_not_to_be_saved_show_no_longer_and_can_be_saved_again(session, tmp_path):
    folder = flat(tmp_path / "own", 4, labels(1))
    opened(session, folder)
    labelling, file, problems = session.labelling, folder / "labels.csv", []
    session.problem.connect(problems.append)
    waiting = HeldThread(session.files.writing)
    labelling.label("dark")
    labelling.label("dark")
    labelling.rename_class("dark", "moth")
    file.rename(folder / "before")
    file.mkdir()
    waiting.finish()
    assert [problem.title for problem in problems] == ["The labels can't be saved"]
    assert str(file) in f"{problems[0].where} {problems[0].what}"
    assert (view(session).labels, view(session).classes) == ({"0.png": "dark"}, ("dark",))
    assert session.undo_stack.undoable.startswith("Change")
    file.rmdir()
    (folder / "before").rename(file)
    labelling.select(["1.png"])
    labelling.label("dark")
    assert session.files.writing.wait(20)
    assert (file.read_text(), len(problems)) == (labels(1) + "1.png,dark\n", 1)


def test_a_label_that_another_program_gave_comes_back_with_undo(session, tmp_path):
    folder = flat(tmp_path / "own", 3)
    opened(session, folder)
    (folder / "labels.csv").write_text(HEAD + "0.png,moth\n")
    session.labelling.label("dark")
    session.undo_stack.undo()
    assert (folder / "labels.csv").read_text() == HEAD + "0.png,moth\n"


def test_data_and_trainings_wait_for_labels_that_are_being_written(session, tmp_path, monkeypatch):
    folder = flat(tmp_path / "own", 7, labels(4))
    opened(session, folder, "ready")
    session.labelling.begin()
    assert session.wait_until(lambda: session.data.state == "labelling", 30)
    trained: list[str] = []
    train = lambda *_, **__: trained.append((folder / "labels.csv").read_text())  # noqa: E731
    monkeypatch.setattr(session, "_train", train)
    waiting = HeldThread(session.files.writing)
    for name in ("dark", "bright", "dark"):
        session.labelling.label(name)
    session.labelling.finish()
    session.start()
    assert (session.data.state, session.train.preparing) == ("labelling", True)
    session.labelling.label("")
    waiting.finish()
    assert (folder / "labels.csv").read_text() == labels(6)
    assert session.wait_until(lambda: session.data.state == "ready", 30)
    assert session.data.facts.unlabelled == 1
    assert session.wait_until(lambda: bool(trained), 30)
    assert trained == [labels(6)]


def test_labels_of_a_read_only_folder_are_stored_elsewhere_and_found_again(session, tmp_path, monkeypatch):
    folder = flat(tmp_path / "own", 4)
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != folder)
    opened(session, folder)
    stored = Path(view(session).place)
    assert stored == stored_labels(folder)
    for name in ("dark", "bright", "dark", "bright"):
        session.labelling.label(name)
    assert not (folder / "labels.csv").exists()
    assert stored.read_text() == labels(4)
    source = open_source(str(folder))
    assert (source.classes, source.label_file) == (("bright", "dark"), str(stored))
    with pytest.raises(UnlabelledImages):
        open_source(str(flat(tmp_path / "other" / "own", 2)))
    session.labelling.finish()
    assert session.wait_until(lambda: session.data.facts is not None, 30)
    session.labelling.begin()
    assert session.wait_until(lambda: view(session) is not None, 30)
    assert (view(session).labelled, view(session).place) == (4, str(stored))
    (folder / "labels.csv").write_text(labels(2))  # the folder's own file has precedence
    assert open_source(str(folder)).label_file == "labels.csv"


def test_labels_in_a_folder_that_cannot_be_written_are_refused_before(session, tmp_path, monkeypatch):
    folder = flat(tmp_path / "own", 2)
    (folder / "labels.csv").write_text(labels(1))
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != folder)
    session.choose_data(str(folder))
    session.dataset_browser.look(session.train.settings)
    assert session.wait_until(lambda: session.data.state == "failed", 30)
    assert "read-only" in session.data.last_problem.what
    assert session.labelling.view.folder is None


def test_thumbnails_come_by_name_and_damaged_files_without(session, tmp_path):
    folder = flat(tmp_path / "own", 2)
    (folder / "2.png").write_bytes(b"no image")
    opened(session, folder)
    shown = session.labelling.thumbnails
    assert session.wait_until(lambda: len(shown) == 3, 30)
    assert (shown["1.png"].shape, shown["1.png"][0, 0, 0], shown["2.png"]) == ((8, 8, 3), 200, None)
    reader = ThumbnailReader(folder, sorted(file.name for file in folder.iterdir()))
    reader.ask(["../elsewhere.png", "0.png"])
    assert reader.waiting == ["0.png"]


def test_pages_and_filters_follow_the_next_unlabelled_image():
    files = tuple(f"{number:03}.png" for number in range(150))
    folder = LabelledFolder("own", files, dict.fromkeys(files[:PAGE], "a"), ("a",))
    assert (folder.pages, folder.on_page[-1]) == (3, "059.png")
    assert folder.after(("059.png",)) == "060.png"
    moved = folder.showing("060.png")
    assert (moved.page, moved.selected) == (1, ("060.png",))
    assert folder.after(("149.png",)) == "060.png"
    unlabelled = LabelledFolder("own", files, folder.labels, ("a",), frozenset(files[-1:]), UNLABELLED)
    assert (unlabelled.pages, len(unlabelled.matching), unlabelled.total) == (2, 89, 149)
    of_class = LabelledFolder("own", files, folder.labels, ("a",), filter="class:a")
    assert of_class.matching == files[:PAGE]
    assert of_class.after(("003.png",)) == "004.png"
    full = LabelledFolder("own", files[:1], {"000.png": "a"}, ("a",))
    assert full.after(("000.png",)) == ""
