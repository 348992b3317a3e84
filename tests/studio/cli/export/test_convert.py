"""The command convert: a saved model becomes an ONNX file that a clean process has run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
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


class Halves(nn.Layer):
    """The sums of the left and the right half of an image."""

    def forward(self, x: Any) -> Any:
        return nn.functional.softmax(paddle.sum(x.reshape([-1, 28, 2, 14]), axis=[1, 3]))


def test_an_image_is_classified_from_an_onnx_file_alone(saved: str, tmp_path: Path) -> None:
    spec = [paddle.static.InputSpec([None, 1, 28, 28], "float32", "x")]
    info = {"classes": ["left", "right"], "scaling": {"divide_by": 255.0}}
    net = Halves()
    net.eval()
    paddle.jit.save(net, str(tmp_path / "halves"), spec, format="packed", info=info)
    alone, packed = tmp_path / "alone" / "halves.onnx", tmp_path / "halves.h5"
    assert CliRunner().invoke(app, ["convert", str(packed), str(alone)]).exit_code == 0
    packed.unlink()
    pixels = np.zeros((28, 28), np.uint8)
    pixels[4:24, 18:23] = 255
    Image.fromarray(pixels).save(tmp_path / "image.png")
    for name in (alone, alone.with_suffix("")):
        done = CliRunner().invoke(app, ["predict", str(name), str(tmp_path / "image.png"), "--json"])
        assert json.loads(done.stdout)["class"] == "right", done.output
    assert CliRunner().invoke(app, ["convert", str(alone), str(tmp_path / "again.h5")]).exit_code == 0
    again = paddle.jit.load(str(tmp_path / "again.h5"))
    assert again.info["classes"] == ["left", "right"]
    assert again.program().foreign


def test_names_of_inputs_and_outputs_stay(saved: str, tmp_path: Path) -> None:
    net = paddle.jit.load(saved)
    assert CliRunner().invoke(app, ["convert", saved, str(tmp_path / "m.onnx")]).exit_code == 0
    import onnx

    graph = onnx.load(tmp_path / "m.onnx").graph
    assert [each.name for each in graph.input] == net.program().inputs
    assert [each.name for each in graph.output] == net.program().outputs


def test_a_model_that_looks_up_words_is_compared_on_numbers_that_it_takes(tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="needs the extra onnx")

    class Words(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.rows = nn.Embedding(2, 3)

        def forward(self, x: paddle.Tensor) -> paddle.Tensor:
            return self.rows(x.astype("int64")).sum(-1)

    spec = paddle.static.InputSpec([None, 40], "float32", "x")
    paddle.jit.save(Words(), str(tmp_path / "words"), [spec])
    for name in ("m.onnx", "m.h5"):
        done = CliRunner().invoke(app, ["convert", str(tmp_path / "words"), str(tmp_path / name)])
        assert done.exit_code == 0, done.output
