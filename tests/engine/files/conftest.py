"""Foreign files for these tests: right hashes, no signature of this installation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import h5py
import pytest

from engine.files.native.userblock import NO_SAVE_ID, SIZE, make_user_block, parse_user_block
from engine.files.untrusted import guarded


@pytest.fixture(autouse=True)
def _no_verdicts_remembered() -> None:
    guarded._accepted.clear()


@pytest.fixture
def unsign() -> Callable[[Path], Path]:
    """Takes the signature off a file, as if another installation had written it."""

    def take_off(path: Path) -> Path:
        data = path.read_bytes()
        block = parse_user_block(data[:SIZE], len(data), path)
        path.write_bytes(make_user_block(data[SIZE:], block.save_id, None) + data[SIZE:])
        return path

    return take_off


@pytest.fixture
def forge(tmp_path: Path) -> Callable[..., Path]:
    """Makes a file with right hashes and whatever HDF5 content the test builds."""

    def make(
        build: Callable[[h5py.File], None], *, document: str | None = None, libver: str = "earliest"
    ) -> Path:
        path = tmp_path / "forged.h5"
        with h5py.File(path, "w", userblock_size=SIZE, libver=libver) as file:
            for name, value in (("format", "Model Studio"), ("kind", "state"), ("product", "other")):
                file.attrs.create(name, value, dtype=h5py.string_dtype("utf-8", len(value)))
            file.attrs.create("version", 1, dtype="<i8")
            if document is not None:
                file.create_dataset(
                    "structure",
                    data=document.encode(),
                    dtype=h5py.string_dtype("utf-8", len(document.encode())),
                )
            build(file)
        payload = path.read_bytes()[SIZE:]
        path.write_bytes(make_user_block(payload, NO_SAVE_ID, None) + payload)
        return path

    return make
