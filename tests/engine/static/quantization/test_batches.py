"""Calibration data from samples, batches and loaders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import engine
from engine import static
from engine.core.errors import ArgumentError, DTypeError
from engine.static.quantization.batches import calibration_feeds

IMAGES = np.arange(5 * 16, dtype="float32").reshape(5, 16)


@pytest.fixture
def variables() -> Iterator[list[Any]]:
    engine.enable_static()
    with static.program_guard(static.Program(), static.Program()):
        yield [static.data("image", [None, 1, 4, 4]), static.data("label", [None, 1], "int64")]
    engine.disable_static()


def samples() -> Iterator[tuple[Any, ...]]:
    yield from ((image, number, "more") for number, image in enumerate(IMAGES))


def batches() -> Iterator[list[Any]]:
    yield [IMAGES[:2].reshape(2, 1, 4, 4), np.array([[0], [1]])]
    yield [IMAGES[2:5], np.array([2, 3, 4])]


def dicts() -> Iterator[Any]:
    for images, labels in batches():
        yield {"label": labels, "image": [*images], "other": 1}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"sample_generator": samples, "batch_size": 2}, [2, 2]),
        ({"sample_generator": samples, "batch_size": 2, "batch_nums": 1}, [2]),
        ({"sample_generator": list(samples()), "batch_size": 5}, [5]),
        ({"batch_generator": batches}, [2, 3]),
        ({"data_loader": dicts}, [2, 3]),
        ({"data_loader": [[batch] for batch in dicts()]}, [2, 3]),
        ({"data_loader": batches(), "batch_nums": 2}, [2, 3]),
    ],
)
def test_every_source_gives_the_same_feeds_as_often_as_asked(
    variables: list[Any], source: dict[str, Any], expected: list[int]
) -> None:
    feeds = calibration_feeds("quantize", variables, **source)
    for _ in range(2):
        found = list(feeds())
        assert [f["image"].shape for f in found] == [(n, 1, 4, 4) for n in expected]
        assert [f["label"].shape for f in found] == [(n, 1) for n in expected]
        image = np.concatenate([f["image"] for f in found])
        np.testing.assert_array_equal(image.reshape(-1, 16), IMAGES[: sum(expected)])
        assert [f["label"].dtype for f in found] == ["int64"] * len(expected)


def test_a_reader_is_not_read_further_than_needed(variables: list[Any]) -> None:
    taken = []

    def endless() -> Iterator[Any]:
        while True:
            taken.append(1)
            yield IMAGES[0], 0

    feeds = calibration_feeds("quantize", variables, sample_generator=endless(), batch_size=2, batch_nums=3)
    assert len(list(feeds())) == len(list(feeds())) == 3
    assert len(taken) == 6


def test_fewer_batches_than_asked_are_used_with_a_warning(variables: list[Any]) -> None:
    feeds = calibration_feeds("quantize", variables, batch_generator=batches, batch_nums=9)
    with pytest.warns(UserWarning, match="batch_nums is 9: batch_generator gives 2 batches"):
        assert len(list(feeds())) == 2


@pytest.mark.parametrize(
    ("source", "error", "said"),
    [
        ({}, ArgumentError, "needs one of sample_generator, batch_generator, data_loader: got none"),
        ({"sample_generator": samples, "data_loader": dicts}, ArgumentError, "got sample_generator, data_lo"),
        ({"batch_generator": batches, "batch_nums": 0}, ArgumentError, "batch_nums must be .* got 0"),
        ({"sample_generator": samples, "batch_size": 2.0}, ArgumentError, "batch_size must be .* got 2.0"),
        ({"data_loader": 3}, DTypeError, "data_loader must be a function .* got int"),
        ({"batch_generator": lambda: 3}, DTypeError, "must give an iterator when it is called: got int"),
    ],
)
def test_wrong_sources(
    variables: list[Any], source: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        calibration_feeds("quantize", variables, **source)


@pytest.mark.parametrize(
    ("give", "said"),
    [
        (lambda: [[IMAGES]], r"a batch has 1 fields: the model is fed \['image', 'label'\]"),
        (lambda: [{"image": IMAGES}], r"a batch has \['image'\]: the model is fed \['label'\] too"),
        (lambda: [[IMAGES[:, :7], IMAGES]], r"'image' .* can't be made of a field of shape \(5, 7\)"),
    ],
)
def test_wrong_batches(variables: list[Any], give: Callable[[], Any], said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        list(calibration_feeds("quantize", variables, data_loader=give)())
