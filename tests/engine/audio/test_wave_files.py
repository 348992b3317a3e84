"""WAV files: what is beyond the scale, integers, damaged files, data sets that are not on this machine.

What they hold is compared with Paddle's in the recorded calls of ``audio``.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import AbsentError, DTypeError, FormatError, UnsupportedError


def test_loud_samples_are_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "loud.wav"
    for dtype in ("float32", "float64"):
        paddle.audio.save(path, paddle.to_tensor([[1.0, -1.0, 3.0, -3.0, 0.5]], dtype), 100)
        loaded, rate = paddle.audio.load(path, normalize=False)
        assert rate == 100
        assert loaded.numpy().tolist() == [[32767.0, -32768.0, 32767.0, -32768.0, 16384.0]]


def test_integers_of_another_size_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DTypeError, match="floating or int16"):
        paddle.audio.save(tmp_path / "a.wav", paddle.to_tensor([[1, 2]]), 100)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    paddle.audio.save(path, paddle.to_tensor(np.zeros((1, 50), "float32")), 100)
    whole = path.read_bytes()
    with pytest.raises(UnsupportedError, match="only PCM16 WAV"):
        paddle.audio.load(io.BytesIO(b""))
    for length in (8, 30):
        with pytest.raises(UnsupportedError, match="only PCM16 WAV"):
            paddle.audio.load(io.BytesIO(whole[:length]))
    with pytest.raises(FormatError, match="20 bytes for 50 samples"):
        paddle.audio.load(io.BytesIO(whole[: 44 + 20]))


@pytest.mark.parametrize("name", ["ESC50", "TESS"])
def test_an_absent_data_set_says_what_to_get(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("MODEL_STUDIO_DATA", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(AbsentError, match=r"get https://\S+\.zip and unpack it in one of them") as caught:
        getattr(paddle.audio.datasets, name)()
    assert "\n" not in str(caught.value)


def test_a_table_that_leads_out_of_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_STUDIO_DATA", str(tmp_path))
    (tmp_path / "ESC-50-master" / "meta").mkdir(parents=True)
    table = tmp_path / "ESC-50-master" / "meta" / "esc50.csv"
    table.write_text("head\n../../../secret.wav,2,0,dog,True,1,A\n")
    with pytest.raises(FormatError, match="not of the form of ESC-50"):
        paddle.audio.datasets.ESC50()


def test_a_part_that_ends_beyond_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    paddle.audio.save(path, paddle.to_tensor(np.zeros((1, 50), "float32")), 100)
    path.write_bytes(path.read_bytes().replace(b"fmt \x10\0\0\0", b"junk\xff\xff\0\0"))
    with pytest.raises(UnsupportedError, match="only PCM16 WAV files are read: it is empty or cut off"):
        paddle.audio.load(path)
    with pytest.raises(AbsentError, match=r"load: .*absent\.wav: does not exist"):
        paddle.audio.load(tmp_path / "absent.wav")


@pytest.mark.parametrize("fold", ["\u00b2", "\u0663", "9" * 5000])
def test_a_table_whose_numbers_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fold: str) -> None:
    monkeypatch.setenv("MODEL_STUDIO_DATA", str(tmp_path))
    (tmp_path / "ESC-50-master" / "meta").mkdir(parents=True)
    table = tmp_path / "ESC-50-master" / "meta" / "esc50.csv"
    table.write_text(f"head\n1-1.wav,{fold},0,dog,True,1,A\n", encoding="utf-8")
    with pytest.raises(FormatError, match="not of the form of ESC-50"):
        paddle.audio.datasets.ESC50()
