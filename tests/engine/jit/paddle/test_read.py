"""Models that paddlepaddle 2.6.2 saved, read here: outputs, weights, gradients; see make_recorded.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.files.paddle.lod_tensor import parse_lod_tensors
from engine.jit.model_files import kind_of, read_model_files

RECORDED = Path(__file__).parent / "recorded"
NAMES = sorted(path.stem for path in RECORDED.glob("*.npz"))


def values(name: str) -> dict[str, Any]:
    with np.load(RECORDED / f"{name}.npz") as found:
        return {key: found[key] for key in found}


def arrays(found: dict[str, Any], letter: str) -> list[Any]:
    return [found[f"{letter}{n}"] for n in range(len(found)) if f"{letter}{n}" in found]


def require_close(found: Any, wanted: Any) -> None:
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    largest = float(np.abs(wanted.astype("f8")).max(initial=0)) or 1
    np.testing.assert_allclose(found.astype("f8"), wanted.astype("f8"), rtol=0, atol=1e-5 * largest)


@pytest.mark.parametrize("name", NAMES)
def test_a_model_gives_the_outputs_that_paddle_gave(name: str) -> None:
    recorded = values(name)
    assert kind_of(RECORDED / name) == "paddle"
    net = paddle.jit.load(str(RECORDED / name))
    found = paddle.utils.flatten(net(*[paddle.to_tensor(a) for a in arrays(recorded, "i")]))
    wanted = arrays(recorded, "o")
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        require_close(one.numpy(), other)


@pytest.mark.parametrize("name", ["lenet", "lstm"])
def test_a_model_is_trained_further_with_the_gradients_of_paddle(name: str) -> None:
    recorded = values(name)
    net = paddle.jit.load(str(RECORDED / name))
    net.train()
    found = paddle.utils.flatten(net(*[paddle.to_tensor(a) for a in arrays(recorded, "i")]))
    for one, other in zip(found, arrays(recorded, "o"), strict=True):
        require_close(one.numpy(), other)
    sum(paddle.mean(x * x) for x in found).backward()
    parameters = {p.name: p for p in net.parameters()}
    assert parameters.keys() == {key[2:] for key in recorded if key.startswith("g:")}
    for key, parameter in parameters.items():
        require_close(parameter.grad.numpy(), recorded[f"g:{key}"])


def test_the_weights_are_those_of_the_file_bit_for_bit() -> None:
    files = read_model_files(RECORDED / "resnet")
    data = (RECORDED / "resnet.pdiparams").read_bytes()
    for name, array in zip(sorted(files.weights), parse_lod_tensors(data, None, "x"), strict=True):
        assert files.weights[name].tobytes() == array.tobytes()
    net = paddle.jit.load(str(RECORDED / "resnet"))
    state = net.state_dict()
    assert {v.name: v.numpy().tobytes() for v in state.values()} == {
        name: array.tobytes() for name, array in files.weights.items()
    }


def test_a_static_program_is_loaded_by_load_inference_model() -> None:
    recorded = values("static")
    paddle.enable_static()
    try:
        executor = paddle.static.Executor()
        program, feeds, fetches = paddle.static.load_inference_model(str(RECORDED / "static"), executor)
        assert feeds == ["x", "second"]  # by the columns of the feed operators, which stand in reverse
        found = executor.run(program, dict(zip(feeds, arrays(recorded, "i"), strict=True)), fetches)
    finally:
        paddle.disable_static()
    for one, other in zip(found, arrays(recorded, "o"), strict=True):
        require_close(one, other)
