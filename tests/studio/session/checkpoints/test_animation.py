"""Checkpoints as an animation and as one image."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.core.errors import ArgumentError, DataError, SaveError
from resources.color_map import ABOVE, BELOW, color_parts
from studio.session.checkpoints.animation import (
    caption_of,
    chosen_layer,
    read_checkpoints,
    spread,
    write_animation,
    write_strip,
)
from studio.session.checkpoints.animation_job import WriteAnimation
from studio.session.checkpoints.frames import bars_image, colored, matrix_image, planes_image
from studio.session.checkpoints.weight_view import Range
from studio.session.runs.run_history import read_history
from tests.studio.session.checkpoints.stored_run import write_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run")


def test_a_gif_has_a_frame_for_each_checkpoint(run: Path, tmp_path: Path) -> None:
    found, history = read_checkpoints(run), read_history(run)
    parts: list[tuple[int, int]] = []
    out = tmp_path / "a.gif"
    count = write_animation(
        out, found.checkpoints, history, title="run", speed=4.0, progress=lambda *of: parts.append(of)
    )
    assert count == 3
    assert parts == [(n, 6) for n in range(6)]
    with Image.open(out) as image:
        assert image.n_frames == 3  # type: ignore[attr-defined]
        durations, frames = [], []
        for number in range(3):
            image.seek(number)
            durations.append(image.info["duration"])
            frames.append(np.asarray(image.convert("RGB")))
    assert durations == [250, 250, 2000]
    assert not np.array_equal(frames[0], frames[1])


def test_a_strip_has_a_column_for_each_checkpoint(run: Path, tmp_path: Path) -> None:
    found, history = read_checkpoints(run), read_history(run)
    assert write_strip(tmp_path / "a.png", found.checkpoints, history) == 3
    with Image.open(tmp_path / "a.png") as image:
        wide, high = image.size
    assert write_strip(tmp_path / "b.png", found.checkpoints[:1], history, "conv.bias") == 1
    with Image.open(tmp_path / "b.png") as image:
        assert image.size == (wide // 3, high)


def test_a_file_that_can_not_be_written_leaves_the_old_one(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, history = read_checkpoints(run), read_history(run)
    out = tmp_path / "a.gif"
    out.write_bytes(b"before")

    def stop(done: int, total: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_animation(out, found.checkpoints, history, progress=stop)
    assert out.read_bytes() == b"before"
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["a.gif"]
    with pytest.raises(SaveError, match="could not be saved"):
        write_animation(tmp_path / "no" / "a.gif", found.checkpoints, history)


def test_an_unknown_layer_names_those_that_there_are(run: Path) -> None:
    found = read_checkpoints(run).checkpoints
    assert chosen_layer(found, "") == "conv.weight"
    assert chosen_layer(found, "fc.weight") == "fc.weight"
    with pytest.raises(ArgumentError, match=r"no layer 'x'; choose one of conv\.weight, conv\.bias, fc\."):
        chosen_layer(found, "x")


def test_of_many_checkpoints_some_are_taken_evenly(run: Path) -> None:
    found = list(read_checkpoints(run).checkpoints) * 5
    taken = spread(found, 4)
    assert [found.index(each) for each in taken] == [0, 2, 0, 2]  # of places 0, 5, 9, 14
    assert taken[0] is found[0]
    assert taken[-1] is found[-1]
    assert spread(found, 15) == found


def test_a_caption_says_when_it_was_measured(run: Path) -> None:
    found, history = read_checkpoints(run).checkpoints, read_history(run)
    assert caption_of(found[1], history, "run") == "run · step 20 · epoch 2 · 75.00 % after epoch 2"
    assert caption_of(found[1], history, "", short=True) == "step 20 · 75.00 %"


def test_damaged_checkpoints_are_named(run: Path) -> None:
    (run / "checkpoints" / "step-00000010.h5").write_bytes(b"x")
    found = read_checkpoints(run)
    assert [each.step for each in found.checkpoints] == [20, 30]
    assert [each.name for each in found.left_out] == ["step-00000010.h5"]


def test_colors_are_those_of_the_window() -> None:
    values = np.array([[-2, 0, 2, np.nan]], np.float32)
    found = colored(values, Range(-2, 1))
    assert tuple(found[0, 0]) == color_parts(BELOW)
    assert tuple(found[0, 1]) == (0, 0, 0)
    assert tuple(found[0, 2]) == color_parts(ABOVE)
    assert tuple(found[0, 3]) == (192, 57, 43)


@pytest.mark.parametrize("shape", [(1, 1, 1), (6, 5, 5), (64, 3, 3), (1, 256, 3), (1, 2, 256), (7, 1, 9)])
def test_planes_fill_a_square(shape: tuple[int, ...]) -> None:
    image = planes_image(np.ones(shape, np.float32), Range(0, 1), 60)
    assert image.shape == (60, 60, 3)
    assert (image == color_parts(ABOVE)).all(axis=2).any()


def test_bars_and_cells_are_drawn() -> None:
    bars = bars_image((0, 2, 1), 30)
    assert (bars[:, :9] == 255).all()
    assert (bars[0, 10] != 255).any()
    assert bars_image((), 10).min() == 255
    cells = matrix_image(np.array([[4, 0], [1, 3]], np.uint32), 20)
    assert tuple(cells[4, 4]) == (59, 91, 219)
    assert cells[4, 14].min() > cells[14, 4].min() > cells[14, 14].min()
    assert matrix_image(np.zeros((2, 2), np.uint32), 8).min() > 240


def test_the_job_reports_what_it_wrote(run: Path, tmp_path: Path) -> None:
    events: list[dict[str, object]] = []
    out = tmp_path / "a.gif"
    inbox: list[object] = []
    WriteAnimation(str(run), str(out), "fc.weight").run(events.append, inbox)  # type: ignore[arg-type]
    assert events[-1] | {"time": 0} == {
        "event": "animation_written", "time": 0, "out": str(out), "shown": 3, "total": 3,
    }  # fmt: skip
    assert [each["done"] for each in events[:-1]] == list(range(6))
    WriteAnimation(str(run), str(tmp_path / "a.png")).run(events.append, inbox)  # type: ignore[arg-type]
    assert (tmp_path / "a.png").is_file()
    empty = write_run(tmp_path / "empty", steps=())
    with pytest.raises(DataError, match="no checkpoint can be read"):
        WriteAnimation(str(empty), str(out)).run(events.append, inbox)  # type: ignore[arg-type]
