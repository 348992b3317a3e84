"""Values that PyTorch's autograd gave, and gradients of models that Paddle saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import explain, nn
from engine.files.untrusted import guarded
from engine.static import InputSpec
from tests.engine.explain.record_torch import FILE, STEPS, TARGET, weights

PADDLE = Path(__file__).parents[1] / "jit" / "paddle" / "recorded"


class Network(nn.Layer):
    def __init__(self, given: dict[str, np.ndarray]) -> None:
        super().__init__()
        self.conv = nn.Conv2D(2, 4, 3, padding=1)
        self.linear = nn.Linear(64, 3)
        for name, parameter in self.named_parameters():
            array = given[name]
            parameter.set_value((array.T if name == "linear.weight" else array).astype(np.float32))

    def forward(self, x: Any) -> Any:
        x = nn.functional.max_pool2d(nn.functional.relu(self.conv(x)), 2)
        return nn.functional.softmax(self.linear(x.flatten(1)))


def test_values_are_those_of_pytorch() -> None:
    with np.load(FILE) as file:
        recorded = dict(file)
    given = weights()
    assert all(np.array_equal(recorded[name], array) for name, array in given.items())
    layer = Network(given)
    layer.eval()
    subject = explain.of_layer(layer, [InputSpec([None, 2, 8, 8], "float32", "x")])
    image, baseline = (recorded[name].astype(np.float32) for name in ("image", "baseline"))
    found = subject.saliency([image], TARGET)
    assert found.score == pytest.approx(float(recorded["scores"][0, TARGET]), rel=1e-5)
    np.testing.assert_allclose(found.values, recorded["saliency"], rtol=1e-4, atol=1e-6)
    found = subject.integrated_gradients([image], TARGET, STEPS, baseline)
    assert found.difference == pytest.approx(float(recorded["difference"]), rel=1e-5)
    np.testing.assert_allclose(found.values, recorded["integrated"], rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("name", ["lenet", "lstm", "encoder", "mobilenet"])
def test_models_of_paddle_have_the_gradients_of_finite_differences(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarded, "_is_child", True)
    with np.load(PADDLE / f"{name}.npz") as file:
        inputs = [file[key] for key in sorted(file) if key.startswith("i") and key[1:].isdigit()]
    arrays = [each[:1] for each in inputs]
    subject = explain.of_saved(PADDLE / name)
    place = next(n for n, each in enumerate(arrays) if each.dtype.kind == "f")
    found = subject.saliency(arrays, target=0, input=place)
    layer = paddle.jit.load(str(PADDLE / name))
    largest = np.unravel_index(np.abs(found.values).argmax(), found.values.shape)
    width = 1e-2
    scores = []
    for change in (width, -width):
        changed = [each.copy() for each in arrays]
        changed[place][largest] += change
        outputs = paddle.utils.flatten(layer(*[paddle.to_tensor(each) for each in changed]))
        scores.append(float(outputs[0].numpy().reshape(-1)[0]))
    assert found.values[largest] == pytest.approx((scores[0] - scores[1]) / (2 * width), rel=0.02)


@pytest.mark.parametrize("name", ["quantized", "fake_quantized"])
def test_quantized_models_of_paddle_have_no_gradients(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded, "_is_child", True)
    methods = explain.of_saved(PADDLE / name).methods()
    assert [bool(why) for why in methods.values()] == [False, True, True, False]
    assert "quantized" in methods["saliency"]
