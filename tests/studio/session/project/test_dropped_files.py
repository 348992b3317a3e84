"""What a dropped file is: `.h5` may be a packed model, data, a checkpoint or another part of a run."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from engine.core.errors import ArgumentError
from engine.files.checkpoint import write_checkpoint
from engine.files.packed import write_packed
from engine.files.state import write_state
from engine.training.sources.opening import kind_of
from studio.session.export.export_registry import exported_files
from studio.session.project.dropped_files import look_at

ONNX = bytes.fromhex("0808 120178 3a00 4202 1011")


def test_files_called_h5_are_distinguished_by_content(tmp_path: Path) -> None:
    run = tmp_path / "run-1"
    (run / "inference").mkdir(parents=True)
    (run / "journal.jsonl").write_text("{}\n")
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file["x"] = np.zeros((2, 3))
    write_packed(run / "inference" / "model.h5", {}, {}, {})
    write_state(tmp_path / "state.h5", {"w": np.zeros(3)})
    checkpoint = write_checkpoint(run, 3, {"step": 3})
    (tmp_path / "net.bin").write_bytes(ONNX)
    assert look_at(run / "inference" / "model.h5").kind == "model"
    assert look_at(run / "inference").path == run / "inference" / "model.h5"
    assert look_at(tmp_path / "data.h5").kind == "data"
    assert (look_at(checkpoint).kind, look_at(checkpoint).path) == ("run", run)
    assert look_at(tmp_path / "net.bin").kind == "model"
    assert "not a model and not data, but weights or another part of a run" in (
        look_at(tmp_path / "state.h5").reason
    )
    (listed,) = exported_files([str(run)], [])
    assert (listed.prefix, listed.run) == (str(run / "inference" / "model.h5"), str(run))


def test_a_packed_model_is_refused_as_data(tmp_path: Path) -> None:
    write_packed(tmp_path / "model.h5", {}, {}, {})
    with pytest.raises(ArgumentError, match="such as a model or checkpoint, is not data"):
        kind_of(str(tmp_path / "model.h5"))


def test_weights_are_recognized_by_content(tmp_path: Path) -> None:
    """NPZ files count as data; a state of Model Studio is weights by its suffix."""
    write_state(tmp_path / "net.pdparams", {"w": np.zeros(3)})
    np.savez(tmp_path / "net.npz", x=np.zeros((2, 3)))
    (tmp_path / "net.bin").write_bytes(b"\x80\x02N.")
    kinds = {name: look_at(tmp_path / name).kind for name in ("net.pdparams", "net.npz", "net.bin")}
    assert kinds == {"net.pdparams": "weights", "net.npz": "data", "net.bin": "weights"}
