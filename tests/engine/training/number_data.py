"""Data with numbers to predict, made of arrays, for trainings in tests."""

from __future__ import annotations

import numpy as np

from engine.training.data import DataSplits
from engine.training.sources.preparing.prepare import Prepare, with_targets
from engine.training.sources.preparing.prepared import Prepared
from engine.training.sources.rows import ArrayTable, TableRows
from engine.training.sources.spec import Column, DataSpec


def number_arrays(count: int = 160, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Inputs [count, 3], and two targets of very different sizes that are linear in them but for noise."""
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(count, 3)).astype(np.float32)
    price = 500 + 100 * inputs[:, 0] - 50 * inputs[:, 1] + 5 * rng.normal(size=count)
    weight = 0.02 * inputs[:, 2] + 0.001 * rng.normal(size=count)
    return inputs, np.stack([price, weight], axis=1).astype(np.float32)


def number_splits(validation: bool = False) -> DataSplits:
    """100 rows for training, 60 for the test; or 30 of these for the validation."""
    inputs, targets = number_arrays()
    rows = TableRows(ArrayTable(inputs), np.zeros(len(inputs), np.int64), "numbers.npz:x")
    rows.targets = targets
    prepare = with_targets(Prepare(False), targets[:100])
    train, test, other = (
        Prepared(rows, np.arange(*part), (), prepare) for part in ((0, 100), (100, 130), (130, 160))
    )
    whole = Prepared(rows, np.arange(100, 160), (), prepare)
    columns = (
        *(Column(name, "input", "number") for name in "abc"),
        Column("price", "target", "number", unit="€"),
        Column("weight", "target", "number"),
    )
    spec = DataSpec("table", "numbers", (3,), (), ("price", "weight"), columns, samples=100)
    if validation:
        return DataSplits("numbers", train, test, (), (3,), prepare, spec, other)
    return DataSplits("numbers", train, whole, (), (3,), prepare, spec)
