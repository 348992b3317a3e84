"""Exported files are checked again: the same answers, changed files, a checkpoint that is gone."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import DataError
from engine.jit.saved.model_files import describe_model_files
from engine.training.exporting.export import export_run
from engine.training.exporting.reverify import verify_again
from resources.settings.export import ExportSettings
from tests.studio.answering_run import make_run


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, Any]:
    """A run whose newest checkpoint is exported, its prefix, and what the export said."""
    run = make_run(tmp_path_factory.mktemp("runs") / "run", {10: 3, 20: 7}, best=20)
    prefix = str(run / "inference" / "model")
    return run, prefix, export_run(run, prefix, ExportSettings("last", samples=8))


def test_files_that_stand_are_compared_with_their_run(exported: tuple[Path, str, Any]) -> None:
    run, prefix, first = exported
    before = sorted(path.name for path in (run / "inference").iterdir())
    reported: list[str] = []
    again = verify_again(prefix, run, 8, lambda event: reported.append(event["stage"]))
    assert (again["step"], again["samples"], again["difference"]) == (20, 8, 0.0)
    assert (again["sizes"], again["save_id"]) == (first["sizes"], first["save_id"])
    assert reported == ["read", "verify"]
    assert sorted(path.name for path in (run / "inference").iterdir()) == before, "nothing is written there"


def test_files_of_other_weights_differ(exported: tuple[Path, str, Any], tmp_path: Path) -> None:
    run, prefix, _ = exported
    other = shutil.copytree(run, tmp_path / "other")
    shutil.copy(other / "checkpoints" / "step-00000010.h5", other / "checkpoints" / "step-00000020.h5")
    again = verify_again(prefix, other, 8)
    assert np.isclose(again["difference"], 5.0)  # the score that another class gets


def test_a_missing_checkpoint_is_reported(exported: tuple[Path, str, Any], tmp_path: Path) -> None:
    run, prefix, _ = exported
    other = shutil.copytree(run, tmp_path / "other")
    for name in ("step-00000020.h5", "best.h5"):
        (other / "checkpoints" / name).unlink()
    with pytest.raises(DataError, match="nothing to compare with: export: no checkpoint of step 20"):
        verify_again(prefix, other, 8)


@pytest.mark.parametrize(("format", "name"), [("packed", "new.h5"), ("onnx", "new.onnx")])
def test_an_export_in_one_file_answers_as_its_run(
    exported: tuple[Path, str, Any], tmp_path: Path, format: str, name: str
) -> None:
    if format == "onnx":
        pytest.importorskip("onnx", reason="needs the extra onnx")
    run, _, first = exported
    settings = ExportSettings("last", samples=8, format=format, compress=format == "packed", license="MIT")
    event = export_run(run, str(tmp_path / "new"), settings)
    assert (event["prefix"], list(event["sizes"])) == (str(tmp_path / name), [name])
    assert event["difference"] < 1e-5
    assert event["accuracy"] == first["accuracy"]
    assert [path.name for path in tmp_path.iterdir()] == [name]
    if format == "packed":
        assert event["saved"] > 0.1
        described = describe_model_files(event["prefix"])
        assert described.save_id == event["save_id"]
        info = described.info["info"]
    else:
        import onnx

        info = {each.key: each.value for each in onnx.load(tmp_path / name).metadata_props}
        assert (info["layout"], info["size"]) == ("NCHW", "28x28")
    assert (info["run"], info["license"]) == ("run", "MIT")
