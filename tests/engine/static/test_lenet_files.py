"""LeNet from static training to prediction, each part in a process that knows the others' files only."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import engine as paddle
from engine.core.models.limits import ModelLimits
from tests.engine.static.lenet import batch

ROOT = Path(__file__).resolve().parents[3]


def run(*arguments):
    """What the script prints in a process of its own."""
    command = [sys.executable, "-m", "tests.engine.static.lenet", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=55, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The prefix of what a training process saved, and what it printed."""
    prefix = tmp_path_factory.mktemp("lenet") / "model"
    return prefix, run("train", prefix, 6)


def test_a_resumed_process_trains_as_if_it_never_stopped(trained):
    prefix, printed = trained
    assert len(set(printed["losses"])) == 3
    assert run("resume", prefix, 6)["losses"] == printed["losses"]


def test_another_process_predicts_the_same(trained):
    prefix, printed = trained
    assert run("predict", prefix) == {"feeds": ["image"], "scores": printed["scores"]}


def test_jit_load_predicts_the_same_and_trains_on(trained):
    prefix, printed = trained
    layer = paddle.jit.load(str(prefix))
    images = paddle.to_tensor(batch(99)["image"])
    np.testing.assert_array_equal(layer(images).numpy(), np.float32(printed["scores"]))
    layer.train()
    optimizer = paddle.optimizer.Adam(0.005, parameters=layer.parameters())
    losses = []
    for _ in range(8):
        given = batch(3)
        scores = layer(paddle.to_tensor(given["image"]))
        loss = paddle.nn.functional.cross_entropy(scores, paddle.to_tensor(given["label"]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2


def test_the_studio_shows_and_asks_it(trained):
    from studio.session.predict.model_info import opened
    from studio.session.predict.saved_files import describe_model

    prefix, printed = trained
    described = describe_model(str(prefix))
    assert [(i["name"], i["shape"]) for i in described["inputs"]] == [("image", [-1, 1, 28, 28])]
    assert described["parameters"] == 1 * 6 * 9 + 6 + 6 * 16 * 25 + 16 + 2 * 16 + 2 * 16 + 48120 + 10164 + 850
    assert not {"sgd", "adam", "gradient", "softmax_with_cross_entropy"} & {
        o["type"] for o in described["operators"]
    }
    with opened(str(prefix), ModelLimits()) as (_, scores):
        np.testing.assert_allclose(scores(batch(99)["image"][2, 0]), printed["scores"][2], 1e-4, 1e-5)
