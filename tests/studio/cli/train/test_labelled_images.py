"""Training on a folder of images with labels.csv from the command line."""

from __future__ import annotations

from pathlib import Path

from studio.session.runs.runs_folder import read_run_line
from tests.engine.training.sources.images.test_labels import flat, labels
from tests.studio.cli.train.test_suggest import call


def test_a_labelled_folder_trains_and_its_unlabelled_images_are_counted(tmp_path: Path) -> None:
    folder = flat(tmp_path / "own", 10, labels(8))
    done = call("train", "--data", folder, "--model", "linear", "--epochs", "1", "--out", tmp_path / "run")
    assert done.exit_code == 0
    assert "note: 2 samples without a label are omitted" in done.output
    line = read_run_line(tmp_path / "run")
    assert line is not None
    assert line.config["data"] == str(folder)


def test_without_labels_the_layouts_are_explained(tmp_path: Path) -> None:
    done = call("train", "--data", flat(tmp_path / "own", 2), "--out", tmp_path / "run")
    assert done.exit_code == 1
    assert "own/cat and own/dog, or list them in own/labels.csv" in " ".join(done.output.split())
    assert not (tmp_path / "run").exists()
