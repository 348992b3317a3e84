"""Small saved models of tables and sequences whose answers are known, for tests of predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import engine
from engine import nn
from engine.jit import save
from engine.static import InputSpec
from engine.training.sources.spec import Column, DataSpec

HOUSE = (
    Column("id", "excluded", "number"),
    Column("size (m2)", "input", "number", fill=80.0, unit="m2"),
    Column("colour", "input", "word", words=("blue", "green", "red")),
    Column("rooms", "input", "number", fill=3.0),
    Column("price [EUR]", "target", "number", unit="EUR"),
)
PRICES = DataSpec("table", "numbers", (3,), (), ("price [EUR]",), HOUSE)
KINDS = DataSpec("table", "classes", (3,), ("small", "large"), (), HOUSE[:-1])
WAVES = DataSpec("sequences", "classes", (4, 3), ("down", "up"), masked=True)


class Prices(nn.Layer):
    """1000 for each square metre, 10 for each room, 1 for the index of the colour."""

    def forward(self, x: Any) -> Any:
        return (x * engine.to_tensor([1000.0, 1.0, 10.0])).sum(axis=1, keepdim=True)


class Kinds(nn.Layer):
    """Large above 100 square metres."""

    def forward(self, x: Any) -> Any:
        over = x[:, 0] - 100.0
        return engine.stack([-over, over], axis=1)


class Waves(nn.Layer):
    """Up where the sum of the first values is above 0, for each step that is not padding."""

    def forward(self, x: Any) -> Any:
        total = (x[:, :, 0] * x[:, :, 2]).sum(axis=1)
        return engine.stack([-total, total], axis=1)


MODELS = {"prices": (Prices, PRICES), "kinds": (Kinds, KINDS), "waves": (Waves, WAVES)}


def saved_model(name: str, folder: Path) -> str:
    """The prefix of one of ``MODELS``, saved into ``folder``."""
    layer, spec = MODELS[name]
    info = {"data_spec": spec.as_plain(), "classes": list(spec.classes), "data": "by hand"}
    prefix = str(folder / name)
    save(layer(), prefix, input_spec=[InputSpec([None, *spec.shape], "float32", "x")], info=info)
    return prefix
