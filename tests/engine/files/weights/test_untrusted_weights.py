"""Checkpoints of PyTorch, safetensors and NPZ that are damaged or hostile: refused in one line."""

from __future__ import annotations

import io
import json
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import AbsentError, DataError, FormatError
from engine.files.weights import reading
from engine.files.weights.reading import foreign_form, parse_weights

RECORDED = Path(__file__).parents[2] / "framework/recorded"


def refusal(path: Path) -> str:
    with pytest.raises((FormatError, DataError)) as caught:
        parse_weights(path)
    text = str(caught.value)
    assert text.startswith(str(path))
    assert "\n" not in text
    return text


# ----- safetensors ------------------------------------------------------------------------------------------

FINE = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


def safetensors(path: Path, header: Any, data: bytes = bytes(16), length: int | None = None) -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + data)
    return path


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (
            {"a": FINE, "b": {**FINE, "data_offsets": [4, 12]}},
            "'b' overlap those of another tensor: 4",
        ),
        ({"a": FINE, "b": {**FINE, "data_offsets": [12, 20]}}, "'b' leave a gap: 12, not 8"),
        ({"a": FINE}, "16 bytes of numbers where the header describes 8"),
        ({"a": {**FINE, "shape": [4], "data_offsets": [8, 24]}}, "leave a gap"),
        ({"a": {**FINE, "shape": [1 << 61, 8], "data_offsets": [0, 0]}}, "has 0 bytes of numbers"),
        ({"a": {**FINE, "shape": [-2]}}, "an invalid shape"),
        ({"a": {**FINE, "shape": [2.0]}}, "an invalid shape"),
        ({"a": {**FINE, "shape": [1] * 33}}, "an invalid shape"),
        ({"a": {**FINE, "data_offsets": [8, 0]}}, "has -8 bytes of numbers"),
        ({"a": {**FINE, "data_offsets": [0]}}, "invalid data_offsets"),
        ({"a": {**FINE, "dtype": "F128"}}, "has dtype 'F128'; BOOL, I8,"),
        ({"a": {**FINE, "more": 1}}, "is not described by dtype, shape and data_offsets"),
        ({"__metadata__": {"a": 1}}, "__metadata__ holds something else than texts"),
        (b'{"a": 1, "a": 2}', "its header is an object that has a key twice"),
        (b"{" + b" " * 20, "its header is not JSON"),
        (b'{"a":' + b"[" * 9 + b"]" * 9 + b"}", "nested deeper than 4 levels"),
    ],
    ids=range(16),
)
def test_safetensors_with_a_damaged_header(tmp_path: Path, header: Any, reason: str) -> None:
    assert reason in refusal(safetensors(tmp_path / "w.safetensors", header))


def test_safetensors_with_another_length(tmp_path: Path) -> None:
    for length in (1 << 62, 500, 3_000_000):
        path = safetensors(tmp_path / "w.safetensors", {"a": FINE}, length=length)
        if length > 100_000_000:
            assert foreign_form(path) == ""
        else:
            assert "is longer than it, or than" in refusal(path)
    path = safetensors(tmp_path / "w.safetensors", b"{" + b" " * 3_000_000 + b"}")
    assert "is longer than it, or than 2,097,152" in refusal(path)


# ----- checkpoints of PyTorch -------------------------------------------------------------------------------


def checkpoint(
    path: Path, change: Callable[[dict[str, bytes]], None], method: int = zipfile.ZIP_STORED
) -> Path:
    """A checkpoint of PyTorch whose files are changed; the checksums fit."""
    with zipfile.ZipFile(RECORDED / "resnet.pth") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    change(files)
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def in_pickle(before: bytes, after: bytes) -> Callable[[dict[str, bytes]], None]:
    def change(files: dict[str, bytes]) -> None:
        assert before in files["resnet/data.pkl"]
        files["resnet/data.pkl"] = files["resnet/data.pkl"].replace(before, after, 1)

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            in_pickle(b"torch._utils\n_rebuild_tensor_v2", b"os\nsystem"),
            "it names 'os.system', which",
        ),
        (in_pickle(b"FloatStorage", b"OddStorage"), "it names 'torch.OddStorage', which is refused"),
        (in_pickle(b"FloatStorage", b"DoubleStorage"), "storage '0' has 432 bytes for 108 elements"),
        (
            in_pickle(b"(K\x04K\x03K\x03K\x03t", b"(K\x05K\x03K\x03K\x03t"),
            "reaches beyond its storage of 108",
        ),
        (in_pickle(b"(K\x1bK\tK\x03K\x01t", b"(K\xffK\tK\x03K\x01t"), "reaches beyond its storage of 108"),
        (in_pickle(b"(K\x1bK\tK\x03K\x01t", b"(K\x1bK\tK\x03t"), "has invalid sizes or strides"),
        (in_pickle(b"(K\x1bK\t", b"(J\xff\xff\xff\xffK\t"), "has invalid sizes or strides"),
        (in_pickle(b"storage", b"elsewhere"[:7]), "it refers to something that is not a storage"),
        (lambda files: files.pop("resnet/data/0"), "storage '0' is not in the file"),
        (lambda files: files.update({"more/data.pkl": b""}), "2 files data.pkl in it"),
        (lambda files: files.update({"resnet/constants.pkl": b""}), "it is a TorchScript model"),
        (lambda files: files.update({"resnet/byteorder": b"odd"}), "byte order b'odd'"),
    ],
    ids=range(12),
)
def test_checkpoints_with_a_damaged_pickle(tmp_path: Path, change: Any, reason: str) -> None:
    assert reason in refusal(checkpoint(tmp_path / "w.pth", change))


def test_checkpoint_of_another_byte_order(tmp_path: Path) -> None:
    def swapped(files: dict[str, bytes]) -> None:
        files["resnet/byteorder"] = b"big"
        for name in files:
            if "/data/" in name:
                width = 8 if len(files[name]) == 8 else 4
                files[name] = np.frombuffer(files[name], f"<i{width}").byteswap().tobytes()

    found = parse_weights(checkpoint(tmp_path / "w.pth", swapped)).value
    for name, expected in parse_weights(RECORDED / "resnet.pth").value.items():
        assert np.array_equal(found[name], expected)
        assert found[name].dtype == expected.dtype


def test_checkpoints_that_are_compressed_cut_off_or_changed(tmp_path: Path) -> None:
    path = checkpoint(tmp_path / "w.pth", lambda files: None, zipfile.ZIP_DEFLATED)
    assert "is compressed, as PyTorch writes none" in refusal(path)
    data = bytearray((RECORDED / "resnet.pth").read_bytes())
    path.write_bytes(data[:-1000])
    assert refusal(path)
    data[data.index(b"resnet/data/0") + 100] ^= 1
    path.write_bytes(data)
    assert "CRC" in refusal(path)


def test_tensors_that_expand_a_small_storage_are_refused(tmp_path: Path) -> None:
    """Strides of zero make a tensor of any size from one number."""
    sizes = b"(J\xff\xff\xff\x7fJ\xff\xff\xff\x7fK\x03K\x03t"
    expand = in_pickle(b"(K\x04K\x03K\x03K\x03t", sizes)
    strides = in_pickle(b"(K\x1bK\tK\x03K\x01t", b"(K\x00K\x00K\x00K\x00t")
    path = checkpoint(tmp_path / "w.pth", lambda files: (expand(files), strides(files)))
    assert "more memory than its size explains" in refusal(path)


def test_storages_are_read_once_whatever_the_order_of_the_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensors of two large storages in alternation would else take hours; the tensors do not share memory."""
    opened: list[str] = []
    real = zipfile.ZipFile.open

    def counted(archive: zipfile.ZipFile, entry: Any, *arguments: Any) -> Any:
        opened.append(getattr(entry, "filename", entry))
        return real(archive, entry, *arguments)

    monkeypatch.setattr(zipfile.ZipFile, "open", counted)
    views = parse_weights(RECORDED / "checkpoint.pt").value["views"]
    assert len(opened) == len(set(opened))
    assert all(not np.shares_memory(one, other) for one in views for other in views if one is not other)
    views[1][0, 1] = 100
    assert 100 not in views[0]


# ----- NPZ and others ---------------------------------------------------------------------------------------


def test_npz_of_objects_texts_and_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "w.npz"
    np.savez(path, a=np.array(["a"]))
    assert "'a' holds no numbers: <U1" in refusal(path)
    np.savez(path, a=np.array([None]))
    assert "Python objects" in refusal(path)
    monkeypatch.setattr(reading, "SLACK", 0)
    np.savez_compressed(path, a=np.zeros(10_000, np.float32))
    assert "save it with numpy.savez, which does not compress" in refusal(path)
    np.savez(path, a=np.arange(3, dtype=">u4"))
    assert parse_weights(path).value["a"].dtype == np.int64


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "w.pth"
    path.write_bytes(b"PK\3\4 no archive")
    assert refusal(path)
    path.write_bytes(b"text")
    assert "not weights of a known form" in refusal(path)
    with pytest.raises(AbsentError, match="there is no such file"):
        parse_weights(tmp_path / "absent.pth")
    old = io.BytesIO()
    pickle.dump(0x1950A86A20F9469CFC6C, old, 2)
    path.write_bytes(old.getvalue())
    assert "the old form of PyTorch, before 1.6" in refusal(path)
