"""What can be explained of which model: quantized, with integers, several inputs, other outputs and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import explain, nn
from engine.core.errors import ArgumentError, NotFiniteError, UnsupportedError
from engine.explain.occlusion import places_along
from engine.static import InputSpec
from tests.engine.explain.nets import convolutions, spec
from tests.engine.quantized_nets import random_images, small_net

GRADIENTS = ("saliency", "integrated")


def open_for(layer: Any, *specs: Any) -> explain.Subject:
    layer.eval()
    return explain.of_layer(layer, [InputSpec(*each) for each in specs])


def reasons(subject: explain.Subject, **chosen: int) -> dict[str, str]:
    return {name: why for name, why in subject.methods(**chosen).items() if why}


def test_quantized_model_has_activations_and_occlusion_only(tmp_path: Path) -> None:
    prefix = str(tmp_path / "model")
    paddle.jit.save(small_net(), prefix, input_spec=[InputSpec([None, 1, 12, 12], "float32", "x")])
    subject = explain.of_saved(prefix)
    why = "the model is quantized: it computes with integers, and integers have no gradients"
    assert reasons(subject) == dict.fromkeys(GRADIENTS, why)
    x = random_images(1)
    with pytest.raises(ArgumentError, match="no saliency: the model is quantized"):
        subject.saliency([x])
    found = subject.occlusion([x], size=4, step=4)
    with paddle.no_grad():
        score = paddle.jit.load(prefix, for_prediction=True)(paddle.to_tensor(x)).numpy()[0]
    assert found.score == pytest.approx(float(score.max()), rel=1e-5)
    names = [each.operator for each in subject.activations([x])]
    assert "quantize_linear" in names


def test_words_as_integers_have_occlusion_only() -> None:
    class Words(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(20, 6)
            self.last = nn.Linear(6, 3)

        def forward(self, ids: Any) -> Any:
            return self.last(self.table(ids).mean(axis=1))

    paddle.seed(2)
    layer = Words()
    subject = open_for(layer, [[None, None], "int64", "ids"])
    assert reasons(subject) == dict.fromkeys(
        GRADIENTS, "the input 'ids' has int64: integers have no gradients"
    )
    ids = np.array([[3, 17, 4, 9, 11]])
    found = subject.occlusion([ids], target=1, size=1, step=1, color=0)
    base = layer(paddle.to_tensor(ids)).numpy()[0, 1]
    for place in range(5):
        covered = ids.copy()
        covered[0, place] = 0
        drop = base - layer(paddle.to_tensor(covered)).numpy()[0, 1]
        assert found.values[0, place] == pytest.approx(drop, abs=1e-5)
    assert subject.activations([ids])[0].shape == (1, 5, 6)


class TwoInputs(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Linear(4, 3), nn.Linear(2, 3)

    def forward(self, left: Any, right: Any, kind: Any) -> Any:
        made = self.left(left) * paddle.tanh(self.right(right))
        return made, made.argmax(axis=1), made.sum(axis=1) + kind.astype("float32").sum(axis=1)


def test_of_several_inputs_and_outputs_each_is_explained() -> None:
    paddle.seed(4)
    layer = TwoInputs()
    specs = ([[None, 4], "float32", "left"], [[None, 2], "float32", "right"], [[None, 1], "int64", "kind"])
    subject = open_for(layer, *specs)
    assert reasons(subject) == {}
    assert set(reasons(subject, input=2)) == set(GRADIENTS)
    assert "int64" in reasons(subject, output=1)["saliency"]
    draw = np.random.default_rng(0)
    arrays = [draw.random((1, 4), np.float32), draw.random((1, 2), np.float32), np.array([[5]])]

    def scores(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        given = (paddle.to_tensor(each) for each in (left, right, arrays[2]))
        return layer(*given)[0].numpy()[0]

    found = subject.integrated_gradients(arrays, target=2, input=1, steps=64)
    assert found.values.shape == (1, 2)
    difference = scores(*arrays[:2])[2] - scores(arrays[0], np.zeros((1, 2), np.float32))[2]
    assert float(found.values.sum()) == pytest.approx(difference, rel=0.01)
    # The gradient of a linear input is its weight times the other factor.
    factor = paddle.tanh(layer.right(paddle.to_tensor(arrays[1]))).numpy()[0, 2]
    found = subject.saliency(arrays, target=2)
    np.testing.assert_allclose(found.values[0], layer.left.weight.numpy()[:, 2] * factor, rtol=1e-5)
    one = subject.occlusion(arrays, output=2, input=0, size=1, step=1)
    assert (one.output, one.target, one.values.shape) == (2, 0, (1, 4))


def test_any_number_of_an_output_that_is_no_list_of_classes() -> None:
    layer = nn.Sequential(nn.Conv2D(2, 3, 3, padding=1), nn.Tanh())
    subject = open_for(layer, *[[each.shape, "float32", "image"] for each in spec()])
    x = np.random.default_rng(1).random((1, 2, 8, 8)).astype(np.float32)
    place = 1 * 64 + 3 * 8 + 4  # channel 1, row 3, column 4
    found = subject.saliency([x], target=place)
    assert found.score == pytest.approx(float(layer(paddle.to_tensor(x)).numpy()[0, 1, 3, 4]), rel=1e-5)
    rows, columns = np.nonzero(np.abs(found.values[0]).max(axis=0))
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (2, 4, 3, 5)


def test_input_without_a_batch_axis() -> None:
    class Plain(nn.Layer):
        def forward(self, x: Any) -> Any:
            return paddle.sin(x) * paddle.to_tensor([1.0, 2.0, 3.0])

    subject = open_for(Plain(), [[3], "float32", "x"])
    x = np.array([0.1, 0.2, 0.3], np.float32)
    found = subject.saliency([x], target=2)
    np.testing.assert_allclose(found.values, [0, 0, 3 * np.cos(0.3)], rtol=1e-5)
    assert subject.integrated_gradients([x], target=2).values.sum() == pytest.approx(
        3 * np.sin(0.3), rel=1e-4
    )


def test_network_that_mixes_samples_of_a_batch_runs_one_at_a_time() -> None:
    class Mixing(nn.Layer):
        def forward(self, x: Any) -> Any:
            return paddle.sin(x) / x.shape[0]

    class InBatch(nn.Layer):
        def forward(self, x: Any) -> Any:
            return paddle.cumsum(paddle.sin(x), axis=0)

    for layer in (Mixing(), InBatch()):
        subject = open_for(layer, [[None, 3], "float32", "x"])
        x = np.array([[0.1, 0.2, 0.3]], np.float32)
        found = subject.occlusion([x], target=1, size=1, step=1)
        np.testing.assert_allclose(found.values, [[0, np.sin(0.2), 0]], atol=1e-6)


def test_operator_without_a_gradient_is_named() -> None:
    class Sorted(nn.Layer):
        def forward(self, x: Any) -> Any:
            return paddle.argsort(x, axis=1).astype("float32")

    why = reasons(open_for(Sorted(), [[None, 3], "float32", "x"]))["saliency"]
    assert why == "argsort on the way to the output gives integers, which have no gradients"


def test_output_that_does_not_depend_on_an_input_says_so() -> None:
    class Second(nn.Layer):
        def forward(self, x: Any, y: Any) -> Any:
            return y * 2.0

    subject = open_for(Second(), [[None, 3], "float32", "x"], [[None, 3], "float32", "y"])
    assert "does not depend on the input 'x'" in reasons(subject)["saliency"]


def test_answer_that_is_not_finite_has_no_map() -> None:
    class Log(nn.Layer):
        def forward(self, x: Any) -> Any:
            return paddle.log(x)

    subject = open_for(Log(), [[None, 2], "float32", "x"])
    with pytest.raises(NotFiniteError, match="holds 1 NaN and 0 infinite"):
        subject.occlusion([np.array([[1.0, -1.0]], np.float32)])


def test_network_that_cannot_be_converted_has_maps_but_no_activations() -> None:
    class Eager(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.inner = convolutions()

        def forward(self, x: Any) -> Any:
            if max(x.numpy().ravel().tolist()) > 1e9:  # needs the values
                return self.inner(x) * 2.0
            return self.inner(x)

    subject = open_for(Eager(), *[[each.shape, "float32", "image"] for each in spec()])
    assert "can't be converted" in reasons(subject)["activations"]
    x = np.random.default_rng(0).standard_normal((1, 2, 8, 8)).astype(np.float32)
    wanted = explain.of_layer(convolutions(), spec())
    for method in ("saliency", "integrated_gradients", "occlusion"):
        one, other = getattr(subject, method)([x], target=1), getattr(wanted, method)([x], target=1)
        np.testing.assert_allclose(one.values, other.values, rtol=1e-4, atol=1e-5)
    with pytest.raises(ArgumentError, match="no activations"):
        subject.activations([x])
    with pytest.raises(UnsupportedError, match="can't be converted"):
        subject.view("x")


@pytest.mark.parametrize("form", ["onnx", "paddle", "packed"])
def test_models_of_other_formats_give_the_same_maps(tmp_path: Path, form: str) -> None:
    layer, x = convolutions(), np.random.default_rng(0).standard_normal((1, 2, 8, 8)).astype(np.float32)
    prefix = str(tmp_path / "model")
    paddle.jit.save(layer, prefix, input_spec=spec(), format=form)
    file = next(each for each in sorted(tmp_path.iterdir()) if "info" not in each.name)
    loaded = explain.of_saved(file if form != "paddle" else prefix)
    wanted = explain.of_layer(layer, spec())
    assert reasons(loaded) == {}
    for method in ("saliency", "integrated_gradients", "occlusion"):
        one, other = getattr(loaded, method)([x], target=2), getattr(wanted, method)([x], target=2)
        np.testing.assert_allclose(one.values, other.values, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("side", "size", "step", "places"),
    [(28, 6, 2, 12), (8, 3, 2, 4), (8, 8, 3, 1), (10, 3, 5, 3)],
)
def test_windows_reach_the_end_of_an_axis(side: int, size: int, step: int, places: int) -> None:
    found = places_along(side, size, step)
    assert len(found) == places
    assert found[0] == 0
    assert found[-1] == side - size


def test_flat_image_is_covered_by_squares() -> None:
    paddle.seed(1)
    layer = nn.Linear(64, 2)
    x = np.random.default_rng(3).random((1, 64), np.float32)
    flat = open_for(layer, [[None, 64], "float32", "x"]).occlusion([x], size=4, step=4, form=(8, 8))
    square = open_for(nn.Sequential(nn.Flatten(), layer), [[None, 1, 8, 8], "float32", "x"]).occlusion(
        [x.reshape(1, 1, 8, 8)], size=4, step=4
    )
    np.testing.assert_allclose(flat.values.reshape(8, 8), square.values[0, 0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_models_of_other_floating_dtypes_take_float32(dtype: str) -> None:
    x = np.random.default_rng(0).random((1, 2, 8, 8)).astype(np.float32)
    wanted = explain.of_layer(convolutions(), spec()).saliency([x], target=1)
    subject = explain.of_layer(convolutions(dtype), spec(dtype))
    found = subject.saliency([x], target=1)
    np.testing.assert_allclose(found.values, wanted.values, atol=0.05 * np.abs(wanted.values).max())
    assert found.score == pytest.approx(wanted.score, abs=0.02)
    assert subject.activations([x])[0].dtype == dtype
