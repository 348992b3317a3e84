"""docs/file-format.md: its tables are those of the program, its 20 lines read the files."""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.files import checkpoint, inference, journal, packed, state
from engine.files.native import userblock
from engine.files.native.tree import encode_tree
from engine.files.packed import write_packed
from engine.files.state import write_state
from engine.training.measuring import predictions

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "file-format.md").read_text(encoding="utf-8")
(READER,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def read(path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "argv", ["read.py", str(path)])
    scope: dict[str, Any] = {}
    exec(READER, scope)
    return scope["tree"]


def test_the_reader_has_20_lines() -> None:
    assert len([line for line in READER.splitlines() if line]) == 20
    assert "engine" not in READER


def test_the_reader_reads_packed_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    net = paddle.nn.Linear(40, 30)
    spec = [paddle.static.InputSpec([None, 40], "float32", "x")]
    for compress in (False, True):
        info = {"classes": ["a", "b"], "size": (2, 3), "nan": float("nan")}
        paddle.jit.save(net, str(tmp_path / "m"), spec, format="packed", compress=compress, info=info)
        tree = read(tmp_path / "m.h5", monkeypatch)
        assert sorted(tree) == ["info", "params", "program"]
        assert tree["info"]["info"]["classes"] == ["a", "b"]
        assert tree["info"]["info"]["size"] == (2, 3)
        assert tree["program"]["inputs"] == ["x"]
        np.testing.assert_array_equal(tree["params"][net.weight.name], net.weight.numpy())


def test_the_reader_reads_every_value_of_a_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = {
        "tuple": (1, (2.5, None)),
        "scalar": np.float32(1),
        "inf": float("-inf"),
        3: "key",
        "b": np.array([True, False]),
        "c": np.array([1 + 2j, 3j], np.complex64),
        "a/b": np.zeros((0, 2), np.int16),
    }
    write_state(tmp_path / "s", saved)
    (tree,) = read(tmp_path / "s", monkeypatch).values()
    assert list(tree) == list(saved)
    for name, value in saved.items():
        if isinstance(value, np.ndarray):
            assert tree[name].dtype == value.dtype
            assert np.array_equal(tree[name], value)
        else:
            assert tree[name] == value


def test_the_head_is_as_its_table_says(tmp_path: Path) -> None:
    rows = re.findall(r"^\| (\d+) \| (.+?) \| (.+?) \|$", TEXT.partition("## The HDF5")[0], re.MULTILINE)
    offsets = [int(offset) for offset, _, _ in rows]
    assert offsets == [0, 8, 12, 16, 24, 56, 72, 104, 480]
    save_id = write_packed(tmp_path / "m", {}, {}, {})
    data = (tmp_path / "m.h5").read_bytes()
    assert data[:8] == userblock.MAGIC
    assert int.from_bytes(data[16:24], "little") == len(data) - 512
    assert data[24:56] == hashlib.sha256(data[512:]).digest()
    assert data[56:72].hex() == save_id
    assert data[104:168].rstrip(b"\0") == packed.KIND.encode()
    assert not any(data[168:480])
    assert data[480:512] == hashlib.sha256(data[:480]).digest()


def test_the_kinds_are_those_of_the_program() -> None:
    rows = dict(re.findall(r"^\| `([\w.]+)` \| (\d) \|", TEXT, re.MULTILINE))
    known = {
        packed.KIND: packed.VERSION,
        **dict.fromkeys(inference.KINDS.values(), inference.VERSION),
        state.KIND: state.VERSION,
        checkpoint.KIND: checkpoint.VERSION,
        journal.KIND: journal.VERSION,
        predictions.KIND: predictions.SAMPLES_VERSION,
    }
    assert {name: int(version) for name, version in rows.items()} == known


def test_each_tag_is_in_the_table() -> None:
    values = [np.zeros(1), (1,), {1: 2}, float("nan"), 1j, b"a", np.float32(1)]
    written = set(re.findall(rb'"(\$\w+)"', b"".join(encode_tree(value)[0] for value in values)))
    assert {tag.decode() for tag in written} == set(re.findall(r'\| `\{"(\$\w+)"', TEXT))
