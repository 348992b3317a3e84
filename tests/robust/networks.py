"""Small networks and trainings whose files are the corpus of the fuzz."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import engine as paddle
import engine.nn.functional as F
from engine import nn, optimizer
from engine.files.checkpoint import write_checkpoint
from engine.files.journal import pack_run
from engine.io import DataLoader, TensorDataset
from engine.training.config import TrainingConfig
from engine.training.folder.checkpointing import checkpoint_tree
from engine.training.reporting.progress import History, Progress
from engine.training.setup import Parts
from engine.training.stepper import Stepper
from tests.engine.quantized_nets import small_net

CLASSES = ["a", "b", "c"]
EVENTS: list[dict[str, Any]] = [
    {
        "event": "started",
        "time": 1.0e9,
        "config": TrainingConfig().as_dict(),
        "folder": "r",
        "step": 0,
        "epoch": 1,
        "steps_per_epoch": 2,
        "total_steps": 4,
        "classes": ["a", "b"],
        "parameters": 7,
    },
    {"event": "step", "time": 1.0e9, "step": 1, "loss": 2.5, "accuracy": 0.5},
    {"event": "step", "time": 1.0e9, "step": 2, "loss": "NaN", "accuracy": 0.5},
    {
        "event": "epoch",
        "time": 1.0e9,
        "step": 2,
        "epoch": 1,
        "train_loss": 2.0,
        "validation_loss": 2.1,
        "train_accuracy": 0.5,
        "validation_accuracy": 0.5,
        "confusion": [[1, 0], [1, 2]],
        "best": True,
    },
    {"event": "finished", "time": 1.0e9, "step": 2, "best_accuracy": 0.5, "reason": "done"},
]


class Pictures(nn.Layer):
    """A classifier of digits with every kind of layer that such a network has."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2D(1, 2, 5, stride=4)
        self.norm = nn.BatchNorm2D(2)
        self.linear = nn.Linear(8, 3)

    def forward(self, x: Any) -> Any:
        x = F.max_pool2d(F.relu(self.norm(self.conv(x))), 3)
        return self.linear(F.dropout(paddle.flatten(x, 1), 0.1))


class Branches(nn.Layer):
    """Loops, branches, indices and a second method."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    @paddle.jit.to_static(input_spec=[paddle.static.InputSpec([None, 4], "float32", "x")])
    def forward(self, x: Any) -> Any:
        y = self.linear(x)
        if y.sum() > 0:
            y = y * 2.0
        else:
            y = y[:, ::-1] - 1.0
        step = paddle.zeros([], "int64")
        while step < 3:
            y = paddle.tanh(y + step.astype("float32"))
            step += 1
        return paddle.concat([y, x], axis=1)

    @paddle.jit.to_static(input_spec=[paddle.static.InputSpec([None, 4], "float32", "x")])
    def encode(self, x: Any) -> Any:
        return self.linear(x).clip(0.0, 1.0)


class Words(nn.Layer):
    """A recurrent network, attention, and operators whose attributes are shapes."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(7, 4)
        self.rnn = nn.GRU(4, 4)

    def forward(self, words: Any) -> Any:
        y, _ = self.rnn(self.embedding(words))
        scores = F.softmax(paddle.matmul(y, y, transpose_y=True))
        y = paddle.matmul(scores, y).reshape([0, -1]).unsqueeze(1).expand([-1, 2, -1])
        first, second = paddle.split(y, [2, -1], axis=2)
        values, places = paddle.topk(second, 2)
        mask = paddle.tril(paddle.ones([2, 2])) + paddle.arange(2, dtype="float32")
        padded = F.pad(first, [1, 1], data_format="NCL")
        return (
            padded.sum([1, 2])
            + paddle.einsum("bij,jk->b", values, mask)
            + places.astype("float32").mean([1, 2])
        )


def tiny_parts() -> tuple[TrainingConfig, Parts]:
    """A training of eight weights."""
    network = nn.Sequential(nn.Flatten(), nn.Linear(4, 2))
    rule = optimizer.Momentum(0.1, parameters=network.parameters())
    data = TensorDataset([paddle.ones([6, 1, 2, 2]), paddle.zeros([6, 1], "int64")])
    batches = DataLoader(data, batch_size=2, shuffle=True)
    stepper = Stepper(network, rule, False, (1, 2, 2))
    return TrainingConfig(), Parts(stepper, batches, batches, ("a", "b"), 6, 6, shape=(1, 2, 2))


def save_samples(folder: Path) -> None:
    """Write the files of the models, of a state, of a training Program and of a run."""
    paddle.seed(1)
    spec = paddle.static.InputSpec
    networks: dict[str, tuple[nn.Layer, list[Any] | None]] = {
        "pictures": (Pictures(), [spec([None, 1, 28, 28], "float32", "x")]),
        "branches": (Branches(), None),
        "words": (Words(), [spec([None, 3], "int64", "words")]),
        "quantized": (small_net(), [spec([None, 1, 12, 12], "float32", "x")]),
    }
    info = {"classes": CLASSES, "scaling": {"mean": 0.5, "std": 0.5}, "validation_accuracy": 0.5}
    for name, (network, specs) in networks.items():
        network.eval()
        paddle.jit.save(network, str(folder / name), input_spec=specs, info=info)
    state = {
        "w": paddle.ones([2, 3]),
        "lr": 0.5,
        "list": [1, (2.5, "x")],
        "numbers": {1: np.float32(2), "b": b"a"},
        "whole": np.arange(3),
        "logic": np.array([True, False]),
        "z": np.array([1 + 2j], "complex64"),
        "parameter": nn.Linear(1, 1).weight,
    }
    paddle.save(state, str(folder / "state.pdparams"))
    _training(folder)
    _run(folder)


def _training(folder: Path) -> None:
    paddle.enable_static()
    try:
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            x = paddle.static.data("x", [None, 4])
            hidden = paddle.static.nn.fc(x, 3, activation="relu")
            loss = paddle.static.nn.cond(hidden.mean() > 0, lambda: hidden.mean(), lambda: hidden.sum())
            optimizer.Adam(0.1).minimize(loss)
        executor = paddle.static.Executor()
        executor.run(startup)
        executor.run(main, feed={"x": np.ones((2, 4), "float32")})
        paddle.static.save(main, str(folder / "training"))
    finally:
        paddle.disable_static()


def _run(folder: Path) -> None:
    run = folder / "run"
    run.mkdir()
    lines = b"".join(json.dumps(event).encode() + b"\n" for event in EVENTS)
    (run / "journal.jsonl").write_bytes(lines)
    pack_run(run)
    config, parts = tiny_parts()
    parts.stepper.train(paddle.ones([2, 1, 2, 2]), paddle.zeros([2, 1], "int64"))
    history = History()
    history.epochs.append({"epoch": 1, "step": 2, "train_loss": 2.0})
    progress = Progress(epochs=2, steps_per_epoch=3, step=2, step_in_epoch=2, best_step=2, best_accuracy=0.5)
    write_checkpoint(run / "checkpoints", 2, checkpoint_tree(config, progress, history, parts))
    (run / "project.studio.json").write_text('{"name": "p", "version": 1, "runs": "runs"}\n')
