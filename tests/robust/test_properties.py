"""Random states, journals, projects, settings and preferences come back as they were saved.

Also: a DataLoader with workers keeps the order, and a training resumed at any step ends as one that was not
interrupted. The examples are the same in every run; ``--long`` tries 50 times
as many.
"""

from __future__ import annotations

import dataclasses
import math
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.files.journal import JournalWriter, pack_run, read_journal, read_run
from engine.io import DataLoader, Dataset
from engine.training import TrainingConfig, TrainingRun
from studio.session.project.project_file import (
    Preferences,
    Project,
    read_preferences,
    read_project,
    write_preferences,
    write_project,
)
from studio.session.train.run_settings import RunSettings
from tests.robust.small_training import difference, final
from tests.trials import trials

LONG = bool(os.environ.get("MODEL_STUDIO_LONG"))


# ----- states ----------------------------------------------------------------------------------------------

DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
odd_texts = texts | st.sampled_from(
    ["", ".", "..", "/", "a/b", "\0", "\n", "a\0b", "a" * 300, "é", "é", "权重", "💾"]
)


@st.composite
def tensors(draw: Any) -> Any:
    """A Tensor of any dtype: 0-d, empty, or a view that is not contiguous."""
    name = draw(st.sampled_from(DTYPES))
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=4)))
    seed = draw(st.integers(0, 2**31))
    random = np.random.default_rng(seed)
    values = random.standard_normal(shape) * 100
    if name.startswith("complex"):
        values = values + 1j * random.standard_normal(shape)
    if name in ("float16", "float32", "float64") and values.size:
        values.reshape(-1)[0] = draw(st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, 1e-310]))
    stored = "float32" if name == "bfloat16" else name
    tensor = engine.to_tensor(np.abs(values).astype("uint8") if name == "uint8" else values.astype(stored))
    if name == "bfloat16":
        tensor = tensor.astype("bfloat16")
    change = draw(st.sampled_from(["none", "transpose", "slice", "flip"]))
    if change == "transpose" and tensor.ndim > 1:
        tensor = tensor.transpose(list(range(tensor.ndim))[::-1])
    elif change == "slice" and tensor.ndim and tensor.shape[0] > 1:
        tensor = tensor[::2]
    tensor.stop_gradient = draw(st.booleans()) or not name.startswith("float")
    return tensor


plain = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | odd_texts
keys = odd_texts | st.integers(-(2**63), 2**63 - 1)
states = st.recursive(
    tensors() | plain,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4) | st.tuples(inner, inner)
    ),
    max_leaves=10,
)


def same(one: Any, other: Any) -> bool:
    """Equal in value, type, dtype and sign of zero."""
    if isinstance(one, engine.Tensor):
        return (
            isinstance(other, engine.Tensor)
            and one.dtype == other.dtype
            and list(one.shape) == list(other.shape)
            and one.numpy().tobytes() == other.numpy().tobytes()
        )
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float):
        return np.float64(one).tobytes() == np.float64(other).tobytes() or (one != one and other != other)
    return bool(one == other)


@trials(16)
@given(st.dictionaries(keys, states, max_size=5))
def test_a_state_comes_back(state: dict[Any, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/a.pdparams"
        engine.save(state, path)
        found = engine.load(path)
        assert same(state, found), (state, found)
        engine.save(found, path)
        assert same(state, engine.load(path))


# ----- journals --------------------------------------------------------------------------------------------

numbers = st.integers(-(2**63), 2**63 - 1) | st.floats()
json_values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
events = st.builds(
    lambda event, step, rest: {"event": event, "step": step, **rest},
    st.sampled_from(["step", "epoch", "finished", "other"]),
    st.integers(0, 10**18),
    st.dictionaries(
        texts.filter(lambda name: name not in ("event", "step", "epoch")), json_values, max_size=4
    ),
)


def through_json(value: Any) -> Any:
    """What a journal makes of the value: the words for what is not finite are numbers there."""
    words = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
    if isinstance(value, str):
        return words.get(value, value)
    if isinstance(value, list):
        return [through_json(item) for item in value]
    if isinstance(value, dict):
        return {name: through_json(item) for name, item in value.items()}
    return value


@trials(12)
@given(
    st.lists(events, max_size=8),
    st.integers(0, 8),
    st.binary(max_size=20).filter(lambda tail: b"\n" not in tail),
)
def test_a_journal_comes_back(written: list[dict[str, Any]], at: int, torn: bytes) -> None:
    """Also where a part of a line was left in the middle, and from the packed run."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "journal.jsonl")
        with JournalWriter(path) as writer:
            for event in written[:at]:
                writer.write(event)
        path.write_bytes(path.read_bytes() + b"{" + torn)
        with JournalWriter(path) as writer:
            assert writer.cut == b"{" + torn
            for event in written[at:]:
                writer.write(event)
        if not written:
            return
        expected = through_json(written)
        found = read_journal(path)
        assert not found.notes
        assert same(found.events, expected)
        pack_run(folder)
        packed = read_run(folder)
        path.unlink()
        alone = read_run(folder)
        for record in (packed, alone):
            for kind in {event["event"] for event in expected}:
                of_kind = [event["step"] for event in expected if event["event"] == kind]
                assert record.columns[kind]["step"].tolist() == of_kind
        assert same(packed.events, alone.events)


# ----- projects, preferences, settings ---------------------------------------------------------------------


@st.composite
def run_settings(draw: Any) -> RunSettings:
    """Settings of the right types; their ranges are the form's to check."""
    chosen: dict[str, Any] = {}
    defaults = RunSettings().as_dict()
    for name in draw(st.lists(st.sampled_from(sorted(RunSettings().as_dict())), unique=True)):
        default = defaults[name]
        if isinstance(default, bool):
            chosen[name] = draw(st.booleans())
        elif isinstance(default, int):
            chosen[name] = draw(st.integers(0, 2**31))
        elif isinstance(default, float):
            chosen[name] = draw(st.floats(allow_nan=False, allow_infinity=False))
        elif isinstance(default, str):
            chosen[name] = draw(texts)
    return dataclasses.replace(RunSettings(), **chosen)


@trials(12)
@given(run_settings(), texts, texts)
def test_a_project_comes_back(chosen: RunSettings, name: str, runs: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "p.studio.json")
        project = Project(name=name, settings=chosen, runs=runs)
        write_project(path, project)
        assert read_project(path) == project


@trials(16)
@given(
    st.sampled_from(["system", "light", "dark"]),
    st.lists(texts, max_size=3),
    st.lists(texts, max_size=3),
    st.lists(texts, max_size=3),
)
def test_preferences_come_back(theme: Any, projects: list[str], models: list[str], agreed: list[str]) -> None:
    preferences = Preferences(theme=theme, recent_projects=projects, recent_models=models, agreed=agreed)
    write_preferences(preferences)
    assert read_preferences() == (preferences, "")


# ----- loading and resuming --------------------------------------------------------------------------------


class Numbers(Dataset):
    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        return np.full((2,), index, np.int64)


@trials(6)
@given(
    st.integers(1, 20),
    st.integers(1, 7),
    st.integers(1, 3),
    st.booleans(),
    st.booleans(),
    st.integers(0, 2**31),
)
def test_workers_keep_the_order(
    count: int, batch: int, workers: int, shuffle: bool, drop: bool, seed: int
) -> None:
    """A shuffled order is that of any other number of workers: the seed of workers is drawn before it."""

    def seen(number: int) -> list[list[int]]:
        np.random.seed(seed)
        loader = DataLoader(
            Numbers(count), batch_size=batch, shuffle=shuffle, drop_last=drop, num_workers=number
        )
        return [part.numpy().tolist() for part in loader]

    assert seen(workers) == seen(1 if shuffle else 0)


@trials(3)
@given(st.integers(0, 2**31), st.integers(1, 5))
def test_a_resume_at_any_step_is_no_interruption(few: Path, model: str, seed: int, stop: int) -> None:
    """Stopped after any step, twice: weights, optimizer and random numbers are the same bits."""
    with tempfile.TemporaryDirectory() as folder:
        config = TrainingConfig(
            data=str(few),
            model=model,
            batch_size=8,
            epochs=4,
            seed=seed,
            static=False,
            learning_rate=0.01,
            checkpoint_every=1,
        )
        whole = Path(folder, "whole")
        TrainingRun(config.changed(out=str(whole))).run()
        parts = Path(folder, "parts")
        run = TrainingRun(config.changed(out=str(parts)))
        for at in (stop, stop + 2):

            def listen(event: Any, run: TrainingRun = run, at: int = at) -> None:
                if event["event"] == "checkpoint" and event["step"] == at:
                    run.interrupt()

            run.listeners.append(listen)
            run.run()
            run = TrainingRun.from_folder(parts)
        run.run()
        assert not difference(final(parts), final(whole))
