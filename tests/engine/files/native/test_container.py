"""The container: round trips of every type, and a refusal for every flipped byte and every truncation."""

from __future__ import annotations

import os
import struct
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np
import pytest

from engine.core.errors import ArgumentError, DataError, DTypeError, FormatError, SaveError
from engine.files.native.container import read_container, verify_container, write_container
from engine.files.native.tree import DTYPES
from engine.files.native.userblock import MAGIC, SIZE
from engine.files.state import read_state, write_state


class Pair(NamedTuple):
    first: int
    second: int


def same(a: Any, b: Any) -> bool:
    """Equal in type, order of keys, dtype, shape and every bit."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return len(a) == len(b) and all(
            same(k, j) and same(v, w) for (k, v), (j, w) in zip(a.items(), b.items(), strict=True)
        )
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray | np.generic):
        return a.dtype.str == b.dtype.str and a.shape == b.shape and a.tobytes() == b.tobytes()
    return bool(repr(a) == repr(b))


def round_trip(tmp_path: Path, tree: Any) -> Any:
    path = tmp_path / "file.h5"
    write_container(path, "state", 1, tree)
    return read_container(path, "state", 1)


@pytest.mark.parametrize(
    "tree",
    [
        None,
        True,
        0,
        -1,
        2**80,
        -0.0,
        1e-320,
        float("nan"),
        float("inf"),
        float("-inf"),
        1 + 2j,
        complex(float("nan"), float("-inf")),
        "",
        "text",
        "数字 \x00 \U0001f600",
        "\udc80",
        b"",
        b"\x00\xff",
        [],
        {},
        (),
        [[], {}, ()],
        {"a": {"b": {"c": []}}},
        (1, (2, [3, (4,)])),
        {"a": 1, "b": None, "c": "d"},
        {1: "int", "1": "text", 2.5: 0, None: 1, float("inf"): 2},
        {"$array": 1, "$": 2},
        {"a": {"$tuple": [1]}},
        {"b": 1, "a": 2, "": 3, "/": 4, ".": 5},
        np.float16(1.5),
        np.float64(0.1),
        np.int8(-3),
        np.bool_(True),
        np.complex64(1j),
        {np.int64(3): 1},
    ],
    ids=repr,
)
def test_values_come_back_with_their_types(tmp_path: Path, tree: Any) -> None:
    assert same(round_trip(tmp_path, tree), tree)


@pytest.mark.parametrize("dtype", sorted(DTYPES))
@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 3), (2, 0, 3), (1,) * 20])
def test_arrays_come_back_bit_for_bit(tmp_path: Path, dtype: str, shape: tuple[int, ...]) -> None:
    kind = np.dtype(dtype)
    random = np.random.default_rng(0).integers(
        0, 2 if kind.kind == "b" else 256, (*shape, kind.itemsize), "uint8"
    )
    array = random.view(kind).reshape(shape)
    again = round_trip(tmp_path, {"x": array})["x"]
    assert same(again, array)
    assert again.flags.writeable
    assert again.flags.c_contiguous


def test_arrays_in_any_order_of_memory(tmp_path: Path) -> None:
    base = np.arange(24.0).reshape(2, 3, 4)
    for array in (
        base.T,
        base[:, ::2],
        base[::-1],
        np.asfortranarray(base),
        np.broadcast_to(base[0], (5, 3, 4)),
    ):
        assert np.array_equal(round_trip(tmp_path, [array])[0], array)
    assert same(round_trip(tmp_path, (base.T + 1j)[::2]), np.ascontiguousarray((base.T + 1j)[::2]))


def test_subclasses_come_back_as_their_plain_types(tmp_path: Path) -> None:
    assert same(round_trip(tmp_path, OrderedDict(a=Pair(1, 2), b=np.str_("x"))), {"a": (1, 2), "b": "x"})


def test_any_key_and_its_readable_name(tmp_path: Path) -> None:
    arrays = {
        key: np.array([index])
        for index, key in enumerate(
            [
                "conv1.weight",
                "a/b",
                "a%2Fb",
                ".",
                "..",
                "",
                "structure",
                "键",
                "x\x00y",
                "\udc80",
                "n" * 300,
                "n" * 301,
                "$a",
            ]
        )
    }
    tree = {
        "weights": arrays,
        1: np.array(1),
        "1": np.array(2),
        "structure": np.array(3),
        "list": [np.array(4)],
    }
    assert same(round_trip(tmp_path, tree), tree)
    with h5py.File(tmp_path / "file.h5") as file:
        assert list(file["weights/conv1.weight"]) == [0]
        assert list(file["weights/键"]) == [7]
        assert file["list/0"][()] == 4
        assert dict(file.attrs).keys() == {"format", "kind", "version", "product"}
        assert file.attrs["format"] == b"Model Studio"
        assert file["weights/conv1.weight"].compression is None
        assert b'"weights"' in file["structure"][()]


def test_the_same_values_give_the_same_bytes(tmp_path: Path) -> None:
    write_container(tmp_path / "a", "state", 1, {"x": np.arange(5), "y": [1]})
    write_container(tmp_path / "b", "state", 1, {"x": np.arange(5), "y": [1]})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ({"a": [1, object()]}, "a/1: can't save a builtins.object"),
        ({"a": {1, 2}}, "a: can't save a builtins.set"),
        ({"a": np.array(["x"])}, "a: can't save values of dtype <U1"),
        ({"a": np.array([None])}, "dtype object"),
        ({"a": np.longdouble(1)}, "can't save values of dtype"),
        ({"a": np.datetime64("2020-01-01")}, "can't save values of dtype"),
        ({"a": np.ma.masked_array([1], [True])}, "masked array"),
        ({"a": {(1, 2): 3}}, r"a: can't save the key \(1, 2\)"),
    ],
)
def test_unsupported_values_are_refused_and_nothing_is_written(tmp_path: Path, tree: Any, words: str) -> None:
    with pytest.raises(DTypeError, match=words):
        round_trip(tmp_path, tree)
    assert os.listdir(tmp_path) == []


def test_nesting_and_numbers_have_limits(tmp_path: Path) -> None:
    deep: Any = 1
    for level in range(100):
        deep = [deep] if level % 2 else {"x": (deep,), "$": 0} if level < 60 else {"x": deep}
        if level == 60:
            assert same(round_trip(tmp_path, deep), deep)
    endless: list[Any] = []
    endless.append(endless)
    for tree, words in ((endless, "nested deeper than 100"), (10**5000, "a number can't be written")):
        with pytest.raises(ArgumentError, match=words):
            round_trip(tmp_path, tree)


def small_file(tmp_path: Path) -> Path:
    path = tmp_path / "small.h5"
    write_state(path, {"w": np.arange(4, dtype="float32"), "n": [1, 2.5, "x"]})
    return path


def test_every_flipped_byte_is_found(tmp_path: Path) -> None:
    path = small_file(tmp_path)
    good = path.read_bytes()
    for position in range(len(good)):
        damaged = bytearray(good)
        damaged[position] ^= 1 << position % 8
        path.write_bytes(damaged)
        with pytest.raises(FormatError) as caught:
            read_state(path)
        assert str(path) in str(caught.value)
    path.write_bytes(good)
    read_state(path)


def test_every_truncation_is_found(tmp_path: Path) -> None:
    path = small_file(tmp_path)
    good = path.read_bytes()
    for length in [*range(0, SIZE + 100, 7), *range(SIZE, len(good), 61), len(good) - 1]:
        path.write_bytes(good[:length])
        with pytest.raises(FormatError, match=r"truncated|empty|not a Model Studio file"):
            read_state(path)
    path.write_bytes(good + b"\0")
    with pytest.raises(FormatError, match=f"{len(good) + 1} bytes where {len(good)} were written"):
        read_state(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x80\x02}q\x00.", "Python pickle.*not opened here"),
        (b"PK\x03\x04" + bytes(600), "ZIP archive"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "git lfs pull"),
        (bytes(600), "begins with b'.x00"),
        (b"", "the file is empty"),
        (MAGIC, "truncated: 8 bytes"),
    ],
)
def test_other_formats_are_named(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "other.pdparams"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=words):
        read_state(path)


def test_plain_hdf5_is_not_ours(tmp_path: Path) -> None:
    path = tmp_path / "plain.h5"
    with h5py.File(path, "w") as file:
        file["x"] = 1
    with pytest.raises(FormatError, match="an HDF5 file that another program wrote"):
        read_state(path)
    with h5py.File(path, "w", userblock_size=512) as file:
        file["x"] = 1
    with pytest.raises(FormatError, match="not a Model Studio file"):
        read_state(path)


def test_kind_and_versions(tmp_path: Path) -> None:
    path = tmp_path / "file.h5"
    write_container(path, "checkpoint", 3, 1)
    with pytest.raises(FormatError, match="another kind: 'checkpoint' where 'state' is needed"):
        read_container(path, "state", 1)
    with pytest.raises(
        FormatError, match=r"newer version of Model Studio: checkpoint version 3 .*reads up to 2; update"
    ):
        read_container(path, "checkpoint", 2)
    assert read_container(path, "checkpoint", 3) == 1

    import hashlib

    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, 8, 2)
    data[480:512] = hashlib.sha256(data[:480]).digest()
    path.write_bytes(data)
    with pytest.raises(FormatError, match=r"newer version.*container version 2, this build reads up to 1"):
        read_container(path, "checkpoint", 3)


def test_missing_files_folders_and_pipes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file"):
        read_state(tmp_path / "absent.h5")
    with pytest.raises(FormatError, match=r"a (folder|named pipe), not a regular file; choose a file"):
        read_state(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(FormatError, match=r"a (named pipe|device), not a regular file"):
            verify_container(tmp_path / "pipe")


def test_write_state_makes_the_folder_or_says_why_not(tmp_path: Path) -> None:
    write_state(tmp_path / "new" / "folder" / "a.pdparams", {"x": 1})
    assert read_state(tmp_path / "new" / "folder" / "a.pdparams") == {"x": 1}
    with pytest.raises(SaveError, match=r"a.pdparams.*a part of this path is a file"):
        write_state(tmp_path / "new" / "folder" / "a.pdparams" / "b.pdparams", {"x": 1})


def test_our_own_files_need_no_child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = small_file(tmp_path)

    def no_child(*_: object, **__: object) -> None:
        raise AssertionError("a child was started")

    monkeypatch.setattr("engine.files.untrusted.guarded.run_child", no_child)
    read_state(path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "another installation"))
    with pytest.raises(AssertionError, match="a child was started"):
        read_state(path)


def test_foreign_but_sound_files_are_read(tmp_path: Path, unsign: Callable[[Path], Path]) -> None:
    tree = {"w": np.arange(6, dtype="float32").reshape(2, 3), "n": (1, None)}
    write_state(tmp_path / "a.h5", tree)
    assert same(read_state(unsign(tmp_path / "a.h5")), tree)
