"""Slopes of noisy series: what grows is found, what only wanders is not."""

import numpy as np
import pytest

from bench.slopes import BLOCKS, slope


def test_a_line_has_its_slope_and_no_error() -> None:
    found = slope([0.0, 1.0, 2.0, 3.0], [5.0, 7.0, 9.0, 11.0])
    assert (found.value, found.error, found.is_zero) == (2.0, 0.0, False)
    assert slope(range(50), [3.0] * 50).is_zero
    scaled = found.scaled(-0.5)
    assert (scaled.value, scaled.blocks) == (-1.0, 4)


def series(seed: int, growth: float, memory: float) -> list[float]:
    """400 values that grow, with noise that remembers the part ``memory`` of the value before."""
    rng, noise, found = np.random.default_rng(seed), 0.0, []
    for n in range(400):
        noise = memory * noise + rng.standard_normal()
        found.append(growth * n + noise)
    return found


@pytest.mark.parametrize("memory", [0.0, 0.7])
def test_noise_is_rarely_called_growth(memory: float) -> None:
    flagged = sum(not slope(range(400), series(seed, 0.0, memory)).is_zero for seed in range(300))
    assert flagged <= 12  # 3 of 300 expected, a little more where neighbours resemble each other


def test_growth_is_found_in_noise() -> None:
    assert all(not slope(range(400), series(seed, 0.01, 0.5)).is_zero for seed in range(20))


@pytest.mark.parametrize(
    ("places", "values", "blocks"),
    [([1, 2], [1, 2], 3), ([1, 2, 3], [1, 2], 3), (range(50), range(50), BLOCKS + 1), ([1] * 5, range(5), 5)],
)
def test_too_little_to_tell(places: list[float], values: list[float], blocks: int) -> None:
    with pytest.raises(ValueError, match="slope: "):
        slope(places, values, blocks)
