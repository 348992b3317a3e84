"""The command convert: a saved model becomes an ONNX file that a clean process has run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import engine as paddle
from engine import nn
from studio.cli import app


@pytest.fixture
def saved(tmp_path: Path) -> str:
    pytest.importorskip("onnx", reason="needs the extra onnx")
    spec = paddle.static.InputSpec([None, 4], "float32", "x")
    info = {"classes": ["no", "yes"], "model": "mlp"}
    net = nn.Sequential(nn.Linear(4, 2), nn.Softmax())
    paddle.jit.save(net, str(tmp_path / "model"), [spec], info=info)
    return str(tmp_path / "model")


def test_a_saved_model_becomes_an_onnx_file(saved: str, tmp_path: Path) -> None:
    target = tmp_path / "new" / "model.onnx"
    done = CliRunner().invoke(app, ["convert", saved, str(target), "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["opset"] == 17
    assert found["bytes"] == target.stat().st_size
    assert "reference" in found["difference"]
    assert max(found["difference"].values()) < 1e-5
    import onnx

    metadata = {each.key: each.value for each in onnx.load(target).metadata_props}
    assert metadata["classes"] == '["no", "yes"]'
    assert metadata["model"] == "mlp"
    assert list(target.parent.iterdir()) == [target]


def test_other_suffixes_opsets_and_absent_models_are_refused(saved: str, tmp_path: Path) -> None:
    other = CliRunner().invoke(app, ["convert", saved, str(tmp_path / "model.onnx"), "--format", "native"])
    assert other.exit_code == 2
    assert "the suffix is that of onnx" in other.stderr
    unknown = CliRunner().invoke(app, ["convert", saved, str(tmp_path / "model"), "--format", "zip"])
    assert unknown.exit_code == 2
    assert "no such choice: got 'zip'" in unknown.stderr
    newer = CliRunner().invoke(app, ["convert", saved, str(tmp_path / "m.onnx"), "--opset", "999"])
    assert newer.exit_code == 1
    assert newer.stderr.startswith(
        "onnx.export: opset_version 999: the installed package onnx knows opsets up to"
    )
    absent = CliRunner().invoke(app, ["convert", str(tmp_path / "none"), str(tmp_path / "m.onnx")])
    assert absent.exit_code == 1
    assert "none.pdmodel" in absent.stderr
    assert not (tmp_path / "m.onnx").exists()


def test_a_model_becomes_one_packed_file_and_three_files_again(saved: str, tmp_path: Path) -> None:
    packed = tmp_path / "one" / "model.h5"
    done = CliRunner().invoke(app, ["convert", saved, str(packed), "--compress", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["format"], found["difference"], found["bytes"]) == (
        "packed",
        {"engine": 0.0},
        packed.stat().st_size,
    )
    assert "saved" in found
    assert list(packed.parent.iterdir()) == [packed]
    three = tmp_path / "three" / "model"
    done = CliRunner().invoke(app, ["convert", str(packed), str(three)])
    assert done.exit_code == 0, done.output
    before, after = paddle.jit.load(saved), paddle.jit.load(str(three))
    assert after.info == before.info
    assert list(after.state_dict()) == list(before.state_dict())
    for name, tensor in before.state_dict().items():
        assert (after.state_dict()[name].numpy() == tensor.numpy()).all()
    assert str(after.program()) == str(before.program())


def test_edits_are_part_of_what_is_written(saved: str, tmp_path: Path) -> None:
    packed = tmp_path / "edited.h5"
    words = ["convert", saved, str(packed), "--rename", "x=row", "--dim", "x:0=2", "--fold", "--json"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    program = paddle.jit.load(str(packed)).program()
    assert program.inputs == ["row"]
    assert program.global_block().var("row").shape == (2, 4)
    refused = CliRunner().invoke(app, ["convert", saved, str(packed), "--cut", "..softmax"])
    assert refused.exit_code == 1
    assert "tensor 'softmax' does not exist: cut at one of" in refused.stderr
    unread = CliRunner().invoke(app, ["convert", saved, str(packed), "--rename", "x"])
    assert unread.exit_code == 2
