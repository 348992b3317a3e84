"""Each reader of a path refuses pipes, devices and folders at once, in one sentence that names the path."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import engine
from engine import audio, inference, run, static, vision
from engine.core.errors import EngineError
from engine.dataset.common import md5file
from engine.distributed.launch.hosts import read_hosts
from engine.files.checkpoint import read_checkpoint
from engine.files.data.archives import file_bytes, tar_files, zip_file
from engine.files.data.npy import open_npy
from engine.files.journal import JournalWriter
from engine.files.untrusted.hdf5_layout import open_hdf5
from engine.profiler import load_profiler_result
from engine.training.exporting.raw_sequences import stored_arrays
from engine.training.sources.images.folder import decode_image
from engine.training.sources.npz import NpzFile
from engine.training.sources.tables.lines import CsvLines
from engine.vision.datasets.idx import read_idx
from engine.vision.datasets.matlab import read_matrices
from resources.local_code import read_code
from resources.locks import take
from studio.session.predict.digit_images import ImageError, read_file
from studio.session.project.project_file import ProjectError, file_digest, read_project
from studio.session.sweep.models import code_of

if not hasattr(os, "mkfifo"):
    pytest.skip("pipes and devices are files on POSIX", allow_module_level=True)

READERS: dict[str, Callable[[str], Any]] = {
    "audio.wav": audio.load,
    "checkpoint.h5": lambda path: read_checkpoint(Path(path)),
    "code.py": lambda path: read_code(Path(path)),
    "data.csv": lambda path: CsvLines(Path(path), stored=False),
    "data.h5": open_hdf5,
    "data.idx": lambda path: read_idx(path, 3),
    "data.npy": open_npy,
    "data.npz": lambda path: NpzFile(Path(path)),
    "digest": lambda path: file_digest(Path(path)),
    "hosts": lambda path: read_hosts(path, 1),
    "image.jpg": lambda path: decode_image(Path(path), grey=True),
    "image.png": lambda path: vision.image_load(path),
    "journal": JournalWriter,
    "lock": lambda path: take(Path(path)),
    "matrices.mat": read_matrices,
    "md5": md5file,
    "model.pdmodel": lambda path: inference.create_predictor(inference.Config(path, path)),
    "predict.png": lambda path: read_file(Path(path)),
    "profile.json": load_profiler_result,
    "project.studio.json": lambda path: read_project(Path(path)),
    "read_file": vision.ops.read_file,
    "static": static.load_from_file,
    "stored.npy": lambda path: list(stored_arrays(Path(path), lengths=False)),
    "sweep": code_of,
    "tar": lambda path: tar_files(path, bool),
    "text": file_bytes,
    "weights.pdparams": engine.load,
    "zip": lambda path: zip_file(path, "x"),
}


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", READERS)
def test_readers_refuse_what_is_no_file_at_once(tmp_path: Path, name: str) -> None:
    kinds = {"a named pipe": tmp_path / "pipe" / name, "a folder": tmp_path / "folder" / name}
    os.mkfifo(_below(kinds["a named pipe"]))
    _below(kinds["a folder"]).mkdir()
    for kind, target in {"a device": "/dev/zero", "a file of the kernel": "/proc/self/status"}.items():
        if os.path.exists(target) and not (name in ("journal", "lock") and kind != "a device"):
            kinds[kind] = tmp_path / kind / name
            _below(kinds[kind]).symlink_to(target)
    for kind, path in kinds.items():
        with pytest.raises((EngineError, ProjectError, ImageError, OSError)) as caught:
            READERS[name](str(path))
        said = str(caught.value)
        assert str(path) in said or os.path.realpath(path) in said, kind
        assert "\n" not in said
        link_or_folder = name in ("image.jpg", "journal", "lock", "weights.pdparams")
        assert link_or_folder or f"{kind}, not a regular file" in said


def _below(path: Path) -> Path:
    path.parent.mkdir()
    return path


@pytest.mark.timeout(30)
def test_a_script_that_is_a_pipe_does_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "script.py")
    assert run.run_script(str(tmp_path / "script.py")) == 2
    assert "script.py: a named pipe, not a regular file; check the path" in capsys.readouterr().err
