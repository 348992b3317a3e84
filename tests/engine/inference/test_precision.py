"""Models whose parameters are kept in half precision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import jit, nn, static
from engine.core.errors import ArgumentError
from engine.inference import Config, PlaceType, PrecisionType, convert_to_mixed_precision, create_predictor


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    paddle.seed(5)
    network = nn.Sequential(nn.Linear(64, 128), nn.BatchNorm1D(128), nn.ReLU(), nn.Linear(128, 4))
    network.eval()
    prefix = str(tmp_path_factory.mktemp("full") / "m")
    jit.save(network, prefix, [static.InputSpec([None, 64], "float32", "x")], info={"classes": ["a"]})
    return prefix


def _converted(model: str, folder: Path, **options: Any) -> str:
    target = str(folder / "half")
    convert_to_mixed_precision(
        f"{model}.pdmodel",
        f"{model}.pdiparams",
        f"{target}.pdmodel",
        f"{target}.pdiparams",
        PrecisionType.Half,
        PlaceType.CPU,
        **options,
    )
    return target


def test_half_the_space_and_nearly_the_same_outputs(model: str, tmp_path: Path) -> None:
    made = _converted(model, tmp_path)
    sizes = [Path(f"{p}.pdiparams").stat().st_size for p in (made, model)]
    assert sizes[0] < 0.65 * sizes[1]
    values = np.random.default_rng(0).standard_normal((5, 64)).astype("float32")
    (found,), (whole,) = (create_predictor(Config(p)).run([values]) for p in (made, model))
    assert found.numpy().dtype == np.float32
    np.testing.assert_allclose(found.numpy(), whole.numpy(), atol=2e-3)
    network = jit.load(model)
    for tensor in network.parameters():
        tensor.set_value(tensor.numpy().astype("float16").astype("float32"))
    np.testing.assert_array_equal(found.numpy(), network(paddle.to_tensor(values)).numpy())
    loaded = jit.load(made)
    assert loaded.info == {"classes": ["a"]}
    np.testing.assert_array_equal(loaded(paddle.to_tensor(values)).numpy(), found.numpy())


def test_inputs_and_outputs_in_half_precision(model: str, tmp_path: Path) -> None:
    predictor = create_predictor(Config(_converted(model, tmp_path, keep_io_types=False)))
    values = np.random.default_rng(0).standard_normal((5, 64)).astype("float16")
    (found,) = predictor.run([values])
    (whole,) = create_predictor(Config(model)).run([values.astype("float32")])
    assert found.numpy().dtype == np.float16
    np.testing.assert_allclose(found.numpy(), whole.numpy(), atol=5e-3)


@pytest.mark.parametrize(
    ("options", "in_single"),
    [({"black_list": {"matmul_v2"}}, 2), ({"white_list": {"elementwise_add"}}, 4)],
    ids=["black", "white"],
)
def test_operators_that_keep_their_parameters(
    model: str, tmp_path: Path, options: Any, in_single: int
) -> None:
    made = _converted(model, tmp_path, **options)
    dtypes = [p.dtype.name for p in jit.load(made).state_dict().values()]
    assert dtypes.count("float32") == in_single + 2  # and the running statistics


def test_unsupported_precisions_are_refused(model: str, tmp_path: Path) -> None:
    files = (
        f"{model}.pdmodel",
        f"{model}.pdiparams",
        str(tmp_path / "a.pdmodel"),
        str(tmp_path / "a.pdiparams"),
    )
    with pytest.raises(ArgumentError, match="Bfloat16 is not possible"):
        convert_to_mixed_precision(*files, PrecisionType.Bfloat16, PlaceType.CPU)
    with pytest.raises(ArgumentError, match="unknown option \\['whitelist'\\]"):
        convert_to_mixed_precision(*files, PrecisionType.Half, PlaceType.CPU, whitelist=set())
    with pytest.raises(ArgumentError, match="are not of one model"):
        convert_to_mixed_precision(
            files[0], files[1], files[2], "b.pdiparams", PrecisionType.Half, PlaceType.CPU
        )
