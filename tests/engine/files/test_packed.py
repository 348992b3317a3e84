"""Packed models: one HDF5 file with the groups program, params and info, compressed or not."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from engine.core.errors import ArgumentError, FormatError
from engine.files.native import compressed
from engine.files.native.image import ImageError, make_image, read_image
from engine.files.native.userblock import NO_SAVE_ID, SIZE, make_user_block
from engine.files.packed import KIND, VERSION, describe_packed, packed_path, read_packed, write_packed
from engine.files.state import write_state

PROGRAM = {"blocks": [{"ops": [], "shape": (1, 2)}]}
INFO = {"inputs": [], "info": {"classes": ["a", "b"], "mean": np.float32(0.5)}}
_random = np.random.default_rng(0)
WEIGHTS = {
    "conv/weight": _random.standard_normal((40, 3, 5, 5)).astype(np.float32),
    "rows": _random.standard_normal((300_001, 2)).astype(np.float64),  # several chunks, the last one shorter
    "integers": _random.integers(-9, 9, 5000).astype(np.int8),
    "masks": np.arange(3000) % 3 == 0,
    "complex": np.full((600, 2), 1 + 2j, np.complex64),
    "empty": np.zeros((0, 4), np.float32),
    "scalar": np.array(2.5),
}


@pytest.mark.parametrize("compress", [False, True])
def test_a_packed_model_reads_back_as_it_was(tmp_path: Path, compress: bool) -> None:
    save_id = write_packed(tmp_path / "m", PROGRAM, WEIGHTS, INFO, compress)
    files = read_packed(tmp_path / "m.h5")
    assert (files.program, files.info, files.save_id, files.own) == (PROGRAM, INFO, save_id, True)
    assert list(files.weights) == list(WEIGHTS)
    for name, array in WEIGHTS.items():
        assert files.weights[name].dtype == array.dtype
        assert np.array_equal(files.weights[name], array)
    assert describe_packed(tmp_path / "m.h5").sizes == {"m.h5": (tmp_path / "m.h5").stat().st_size}
    with h5py.File(tmp_path / "m.h5") as file:
        assert sorted(file) == ["info", "params", "program"]
        assert np.array_equal(file["params/conv%2Fweight"][:], WEIGHTS["conv/weight"])
        assert np.array_equal(file["params/rows"][:], WEIGHTS["rows"])


def test_compression_makes_normal_weights_smaller(tmp_path: Path) -> None:
    weights = {"w": WEIGHTS["conv/weight"]}
    sizes = []
    for compress in (False, True):
        write_packed(tmp_path / "m", {}, weights, {}, compress)
        sizes.append((tmp_path / "m.h5").stat().st_size)
    assert sizes[1] < 0.95 * sizes[0]


def test_a_foreign_packed_model_is_read_by_a_child_first(
    tmp_path: Path, unsign: Callable[[Path], Path]
) -> None:
    write_packed(tmp_path / "m", PROGRAM, WEIGHTS, INFO, compress=True)
    files = read_packed(unsign(tmp_path / "m.h5"))
    assert not files.own
    assert np.array_equal(files.weights["rows"], WEIGHTS["rows"])


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    write_state(tmp_path / "m.h5", {"a": 1})
    with pytest.raises(FormatError, match=r"m\.h5: a Model Studio file of another kind: 'state' where"):
        read_packed(tmp_path / "m.h5")


def test_a_tree_that_compresses_too_well_is_written_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compressed, "MOST_MORE", 0)
    write_packed(tmp_path / "m", {}, {"w": np.zeros(1 << 20, np.uint8)}, {}, compress=True)
    assert (tmp_path / "m.h5").stat().st_size > 1 << 20
    assert not read_packed(tmp_path / "m.h5").weights["w"].any()


def _image(weights: dict[str, np.ndarray]) -> bytearray:
    return bytearray(make_image(KIND, VERSION, {"program": {}, "params": weights, "info": {}}, compress=True))


def test_a_bomb_is_refused_before_it_unpacks(monkeypatch: pytest.MonkeyPatch) -> None:
    image = _image({"w": np.zeros(1 << 20, np.uint8)})
    monkeypatch.setattr(compressed, "MOST_MORE", 0)
    monkeypatch.setattr(compressed, "read", lambda *args: pytest.fail("it unpacked"))
    with pytest.raises(ImageError, match="claim more than the"):
        read_image(bytes(image))


def test_a_chunk_that_unpacks_to_another_length_is_refused() -> None:
    zeros = np.zeros(4096, np.uint8)
    image = _image({"w": zeros})
    chunk = zlib.compress(zeros.tobytes(), compressed.LEVEL)
    start = image.index(chunk)
    for other in (zlib.compress(bytes(5000)), zlib.compress(bytes(4000)), b"\0" * len(chunk)):
        damaged = bytearray(image)
        damaged[start : start + len(chunk)] = other[: len(chunk)].ljust(len(chunk), b"\0")
        with pytest.raises(ImageError, match="a chunk that"):
            read_image(bytes(damaged))


def test_params_must_be_arrays_by_name(tmp_path: Path) -> None:
    payload = make_image(KIND, VERSION, {"program": {}, "params": {"w": 1}, "info": {}})[SIZE:]
    (tmp_path / "m.h5").write_bytes(make_user_block(payload, NO_SAVE_ID, None, KIND) + payload)
    with pytest.raises(FormatError, match="its params are not arrays by name"):
        read_packed(tmp_path / "m.h5")


def test_the_suffix_is_added_once(tmp_path: Path) -> None:
    assert packed_path("a/m") == packed_path("a/m.h5") == packed_path("a/m.pdmodel") == Path("a/m.h5")
    with pytest.raises(ArgumentError, match="no file name"):
        packed_path("a/")
