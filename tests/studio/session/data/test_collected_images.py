"""Collected images: each is one file of its class, with its source; corrections move; nothing is
rewritten."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.core.errors import ArgumentError, InUseError, SaveError
from resources.locks import take
from studio.session.data import collected_images as module
from studio.session.data.collected_images import CollectedImages


def drawing(seed: int, shape: tuple[int, ...] = (28, 28)) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


def test_collected_images_are_read_back(tmp_path):
    collected = CollectedImages(tmp_path / "data" / "collected")
    assert collected.count() == 0
    assert collected.collect(drawing(1), 7, "drawn") == 1
    assert collected.collect(drawing(2, (40, 30, 3)), "3", "digits test 17, corrected from 5 \u2192 3") == 2
    three, seven = collected.images()
    assert (three.label, three.source) == ("3", "digits test 17, corrected from 5 \u2192 3")
    assert (seven.label, seven.source) == ("7", "drawn")
    assert np.array_equal(seven.pixels(), drawing(1))
    assert np.array_equal(three.pixels(), drawing(2, (40, 30, 3)))
    assert (collected.folder / "classes.txt").read_text().split() == list("0123456789")


def test_the_same_image_is_kept_once_and_moves_when_it_is_corrected(tmp_path):
    collected = CollectedImages(tmp_path)
    assert collected.collect(drawing(1), 7) == 1
    assert collected.collect(drawing(1), 7) == 1
    assert collected.collect(drawing(1), 1, "corrected") == 1
    assert [(one.label, one.source) for one in collected.images()] == [("1", "corrected")]
    collected.remove(collected.images()[0])
    assert collected.count() == 0


def test_to_collect_leaves_every_other_file_as_it_is(tmp_path):
    collected = CollectedImages(tmp_path)
    collected.collect(drawing(1), 7)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    collected.collect(drawing(2), 7)
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_a_new_name_is_a_new_class_whatever_its_letters(tmp_path):
    collected = CollectedImages(tmp_path, ("T-shirt/top", "Coat"))
    collected.collect(drawing(1), 0)
    collected.collect(drawing(2), "..")
    collected.collect(drawing(3), "100% wool. ")
    assert [one.label for one in collected.images()] == ["..", "100% wool.", "T-shirt/top"]
    assert collected.classes()[:3] == ["T-shirt/top", "Coat", ".."]
    assert {path.parent for path in collected.folder.glob("*/*.png")} == {
        collected.folder / name for name in ("%2E%2E", "100%25 wool%2E", "T-shirt%2Ftop")
    }


@pytest.mark.parametrize(
    ("image", "label"),
    [
        (np.zeros((28, 28)), 1),
        (np.zeros((2, 28, 28), np.uint8), 1),
        (np.zeros((0, 28), np.uint8), 1),
        (np.zeros((28, 28), np.uint8), 10),
        (np.zeros((28, 28), np.uint8), -1),
        (np.zeros((28, 28), np.uint8), "two\nlines"),
        (np.zeros((28, 28), np.uint8), " "),
    ],
)
def test_invalid_images_and_classes_are_refused(tmp_path, image, label):
    with pytest.raises(ArgumentError, match=r"collect|class"):
        CollectedImages(tmp_path).collect(image, label)
    assert not list(tmp_path.rglob("*.png"))


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    collected = CollectedImages(tmp_path)
    collected.collect(drawing(1), 7, "drawn")

    def full(path, writer):
        raise SaveError(f"{path}: could not be saved: no space left")

    monkeypatch.setattr("engine.files.atomic.atomic_write", full)
    with pytest.raises(SaveError, match="no space"):
        collected.collect(drawing(1), 1)
    assert [one.label for one in collected.images()] == ["7"]


def test_another_process_that_collects_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_WAIT", 0.0)
    lock = take(tmp_path / ".lock")
    try:
        with pytest.raises(InUseError, match=f"process {os.getpid()}"):
            CollectedImages(tmp_path).collect(drawing(1), 7)
    finally:
        lock.release()


def test_a_file_that_is_no_image_is_left_out(tmp_path):
    collected = CollectedImages(tmp_path)
    collected.collect(drawing(1), 7)
    (tmp_path / "7" / "note.png").write_text("not an image")
    Image.fromarray(drawing(4)).save(tmp_path / "7" / "own.png")
    assert sorted(one.source for one in collected.images()) == ["", ""]


def test_the_session_collects_next_to_the_project(tmp_path):
    from studio.session.session import Session

    session = Session(runs_folder=tmp_path / "runs")
    assert session.collected.folder == tmp_path / "data" / "collected"
    (tmp_path / "own").mkdir()
    session.save_project(Path(tmp_path / "own" / "p.studio.json"))
    assert session.collected.collect(drawing(1), 7, "drawn") == 1
    assert (tmp_path / "own" / "data" / "collected" / "7").is_dir()
    session.close()
