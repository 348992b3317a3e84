"""Batches for a GPU, on the stand-in for CuPy: the same as the CPU's, sent ahead, without a wait."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.place import place_guard
from engine.io import BatchSampler, DataLoader, Dataset, IterableDataset, WeightedRandomSampler
from tests.cupy_stand_in.counts import counted
from tests.cupy_stand_in.module import installed


@pytest.fixture(autouse=True)
def cupy() -> Iterator[Any]:
    with installed() as found, place_guard("gpu:0"):
        yield found


class Rows(Dataset):
    """Numbered rows; notes which were read, and can draw, or fail at one."""

    def __init__(self, count: int = 7, draw: Any = None, broken: int = -1) -> None:
        self.count, self.draw, self.broken = count, draw, broken
        self.read: list[int] = []

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        if index == self.broken:
            raise KeyError("no such row")
        self.read.append(index)
        noise = 0.0 if self.draw is None else self.draw()
        return {"x": np.full((2, 3), index + noise, np.float32), "y": (index, f"row {index}")}


def _values(batches: Any) -> list[Any]:
    return [(b["x"].numpy().tolist(), b["y"][0].numpy().tolist(), b["y"][1]) for b in batches]


def test_one_batch_ahead_without_a_wait() -> None:
    rows = Rows()
    with counted() as counts:
        batches = iter(DataLoader(rows, batch_size=2))
        first = next(batches)
        assert rows.read == [0, 1, 2, 3]
        second = next(batches)
        assert rows.read == [0, 1, 2, 3, 4, 5]
    assert counts.waits == 0
    assert counts.to_device == 6  # two fields of three batches
    assert first["x"].place == second["y"][0].place == paddle.CUDAPlace(0)
    with place_guard("cpu"):
        want = _values(DataLoader(Rows(), batch_size=2))
    assert _values([first, second, *batches]) == want


def test_copies_run_behind_what_reads_the_old_batch_and_before_what_reads_the_new(
    cupy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[tuple[str, Any]] = []
    before = cupy.cuda.Stream.record

    def record(self: Any, event: Any = None) -> Any:
        made = before(self, event)
        made.stream = self
        return made

    monkeypatch.setattr(cupy.cuda.Stream, "record", record)
    monkeypatch.setattr(
        cupy.cuda.Stream, "wait_event", lambda self, event: reported.append((self, event.stream))
    )
    computing = cupy.cuda.get_current_stream()
    batches = iter(DataLoader(Rows(), batch_size=2))
    next(batches)
    copying = reported[0][0]
    assert copying is not computing
    # The first is sent, then the second, and only then does the computing stream wait for the first.
    assert reported == [(copying, computing), (copying, computing), (computing, copying)]
    assert cupy.cuda.get_current_stream() is computing


@pytest.mark.parametrize(
    "draw",
    [random.random, np.random.random, lambda: float(paddle.rand([1]).numpy()[0])],
    ids=["random", "numpy", "engine"],
)
def test_random_numbers_come_in_the_order_of_batches_one_by_one(draw: Any) -> None:
    def run(ahead: bool) -> Any:
        paddle.seed(3)
        np.random.seed(3)
        random.seed(3)
        found = []
        for batch in DataLoader(Rows(draw=draw), batch_size=3, shuffle=True, use_buffer_reader=ahead):
            found.append((_values([batch]), np.random.random(), random.random(), paddle.rand([1]).tolist()))
        return found

    assert run(True) == run(False)


def test_a_loader_continues_in_mid_epoch() -> None:
    loader = DataLoader(Rows(), batch_size=2, shuffle=True)
    batches = iter(loader)
    next(batches)
    state = loader.state_dict()
    assert state["position"] == 1
    rest = _values(batches)
    again = DataLoader(Rows(), batch_size=2, shuffle=True)
    again.set_state_dict(state)
    assert _values(again) == rest


def test_an_error_comes_at_its_batch() -> None:
    batches = iter(DataLoader(Rows(broken=2), batch_size=2))
    assert _values([next(batches)])[0][1] == [0, 1]
    with pytest.raises(KeyError, match="no such row"):
        next(batches)


class Stream(IterableDataset):
    def __iter__(self) -> Iterator[np.ndarray]:
        yield from np.arange(5, dtype=np.float64)


def test_lazy_samplers_and_streams_are_not_prefetched() -> None:
    assert [b.numpy().tolist() for b in DataLoader(Stream(), batch_size=2)] == [[0, 1], [2, 3], [4]]
    rows = Rows()
    lazy = BatchSampler(sampler=list(range(7)), batch_size=2)  # another sampler may draw late
    next(iter(DataLoader(rows, batch_sampler=lazy)))
    assert rows.read == [0, 1]
    next(iter(DataLoader(rows, batch_size=2, use_buffer_reader=False)))
    assert rows.read == [0, 1, 0, 1]
    drawn = Rows()
    next(iter(DataLoader(drawn, batch_sampler=BatchSampler(sampler=WeightedRandomSampler([1, 1], 4)))))
    assert len(drawn.read) == 2


def test_places_and_workers() -> None:
    with place_guard("cpu"):
        loader = DataLoader(Rows(), places=[paddle.CUDAPlace(0)], batch_size=2, num_workers=1)
        found = list(loader)
    assert {batch["x"].place for batch in found} == {paddle.CUDAPlace(0)}
    assert [batch["y"][0].numpy().tolist() for batch in found] == [[0, 1], [2, 3], [4, 5], [6]]
    assert DataLoader(Rows(), places=paddle.CPUPlace()).__iter__().__next__()["x"].place.is_cpu_place()
