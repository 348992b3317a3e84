"""Thresholds of activations: each algorithm against a plain loop over its definition, and what all share."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from engine.core.errors import ArgumentError, ModeError, NotFiniteError
from engine.quantization.calibration import ALGORITHMS


def found(name: str, batches: Iterable[Any], bits: int = 8, **options: Any) -> float:
    calibrator = ALGORITHMS[name](bits, **options)
    batches = list(batches)
    for batch in batches:
        calibrator.collect(batch)
    if calibrator.passes == 2:
        for batch in batches:
            calibrator.collect_again(batch)
    return calibrator.threshold()


def drawn(kind: str, seed: int = 0, batches: int = 3, size: tuple[int, ...] = (8, 300)) -> list[np.ndarray]:
    random = np.random.default_rng(seed)
    draw = {
        "normal": random.standard_normal,
        "relu": lambda size: np.maximum(random.standard_normal(size), 0),
        "long": lambda size: random.standard_normal(size) ** 5,
        "even": random.random,
    }[kind]
    return [draw(size).astype(np.float32) for _ in range(batches)]


KINDS = ["normal", "relu", "long", "even"]


@pytest.mark.parametrize("kind", KINDS)
def test_maxima(kind: str) -> None:
    batches = drawn(kind)
    peaks = [[float(np.abs(sample).max()) for sample in batch] for batch in batches]
    assert found("abs_max", batches) == max(max(of) for of in peaks)
    assert found("avg", batches) == pytest.approx(np.mean([np.mean(of) for of in peaks]))
    assert found("min_max", batches) == max(max(of) for of in peaks)


def test_min_max_reports_both_ends() -> None:
    calibrator = ALGORITHMS["min_max"]()
    for batch in ([[-3.0, 1.0]], [[0.5, 2.0]]):
        calibrator.collect(np.array(batch))
    assert calibrator.range() == (-3.0, 2.0)  # type: ignore[attr-defined]
    assert calibrator.threshold() == 3.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("percent", [0.9, 0.9999, 1.0])
def test_hist_is_the_middle_of_the_bin_that_reaches_the_share(kind: str, percent: float) -> None:
    batches = drawn(kind)
    values = np.sort(np.abs(np.concatenate(batches).ravel()).astype(np.float64))
    width = values[-1] / 2048
    reached = values[max(0, math.ceil(percent * len(values)) - 1)]
    bin_of_it = min(2047, int(reached / width))
    assert found("hist", batches, hist_percent=percent) == pytest.approx((bin_of_it + 0.5) * width, abs=1e-6)


def divergence_by_loops(counts: list[int], levels: int) -> int:
    """The best cut from its definition: one cut after the other, with whole distributions."""
    best, best_cut, total = math.inf, 0, sum(counts)
    last = len(counts) + (counts[-1] > 0.01 * total)
    for cut in range((len(counts) - 1) // 2, last):
        if cut < 1 or not counts[cut - 1]:
            continue
        p = counts[:cut]
        p[-1] += sum(counts[cut:])
        q = [0.0] * cut
        each = cut // levels
        for level in range(levels):
            group = range(level * each, cut if level == levels - 1 else (level + 1) * each)
            filled = [i for i in group if counts[i]]
            for i in filled:
                q[i] = sum(counts[j] for j in group) / len(filled)
        mass = sum(q)
        divergence = sum(
            a / total * math.log((a / total) / (b / mass)) for a, b in zip(p, q, strict=True) if a
        )
        if divergence < best - 1e-12:
            best, best_cut = divergence, cut
    return best_cut


@pytest.mark.parametrize("bits", [2, 3, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_kl_against_loops(kind: str, bits: int) -> None:
    batches = drawn(kind, batches=2)
    values = np.abs(np.concatenate(batches).ravel())
    counts = np.histogram(values, bins=128, range=(0, values.max()))[0]
    cut = divergence_by_loops(counts.tolist(), 2 ** (bits - 1) - 1)
    expected = min(cut + 0.5, 128) * values.max() / 128
    assert found("paddle_KL", batches, bits, bins=128) == pytest.approx(expected, rel=1e-6)
    cut = divergence_by_loops([0, *counts[1:].tolist()], 2 ** (bits - 1) - 1)
    expected = min(cut + 0.5, 128) * values.max() / 128
    assert found("KL", batches, bits, bins=128) == pytest.approx(expected, rel=1e-6)


def pixels() -> np.ndarray:
    """Four fifths black, the others mostly dark or light."""
    random = np.random.default_rng(3)
    light = np.round(random.beta(0.5, 0.5, 40_000) * 255) / 255
    return np.where(random.random(40_000) < 0.8, 0, light).astype("float32")


def rectified() -> np.ndarray:
    random = np.random.default_rng(4)
    return np.maximum(random.standard_normal(40_000) * 1.5 - 1, 0).astype("float32")


def test_kl_does_not_count_zeros_which_paddle_does() -> None:
    """Recorded with cal_kl_threshold of Paddle 2.6.2, which is given the first bin, or 0 instead."""
    assert found("paddle_KL", [pixels()]) == pytest.approx(0.557373046875)
    assert found("KL", [pixels()]) == 1.0  # 0.996337890625, where white may not stay white
    assert found("paddle_KL", [rectified()]) == pytest.approx(2.7104166311910376, rel=1e-6)
    assert found("KL", [rectified()]) == pytest.approx(4.50468629936222, rel=1e-6)


def test_kl_cuts_a_long_tail_and_keeps_an_even_spread() -> None:
    long, even = drawn("long"), drawn("even")
    assert found("KL", long) < 0.9 * found("abs_max", long)
    assert found("KL", even) > 0.9 * found("abs_max", even)


def test_kl_where_nothing_lies_in_the_upper_half() -> None:
    """No cut there has a filled bin before it, so the one behind the lower values is taken."""
    values = np.concatenate([np.linspace(0.0, 0.25, 100_000), [1.0]])
    assert found("KL", [values]) == pytest.approx(513.5 / 2048)


@pytest.mark.parametrize("levels", [[-1.0, 1.0], [0.0, 1.0], [-1.0, 0.6, 1.0]])
@pytest.mark.parametrize("name", ["KL", "hist"])
def test_values_of_few_levels_are_not_cut_off(name: str, levels: list[float]) -> None:
    """Images in black and white."""
    values = np.random.default_rng(0).choice(np.array(levels, np.float32), size=(4, 500))
    assert found(name, [values]) > 0.99


@pytest.mark.parametrize("name", ["mse", "emd"])
@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("kind", ["normal", "relu", "long"])
def test_searches_take_the_candidate_of_the_least_loss(kind: str, bits: int, name: str) -> None:
    highest = 2 ** (bits - 1) - 1
    best = (math.inf, 0.0)
    for batch in drawn(kind):
        x = batch.astype(np.float64)
        for i in range(35):
            s = (0.3 + 0.02 * i) * float(np.abs(batch).max())
            y = np.clip(np.round(x / s * highest), -highest - 1, highest) / highest * s
            loss = (
                ((x - y) ** 2).mean() if name == "mse" else abs(x.mean() - y.mean()) + abs(x.std() - y.std())
            )
            best = min(best, (float(loss), s))
    # The same candidate, or one that float32 can't tell from it.
    assert found(name, drawn(kind), bits) == pytest.approx(best[1], rel=1e-5)


@pytest.mark.parametrize("name", ALGORITHMS)
class TestAll:
    def test_the_threshold_lies_within_the_values(self, name: str) -> None:
        batches = drawn("normal")
        assert 0.2 * found("abs_max", batches) < found(name, batches) <= found("abs_max", batches)

    @pytest.mark.parametrize("bits", [2, 9, 16])
    def test_bits(self, name: str, bits: int) -> None:
        batches = drawn("normal", size=(4, 50))
        assert 0.0 < found(name, batches, bits) <= found("abs_max", batches)

    @pytest.mark.parametrize("bits", [1, 17, 8.0, True, None])
    def test_bits_that_are_none(self, name: str, bits: Any) -> None:
        with pytest.raises(ArgumentError, match="from 2 to 16"):
            ALGORITHMS[name](bits)

    def test_a_multiple_of_the_values_has_that_multiple_as_threshold(self, name: str) -> None:
        batches = drawn("relu")
        assert found(name, [4 * b for b in batches]) == pytest.approx(4 * found(name, batches), rel=1e-6)

    def test_zeros(self, name: str) -> None:
        assert found(name, [np.zeros((2, 3))] * 2) == 0.0

    def test_a_batch_of_zeros_among_others_changes_no_search(self, name: str) -> None:
        batches = drawn("normal", batches=1)
        assert found(name, [*batches, np.zeros((1, 3), np.float32)]) > 0.2 * float(np.abs(batches[0]).max())

    def test_other_dtypes_and_shapes(self, name: str) -> None:
        for batch in (np.arange(-8, 9), np.arange(17, dtype=np.float16).reshape(1, 17), np.float64(2.5)):
            assert found(name, [batch]) > 0.0

    def test_nan_and_infinity(self, name: str) -> None:
        calibrator = ALGORITHMS[name]()
        with pytest.raises(NotFiniteError, match="1 of 3 values of a batch are nan or infinite"):
            calibrator.collect(np.array([1.0, np.nan, 2.0]))
        with pytest.raises(NotFiniteError, match="2 of 3 values"):
            calibrator.collect(np.array([-np.inf, np.inf, 2.0]))

    def test_no_batch_is_kept(self, name: str) -> None:
        calibrator, (batch,) = ALGORITHMS[name](), drawn("relu", batches=1)
        calibrator.collect(batch)
        if calibrator.passes == 2:
            calibrator.collect_again(batch)
        gone = weakref.ref(batch)
        del batch
        assert gone() is None

    def test_nothing_collected(self, name: str) -> None:
        calibrator = ALGORITHMS[name]()
        calibrator.collect(np.zeros((0, 3)))
        with pytest.raises(ArgumentError, match="no values were collected"):
            calibrator.threshold()

    def test_passes(self, name: str) -> None:
        calibrator = ALGORITHMS[name]()
        assert calibrator.passes == (2 if name in ("KL", "paddle_KL", "hist") else 1)
        with pytest.raises(ModeError, match="has one pass" if calibrator.passes == 1 else "not known yet"):
            calibrator.collect_again(np.ones(3))


@pytest.mark.parametrize("name", ["KL", "hist"])
def test_two_passes_are_needed(name: str) -> None:
    calibrator = ALGORITHMS[name]()
    calibrator.collect(np.ones(3))
    with pytest.raises(ModeError, match="collect_again"):
        calibrator.threshold()


def test_options_that_make_no_sense() -> None:
    with pytest.raises(ArgumentError, match=r"hist_percent 1\.5"):
        ALGORITHMS["hist"](8, hist_percent=1.5)
    with pytest.raises(ArgumentError, match="bins"):
        ALGORITHMS["KL"](8, bins=1)


def test_bins_begin_at_0_where_paddles_begin_at_the_smallest_value() -> None:
    """Paddle 2.6.2 finds 0.6998108 for both, the threshold without the 0.3 that its bins begin at."""
    values = np.random.default_rng(0).uniform(0.3, 1, 40_000).astype(np.float32)
    for name in ("paddle_KL", "KL", "hist"):
        assert found(name, [values]) == pytest.approx(0.9997536, rel=1e-6)
