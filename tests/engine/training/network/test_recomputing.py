"""The setting recompute: which blocks it recomputes; a training with it is bitwise identical."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import engine as paddle
from engine import nn, vision
from engine.core.errors import ArgumentError
from engine.distributed.fleet.utils import recompute
from engine.training import TrainingConfig
from engine.training.network.recomputing import blocks_of, recompute_blocks
from engine.training.setup import build_parts
from tests.engine.training.story import Killed, Story, kill, same

MODEL = """
import paddle
from paddle import nn

class Block(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.line = nn.Linear(width, width)
        self.norm = nn.BatchNorm1D(width)
        self.drop = nn.Dropout(0.2)

    def forward(self, x):
        y = self.drop(nn.functional.gelu(self.norm(self.line(x))))
        if y.mean() > 1e6:
            y = y * 0.0
        return x + y

class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.first = nn.Linear(784, 16)
        self.blocks = nn.Sequential(Block(16), Block(16), nn.Sequential(nn.Linear(16, 16), nn.Tanh()))
        self.last = nn.Linear(16, 10)

    def forward(self, x):
        return self.last(self.blocks(self.first(self.flatten(x))))
"""


def _names(network: Any) -> list[str]:
    named = {id(layer): name for name, layer in network.named_sublayers()}
    return [named[id(block)] for block in blocks_of(network)]


def test_blocks_are_those_that_stand_side_by_side() -> None:
    with paddle.LazyGuard():  # without its 45 MB of weights
        resnet = vision.models.resnet18()
    assert _names(resnet)[:3] == ["layer1.0", "layer1.1", "layer2.0"]
    assert _names(vision.models.LeNet()) == ["features", "fc"]
    layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 8), 3)
    assert _names(nn.Sequential(nn.Linear(8, 8), layers)) == ["1.layers.0", "1.layers.1", "1.layers.2"]
    # Its two attentions are parts of a layer of the decoder.
    whole = nn.Transformer(8, 2, 1, 2, 8)
    assert _names(whole) == ["encoder", "decoder.layers.0", "decoder.layers.1"]
    unused = nn.LayerList([nn.Linear(2, 2)])
    assert blocks_of(nn.Sequential(nn.Linear(2, 2), nn.ReLU(), unused)) == []


def test_a_network_without_blocks_is_refused(bars: Path) -> None:
    with pytest.raises(ArgumentError, match="Linear has 0 blocks that could be computed again"):
        build_parts(TrainingConfig(data=str(bars), model="linear", recompute=True))
    network = vision.models.LeNet()
    recompute_blocks(network)
    assert network.features._around is recompute
    assert network._around is None


CHAIN = """
import paddle
from paddle import nn

class Doubled(nn.Layer):
    def forward(self, x):
        if x.mean() > 1e6:
            x = x * 0.0
        return x + x

class Net(nn.Sequential):
    def __init__(self):
        layers = [nn.Flatten(), nn.Linear(784, 16)]
        for n in range(5):
            layers += [nn.Linear(16, 16), nn.BatchNorm1D(16), nn.Tanh(), nn.Dropout(0.2)]
        super().__init__(*layers, Doubled(), nn.Linear(16, 10))
"""


@pytest.mark.parametrize("static", [True, False])
def test_a_chain_of_layers_is_cut_into_segments(bars: Path, tmp_path: Path, static: bool) -> None:
    (tmp_path / "net.py").write_text(CHAIN)
    found = {}
    for on in (False, True):
        story = Story(
            bars,
            tmp_path / str(on),
            model=f"{tmp_path / 'net.py'}:Net",
            static=static,
            recompute=on,
            optimizer="adam",
            learning_rate=0.01,
        )
        story.train({})
        found[on] = story
    assert found[True].losses() == found[False].losses()
    assert same(found[True], found[False])


def test_segments_of_a_chain_run_again_but_for_the_last(bars: Path, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(CHAIN)
    model = f"{tmp_path / 'net.py'}:Net"
    parts = build_parts(TrainingConfig(data=str(bars), model=model, static=False, recompute=True))
    calls: list[int] = []
    for n, layer in enumerate(parts.stepper.network.children()):
        layer.register_forward_pre_hook(lambda *_, n=n: calls.append(n))
    images, labels = next(iter(parts.batches))
    parts.stepper.train(images, labels)
    count = len(list(parts.stepper.network.children()))
    assert count == 24
    assert calls == [*range(count), *(n for at in (15, 10, 5, 0) for n in range(at, at + 5))]


@pytest.mark.parametrize("static", [True, False])
def test_a_training_and_its_resume_are_the_same_to_the_bit(bars: Path, tmp_path: Path, static: bool) -> None:
    (tmp_path / "net.py").write_text(MODEL)

    def story(name: str, on: bool) -> Story:
        return Story(
            bars,
            tmp_path / name,
            model=f"{tmp_path / 'net.py'}:Net",
            static=static,
            recompute=on,
            checkpoint_every=2,
            optimizer="adam",
            learning_rate=0.01,
        )

    plain, again, killed, resumed = (
        story("plain", False),
        story("again", True),
        story("killed", True),
        story("killed", True),
    )
    plain.train({})
    again.train({})
    assert len(plain.losses()) >= 4
    assert again.losses() == plain.losses()
    assert same(again, plain)
    with pytest.raises(Killed):
        killed.train({3: kill})
    resumed.train({}, resume=True)
    assert same(resumed, plain)


def test_a_block_runs_again_for_the_gradients_only(bars: Path, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(MODEL)
    model = f"{tmp_path / 'net.py'}:Net"
    parts = build_parts(TrainingConfig(data=str(bars), model=model, static=False, recompute=True))
    calls: list[int] = []
    for n, block in enumerate(parts.stepper.network.blocks):
        next(iter(block.children())).register_forward_pre_hook(lambda *_, n=n: calls.append(n))
    images, labels = next(iter(parts.batches))
    parts.stepper.train(images, labels)
    assert calls == [0, 1, 2, 2, 1, 0]
    calls.clear()
    parts.stepper.check(images, parts.classes)
    assert calls == [0, 1, 2]
