"""Captions of saved images: in the language of the window where a font can write it, else in English."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFont

from resources.words import use_language
from studio.session.checkpoints import captions
from studio.session.checkpoints.animation import caption_of, read_checkpoints, write_strip
from studio.session.checkpoints.animation_job import WriteAnimation
from studio.session.checkpoints.captions import Captions, chinese_face
from studio.session.checkpoints.frames import frame_image
from studio.session.runs.run_history import read_history
from studio.session.session import Session
from tests.studio.session.checkpoints.stored_run import write_run


@pytest.fixture
def with_font(monkeypatch: pytest.MonkeyPatch) -> None:
    """A font that is said to have Chinese characters."""
    monkeypatch.setattr(captions, "chinese_face", lambda file: ImageFont.load_default(captions.TEXT))


@pytest.fixture
def without_font(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(captions, "FILES", ("absent.ttf",))


@pytest.mark.usefixtures("with_font")
def test_captions_are_in_the_language(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    found, history = read_checkpoints(run).checkpoints, read_history(run)
    words = caption_of(found[1], history, "run", tr=Captions("zh_CN").tr)
    assert words == "run · 第 20 步 · 第 2 轮 · 75.00 %，第 2 轮之后"
    assert caption_of(found[1], history, "", short=True) == "step 20 · 75.00 %"


@pytest.mark.usefixtures("without_font")
def test_without_a_font_captions_are_english() -> None:
    found = Captions("zh_CN")
    assert found.tr("step {0}") == "step {0}"
    assert found.written("步 a") == "? a"
    frame_image("步", [("步", np.zeros((20, 20, 3), np.uint8))], captions=found)


@pytest.mark.usefixtures("with_font")
@pytest.mark.parametrize("language", ["en", "xx", "../zh_CN"])
def test_an_unknown_language_is_english(language: str) -> None:
    assert Captions(language).tr("step {0}") == "step {0}"


@pytest.mark.usefixtures("with_font")
def test_a_chinese_name_of_a_run_is_written_in_an_english_window() -> None:
    found = Captions()
    assert found.written("步") == "步"
    assert found.written("é") == "é"


def test_files_that_are_no_fonts_are_passed_over(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.ttf"
    damaged.write_bytes(b"not a font" * 100)
    assert chinese_face(str(damaged)) is None
    assert chinese_face(str(tmp_path / "absent.ttf")) is None


@pytest.mark.usefixtures("with_font")
def test_the_language_changes_the_image_not_its_size(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    found, history = read_checkpoints(run).checkpoints, read_history(run)
    for name in ("en", "zh_CN"):
        write_strip(tmp_path / f"{name}.png", found, history, language=name)
    with Image.open(tmp_path / "en.png") as one, Image.open(tmp_path / "zh_CN.png") as other:
        assert one.size == other.size
        assert one.tobytes() != other.tobytes()


def test_the_window_writes_in_its_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = write_run(tmp_path / "run")
    started: list[object] = []
    session = Session(runs_folder=tmp_path)
    session.checkpoints.show(str(run))
    monkeypatch.setattr(session.checkpoints.animation, "start", started.append)
    try:
        use_language("zh_CN")
        session.checkpoints.save(tmp_path / "a.gif", 5.0)
    finally:
        use_language("en")
        session.close()
    (job,) = started
    assert isinstance(job, WriteAnimation)
    assert job.language == "zh_CN"
