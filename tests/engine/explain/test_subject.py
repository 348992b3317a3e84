"""What the methods give, against plain computations of the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import explain, nn
from engine.core.errors import ArgumentError, CancelledError, LimitError, NotFiniteError, OutOfRangeError
from engine.explain.sample import _even
from engine.static import InputSpec
from tests.engine.explain.nets import convolutions, saved, spec


def image(seed: int = 0, dtype: str = "float32") -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((1, 2, 8, 8)).astype(dtype)


def scores(layer: nn.Layer, x: np.ndarray) -> np.ndarray:
    with paddle.no_grad():
        return layer(paddle.to_tensor(x)).numpy()


def test_saliency_of_a_smooth_network_is_the_finite_difference() -> None:
    layer = convolutions("float64")
    x, width = image(dtype="float64"), 1e-6
    found = explain.of_layer(layer, spec("float64")).saliency([x], target=1)
    assert found.values.shape == x.shape
    assert found.values.dtype == np.float32
    assert found.score == pytest.approx(scores(layer, x)[0, 1])
    for place in [(0, 0, 0, 0), (0, 1, 3, 4), (0, 0, 7, 7), (0, 1, 5, 2)]:
        above, below = x.copy(), x.copy()
        above[place] += width
        below[place] -= width
        difference = (scores(layer, above)[0, 1] - scores(layer, below)[0, 1]) / (2 * width)
        assert found.values[place] == pytest.approx(difference, rel=1e-4, abs=1e-6)


def test_target_is_the_largest_number_unless_given() -> None:
    layer, x = convolutions(), image()
    found = explain.of_layer(layer, spec()).saliency([x])
    assert found.target == int(scores(layer, x)[0].argmax())


@pytest.mark.parametrize("baseline", [0.0, 0.5, "other"])
def test_integrated_gradients_sum_to_the_difference(baseline: Any) -> None:
    layer, x = convolutions(), image()
    begin = image(9) if baseline == "other" else np.full_like(x, baseline)
    given = begin if baseline == "other" else baseline
    found = explain.of_layer(layer, spec()).integrated_gradients([x], target=2, baseline=given, steps=64)
    difference = float(scores(layer, x)[0, 2] - scores(layer, begin)[0, 2])
    assert found.difference == pytest.approx(difference, rel=1e-4, abs=1e-5)
    assert float(found.values.sum()) == pytest.approx(difference, rel=0.01)
    assert found.gap == pytest.approx(float(found.values.sum()) - difference, abs=1e-4)
    assert found.gap_share is not None
    assert found.gap_share < 0.01


def test_integrated_gradients_of_a_product_are_the_known_integral() -> None:
    class Product(nn.Layer):
        def forward(self, x: Any) -> Any:
            return x[:, 0:1] * x[:, 1:2] * x[:, 2:3]

    found = explain.of_layer(Product(), [InputSpec([None, 3], "float64", "x")]).integrated_gradients(
        [np.array([[2.0, 3.0, 5.0]])], steps=8
    )
    # Each factor has a third of 30: the integral of a**2 * 30 from 0 to 1.
    assert found.values.tolist() == [[pytest.approx(10.0)] * 3]


@pytest.mark.parametrize(("size", "step"), [(3, 1), (4, 3), ((2, 5), (2, 1)), (20, 1)])
def test_occlusion_is_a_plain_loop(size: Any, step: Any) -> None:
    layer, x = convolutions(), image()
    found = explain.of_layer(layer, spec()).occlusion([x], target=0, size=size, step=step, color=0.25)
    high, wide = (min(8, each) for each in ((size, size) if isinstance(size, int) else size))
    down, right = (step, step) if isinstance(step, int) else step
    drops, counts = np.zeros((8, 8)), np.zeros((8, 8))
    rows = sorted({min(row, 8 - high) for row in range(0, 8, down)})
    columns = sorted({min(column, 8 - wide) for column in range(0, 8, right)})
    for row in rows:
        for column in columns:
            covered = x.copy()
            covered[:, :, row : row + high, column : column + wide] = 0.25
            window = slice(row, row + high), slice(column, column + wide)
            drops[window] += scores(layer, x)[0, 0] - scores(layer, covered)[0, 0]
            counts[window] += 1
    assert found.share == 1.0
    for channel in found.values[0]:
        np.testing.assert_allclose(channel, drops / counts, rtol=1e-4, atol=1e-5)


def test_occlusion_that_is_cancelled_is_partial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.explain.sample._MOST_AT_ONCE", 8)
    seen: list[float] = []
    found = explain.of_layer(convolutions(), spec()).occlusion(
        [image()],
        size=2,
        step=2,
        progress=lambda share, values: seen.append(share),
        cancelled=lambda: len(seen) == 1,
    )
    assert found.is_partial
    assert found.share == seen[0] == 0.5
    assert not np.isnan(found.values[0, :, :4]).any()
    assert np.isnan(found.values[0, :, 4:]).all()


def test_integrated_gradients_that_are_cancelled_raise() -> None:
    with pytest.raises(CancelledError, match="cancelled"):
        explain.of_layer(convolutions(), spec()).integrated_gradients([image()], cancelled=lambda: True)


def test_activations_are_what_the_layers_give() -> None:
    layer, x = convolutions(), image()
    subject = explain.of_layer(layer, spec())
    found = {each.layer: each for each in subject.activations([x])}  # the last operator of each layer
    value = paddle.to_tensor(x)
    for name, each in enumerate(layer):
        value = each(value)
        expected = value.numpy()
        activation = found[str(name)]
        assert activation.shape == expected.shape
        np.testing.assert_allclose(subject.values(activation.variable), expected, rtol=1e-5, atol=1e-6)
        assert activation.zeros == np.mean(expected == 0)
        assert activation.low == pytest.approx(float(expected.min()), rel=1e-5)


def test_wanted_activations_have_channels_or_counts() -> None:
    subject = explain.of_layer(convolutions(), spec())
    names = [each.variable for each in subject.activations([image()])]
    found = {each.operator: each for each in subject.activations([image()], wanted=names, side=4)}
    images = found["conv2d"]
    assert images.channels is not None
    np.testing.assert_array_equal(images.channels, subject.values(images.variable)[0, :, ::2, ::2])
    assert images.all_channels == 4
    assert sum(found["matmul_v2"].counts) == 3
    again = explain.Activation.of_plain(images.plain(), images.channels)
    assert again.plain() == images.plain()


def test_loaded_model_gives_the_bits_of_the_layer(tmp_path: Path) -> None:
    layer, x = convolutions(), image()
    made, loaded = explain.of_layer(layer, spec()), explain.of_saved(saved(tmp_path, layer, spec()))
    for method in ("saliency", "integrated_gradients"):
        one, other = getattr(made, method)([x], target=1), getattr(loaded, method)([x], target=1)
        assert one.values.tobytes() == other.values.tobytes()
    assert [each.plain() | {"variable": ""} for each in made.activations([x])] == [
        each.plain() | {"variable": ""} for each in loaded.activations([x])
    ]


def test_fixed_batch_explains_the_first_sample(tmp_path: Path) -> None:
    layer, x = convolutions(), image()
    subject = explain.of_saved(saved(tmp_path, layer, spec(batch=3)))
    expected = explain.of_layer(layer, spec())
    fed = [np.repeat(x, 3, axis=0)]
    for method in ("saliency", "integrated_gradients", "occlusion"):
        found, wanted = getattr(subject, method)(fed, target=1), getattr(expected, method)([x], target=1)
        np.testing.assert_allclose(found.values[:1], wanted.values, rtol=1e-4, atol=1e-5)
        assert found.values.shape == (3, 2, 8, 8)
        assert not found.values[1:].any()


def test_batch_of_one_that_the_network_fixes_runs_one_at_a_time() -> None:
    class Fixed(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.inner = convolutions()

        def forward(self, x: Any) -> Any:
            return self.inner(x.reshape([1, 2, 8, 8]))

    found = explain.of_layer(Fixed(), spec(batch=1)).occlusion([image()], target=1)
    wanted = explain.of_layer(convolutions(), spec()).occlusion([image()], target=1)
    np.testing.assert_allclose(found.values, wanted.values, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("method", ["saliency", "integrated_gradients", "occlusion"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_sample_with_numbers_that_are_not_finite_has_no_map(method: str, bad: float) -> None:
    x = image()
    x[0, 1, 2, 3] = bad
    with pytest.raises(NotFiniteError, match="'image' holds"):
        getattr(explain.of_layer(convolutions(), spec()), method)([x])


def test_arguments_that_the_model_does_not_have_are_refused() -> None:
    subject, x = explain.of_layer(convolutions(), spec()), image()
    with pytest.raises(ArgumentError, match="the output has 3"):
        subject.saliency([x], target=3)
    with pytest.raises(ArgumentError, match="no output 1"):
        subject.saliency([x], output=1)
    with pytest.raises(ArgumentError, match="no input 2"):
        subject.saliency([x], input=2)
    with pytest.raises(ArgumentError, match="takes 1: image"):
        subject.saliency([x, x])
    with pytest.raises(ArgumentError, match="steps must be"):
        subject.integrated_gradients([x], steps=0)
    with pytest.raises(ArgumentError, match="baseline has shape"):
        subject.integrated_gradients([x], baseline=np.zeros(3))
    with pytest.raises(ArgumentError, match="size must be"):
        subject.occlusion([x], size=0)
    with pytest.raises(ArgumentError, match="can't be covered"):
        subject.occlusion([x], axes=[4])


def test_values_that_are_not_retained_are_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    subject, other = (explain.of_layer(convolutions(), spec()) for _ in range(2))
    names = [each.variable for each in other.activations([image()])]
    monkeypatch.setattr("engine.explain.program_model.RETAINED_BYTES", 600)
    mine = [each.variable for each in subject.activations([image()])]
    assert 0 < len(subject._model._values) < len(mine)
    for one, two in zip(mine, names, strict=True):
        np.testing.assert_array_equal(subject.values(one), other.values(two))


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 34, 144, 169, 511])
def test_batches_have_few_sizes(count: int) -> None:
    found = _even(count)
    assert count <= found <= count * 1.125 + 1
    assert len({_even(each) for each in range(1, 513)}) < 70
    assert (_even(144), _even(34), _even(1)) == (144, 36, 1)


def test_batch_that_exceeds_a_limit_is_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    subject, wanted = (explain.of_layer(convolutions(), spec()) for _ in range(2))
    model, sizes = subject._model, []

    def limited(compute: Any) -> Any:
        def computed(arrays: Any, *others: Any) -> Any:
            sizes.append(len(arrays[0]))
            if len(arrays[0]) > 3:
                raise LimitError("too much")
            return compute(arrays, *others)

        return computed

    monkeypatch.setattr(model, "run", limited(model.run))
    monkeypatch.setattr(model, "gradient", limited(model.gradient))
    for method in ("occlusion", "integrated_gradients"):
        one, other = getattr(subject, method)([image()]), getattr(wanted, method)([image()])
        np.testing.assert_allclose(one.values, other.values, rtol=1e-4, atol=1e-5)
    assert max(sizes) > 3


def test_operator_that_fails_raises_its_own_error() -> None:
    class Picks(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(4, 2)

        def forward(self, ids: Any) -> Any:
            return self.table(ids)

    subject = explain.of_layer(Picks(), [InputSpec([None, 3], "int64", "ids")])
    with pytest.raises(OutOfRangeError, match="row 9 is out of range"):
        subject.activations([np.array([[1, 9, 2]])])
