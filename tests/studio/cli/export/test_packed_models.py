"""One packed file alone: an image is classified by it, inspected, converted; a third-party one stays that."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import engine as paddle
from engine import nn
from engine.jit.saved.model_files import is_own_model
from studio.cli import app
from tests.robust.containers import unsigned


class Halves(nn.Layer):
    """The sums of the left and the right half of an image."""

    def forward(self, x):
        halves = paddle.sum(x.reshape([-1, 28, 2, 14]), axis=[1, 3])
        return nn.functional.softmax(halves)


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    """A packed model of images, with nothing else in its folder but an image."""
    net = Halves()
    net.eval()
    spec = [paddle.static.InputSpec([None, 1, 28, 28], "float32", "x")]
    info = {"classes": ["left", "right"], "scaling": {"divide_by": 255.0}, "license": "Apache-2.0"}
    paddle.jit.save(net, str(tmp_path / "halves"), spec, format="packed", compress=True, info=info)
    pixels = np.zeros((28, 28), np.uint8)
    pixels[4:24, 18:23] = 255
    Image.fromarray(pixels).save(tmp_path / "image.png")
    return tmp_path / "halves.h5"


def call(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_an_image_is_classified_from_the_file_alone(alone: Path) -> None:
    (line,) = call("predict", alone, alone.with_name("image.png"), "--json").splitlines()
    assert json.loads(line)["class"] == "right"
    described = json.loads(call("inspect", alone, "--json"))
    assert (described["info"]["license"], list(described["sizes"])) == ("Apache-2.0", ["halves.h5"])
    assert described["refusal"] is None


def test_a_third_party_model_stays_one_when_it_is_converted(alone: Path) -> None:
    alone.write_bytes(unsigned(alone.read_bytes()))
    assert not is_own_model(alone)
    call("convert", alone, alone.with_name("three"), "--format", "native")
    assert paddle.jit.load(str(alone.with_name("three"))).program().foreign
