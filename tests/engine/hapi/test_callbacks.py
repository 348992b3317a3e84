"""Callbacks that write, and those of the learning rate."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import callbacks, nn
from engine.core.errors import MissingExtraError
from engine.hapi.callbacks.bar import Bar, _duration

BATCH = (np.ones((4, 4), "float32"), np.ones((4, 1), "int64"))


def model(rate: Any = 0.5) -> paddle.Model:
    made = paddle.Model(nn.Linear(4, 3))
    made.prepare(
        paddle.optimizer.SGD(rate, parameters=made.parameters()),
        nn.CrossEntropyLoss(),
        paddle.metric.Accuracy(),
    )
    return made


def test_the_public_module_has_the_classes_of_the_room() -> None:
    from engine.hapi import callbacks as own

    assert callbacks.__all__ == own.__all__
    assert all(getattr(callbacks, name) is getattr(own, name) for name in own.__all__)


def test_visual_dl_writes_plain_lines(tmp_path: Path) -> None:
    made = model()
    made.fit([BATCH] * 2, [BATCH], epochs=2, verbose=0, callbacks=callbacks.VisualDL(str(tmp_path / "log")))
    lines = [json.loads(line) for line in (tmp_path / "log" / "scalars.jsonl").read_text().splitlines()]
    assert [(line["tag"], line["step"]) for line in lines] == [
        ("train/loss", 1),
        ("train/acc", 1),
        ("train/loss", 2),
        ("train/acc", 2),
        ("eval/loss", 0),
        ("eval/acc", 0),
        ("train/loss", 3),
        ("train/acc", 3),
        ("train/loss", 4),
        ("train/acc", 4),
        ("eval/loss", 1),
        ("eval/acc", 1),
    ]
    losses = [line["value"] for line in lines if line["tag"] == "train/loss"]
    assert losses == sorted(losses, reverse=True)
    made.evaluate([BATCH], verbose=0, callbacks=callbacks.VisualDL(str(tmp_path / "log")))
    assert len((tmp_path / "log" / "scalars.jsonl").read_text().splitlines()) == 14


def test_wandb_is_asked_for_and_given_steps_and_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(MissingExtraError, match="pip install wandb"):
        callbacks.WandbCallback(project="p")

    seen: list[Any] = []

    class Run:
        def log(self, values: dict[str, Any]) -> None:
            seen.append({k: v for k, v in values.items() if "loss" not in k})

        def define_metric(self, *names: Any, **options: Any) -> None:
            seen.append((names, options))

        def finish(self) -> None:
            seen.append("finish")

    wandb: Any = types.ModuleType("wandb")
    wandb.run = None
    wandb.init = lambda **options: seen.append(options) or Run()
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    model().fit(
        [BATCH], [BATCH], verbose=0, callbacks=callbacks.WandbCallback("p", mode="offline", tags=["a"])
    )
    assert seen[0] == {
        "project": "p",
        "name": None,
        "entity": None,
        "dir": None,
        "mode": "offline",
        "job_type": None,
        "tags": ["a"],
    }
    assert seen[1:5] == [
        (("train/step",), {}),
        (("train/*",), {"step_metric": "train/step"}),
        (("epoch",), {}),
        (("eval/*",), {"step_metric": "epoch"}),
    ]
    assert [sorted(each) for each in seen[5:7]] == [["train/acc", "train/step"], ["epoch", "eval/acc"]]
    assert seen[7:] == ["finish"]


def worse(*values: float) -> Any:
    """A model whose evaluations give these losses, whatever it learns."""
    left = iter(values)

    class Loss(nn.Layer):
        def forward(self, out: Any, label: Any) -> Any:
            return out.sum() * 0.0 + (0.0 if made.mode == "train" else next(left))

    made = model()
    made.prepare(made._optimizer, Loss())
    return made


def test_a_plateau_reduces_the_rate_that_trains(capsys: Any) -> None:
    made = worse(3, 2, 2, 2, 2, 1, 1, 1)
    rates: list[float] = []

    class Rate(callbacks.Callback):
        def on_eval_end(self, logs: Any = None) -> None:
            rates.append(self.model._optimizer.get_lr())

    plateau = callbacks.ReduceLROnPlateau(patience=2, factor=0.5, cooldown=1, min_lr=0.2)
    made.fit([BATCH], [BATCH], epochs=8, verbose=0, callbacks=[plateau, Rate()])
    assert rates == [0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.2]
    out = capsys.readouterr().out
    assert "\nEpoch 4: ReduceLROnPlateau reducing learning rate to 0.25.\n" in out
    assert "\nEpoch 8: ReduceLROnPlateau reducing learning rate to 0.2.\n" in out


def test_unknown_monitors_raise_a_warning() -> None:
    with pytest.warns(UserWarning, match="Monitor of ReduceLROnPlateau should be loss or metric name"):
        model().fit([BATCH], [BATCH], verbose=0, callbacks=callbacks.ReduceLROnPlateau("foo"))
    with pytest.warns(UserWarning, match="Monitor of EarlyStopping should be loss or metric name"):
        model().fit([BATCH], [BATCH], verbose=0, callbacks=callbacks.EarlyStopping("foo"))
    with pytest.warns(UserWarning, match="mode q is unknown, fallback to auto mode"):
        assert callbacks.ReduceLROnPlateau(mode="q").mode == "auto"
    made = model(paddle.optimizer.lr.StepDecay(0.1, 5))
    with pytest.warns(UserWarning, match="follows StepDecay and is not reduced"):
        made.fit([BATCH], [BATCH], verbose=0, callbacks=callbacks.ReduceLROnPlateau())


def test_durations() -> None:
    assert [_duration(s) for s in (0.4, 59, 61, 3723)] == ["0s", "59s", "1:01", "1:02:03"]


def test_a_narrow_terminal_shortens_the_bar(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    Bar(4, 1).update(2, [("loss", [0.5])])
    assert capsys.readouterr().out.startswith("\rstep 2/4 [====>.....] - loss: 0.5000 - ETA: ")
