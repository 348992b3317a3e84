"""Updates of parameters on a GPU: bitwise identical to NumPy, few launches, no waits, arrays that stay where
they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn, optimizer
from engine.core.operators.opdef import OPS
from engine.core.place import place_guard
from engine.kernels.choice import TOGETHER, kernels
from tests.cupy_stand_in.counts import counted
from tests.cupy_stand_in.module import gpu, installed

SHAPES = [(3, 3), (5,), (0, 4), (64, 41)]
DECAY = {"regularization_method": "l2_decay", "regularization_coeff": 0.1}
CASES = [
    ("sgd", {}),
    ("momentum", {}),
    ("momentum", {"use_nesterov": True, "rescale_grad": 0.5, **DECAY}),
    ("adam", {"beta1": 0.8}),
    ("adamw", {"coeff": 0.02, "lr_ratio": 0.5}),
    ("adamw", {"with_decay": False}),
    ("adagrad", {}),
    ("rmsprop", {"momentum": 0.5}),
    ("rmsprop", {"centered": True}),
    ("adadelta", {"rho": 0.9}),
    ("adamax", {"beta2": 0.98}),
]
ELSE = [("lamb", {}), ("decayed_adagrad", {}), ("ftrl", {}), ("lars_momentum", {})]


@pytest.fixture(scope="module", autouse=True)
def cupy() -> Iterator[Any]:
    with nullcontext() if gpu() else installed(), kernels.guard("auto"):
        import cupy

        import engine.kernels.cupy

        assert engine.kernels.cupy.xp is cupy
        yield cupy


def _inputs(name: str, shape: tuple[int, ...], seed: int, dtype: Any) -> list[Any]:
    """A parameter with its state, by the operator's inputs."""
    rng = np.random.default_rng(seed)
    found = []
    for slot in OPS[name].input_names:
        if slot == "skip_update":
            found.append(None)
        elif slot in ("learning_rate", "beta1_pow", "beta2_pow"):
            found.append(np.array([{"l": 0.01, "beta1_pow": 0.9}.get(slot, 0.99)], dtype))
        else:
            signed = slot in ("param", "grad", "velocity", "moment1", "mean_grad", "linear")
            made = rng.standard_normal(shape)
            found.append((made if signed else made**2 + 0.5).astype(dtype))
    return found


def _near(name: str, got: Any, want: Any) -> None:
    if name in ("lamb", "ftrl", "lars_momentum", "decayed_adagrad"):  # norms, powers
        np.testing.assert_allclose(got, want, rtol=1e-12)
    else:
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("name", "attrs"), CASES)
def test_many_are_updated_in_two_launches_with_the_bits_of_numpy(
    cupy: Any, name: str, attrs: dict[str, Any], dtype: Any
) -> None:
    names = OPS[name].input_names
    rows = [dict(zip(names, _inputs(name, s, n, dtype), strict=True)) for n, s in enumerate(SHAPES)]
    rows[1]["grad"][0] = np.nan
    rows[3]["grad"] = np.asfortranarray(rows[3]["grad"])
    moved = [{k: None if v is None else cupy.asarray(v) for k, v in row.items()} for row in rows]
    slots = [n for n in names if n not in ("grad", "learning_rate", "skip_update")]
    columns = {slot: [row[slot] for row in moved] for slot in slots}
    together, _ = OPS[name].overrides[TOGETHER]
    for _ in range(2):
        with counted() as counts:
            assert together(columns, [row["grad"] for row in moved], moved[0], attrs)
        if not gpu():
            copied = 1  # the gradient in column-major order
            assert counts.launches - copied == (2 if "beta1_pow" in names else 1)
            assert (counts.waits, counts.to_device) == (0, 0)
        for row in rows:
            OPS[name].kernel(np, *[row[n] for n in names], **attrs)
    for row, on_gpu in zip(rows, moved, strict=True):
        for slot in slots:
            np.testing.assert_array_equal(on_gpu[slot].get(), row[slot], err_msg=slot)


@pytest.mark.parametrize("choice", ["auto", "numpy"])
@pytest.mark.parametrize(("name", "attrs"), [*CASES, *ELSE])
def test_no_update_waits(cupy: Any, name: str, attrs: dict[str, Any], choice: str) -> None:
    """With CuPy's own functions neither, whose results are bitwise identical to NumPy's."""
    values = _inputs(name, (4, 3), 0, np.float64)
    moved = [None if v is None else cupy.asarray(v) for v in values]
    with kernels.guard(choice), counted() as counts:
        OPS[name].kernel_for("cupy")[0](cupy, *moved, **attrs)
    assert (counts.waits, counts.to_device) == (0, 0)
    OPS[name].kernel(np, *values, **attrs)
    for got, want in zip(moved, values, strict=True):
        if want is not None:
            _near(name, got.get(), want)


@pytest.mark.parametrize("choice", ["auto", "numpy"])
@pytest.mark.parametrize("name", ["adam", "adamw", "lamb"])
def test_a_skipped_update_changes_nothing_and_does_not_wait(cupy: Any, name: str, choice: str) -> None:
    names = OPS[name].input_names
    for skips in (True, False):
        values = _inputs(name, (7,), 0, np.float32)
        values[names.index("grad")][:] = np.inf if skips else 0.5
        moved = [None if v is None else cupy.asarray(v) for v in values]
        moved[names.index("skip_update")] = cupy.asarray(np.array([skips]))
        with kernels.guard(choice), counted() as counts:
            OPS[name].kernel_for("cupy")[0](cupy, *moved)
        assert (counts.waits, counts.to_device) == (0, 0)
        same = [np.array_equal(m.get(), v) for m, v in zip(moved, values, strict=True) if v is not None]
        assert all(same) is skips


def test_groups_that_exceed_one_kernel_are_cut(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.kernels.cupy.training.updates import _written

    monkeypatch.setattr("engine.kernels.cupy.training.parts._ROOM", 2 * 8 * 6)
    together, _ = OPS["adam"].overrides[TOGETHER]
    names = OPS["adam"].input_names
    rows = [dict(zip(names, _inputs("adam", (3,), n, np.float32), strict=True)) for n in range(5)]
    moved = [{k: None if v is None else cupy.asarray(v) for k, v in row.items()} for row in rows]
    slots = [n for n in names if n not in ("grad", "learning_rate", "skip_update")]
    with counted() as counts:
        columns = {slot: [row[slot] for row in moved] for slot in slots}
        assert together(columns, [row["grad"] for row in moved], moved[0], {})
    if not gpu():
        assert counts.launches == 3 * 2
    for row, on_gpu in zip(rows, moved, strict=True):
        OPS["adam"].kernel(np, *row.values())
        np.testing.assert_array_equal(on_gpu["param"].get(), row["param"])
    assert _written.cache_info().maxsize is not None


RULES: dict[str, Any] = {
    "sgd": lambda p: optimizer.SGD(0.1, p),
    "momentum": lambda p: optimizer.Momentum(0.1, 0.9, p, weight_decay=0.01),
    "adam": lambda p: optimizer.Adam(0.1, parameters=p),
    "adamw": lambda p: optimizer.AdamW(0.1, parameters=p, apply_decay_param_fun=lambda n: n.endswith("w_0")),
    "scheduled": lambda p: optimizer.Adam(optimizer.lr.StepDecay(0.1, 1), parameters=p),
    "two groups": lambda p: optimizer.Adam(
        0.1, parameters=[{"params": p[:3], "learning_rate": 0.3}, {"params": p[3:], "beta1": 0.5}]
    ),
}
LAUNCHES = {"sgd": 1, "momentum": 1, "adam": 2, "adamw": 4, "scheduled": 2, "two groups": 4}


def _trained(rule: str, device: str) -> tuple[list[Any], Any]:
    """The parameters of a small network after three steps, and the counts of the third."""
    paddle.seed(3)
    rng = np.random.default_rng(0)
    with place_guard(device):
        net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3), nn.Linear(3, 2))
        parameters = net.parameters()
        for p in parameters:
            p.set_value(rng.standard_normal(p.shape).astype("float32"))
        arrays = [p._array for p in parameters]
        opt = RULES[rule](parameters)
        for _ in range(3):
            for p in parameters:
                p.grad = paddle.to_tensor(rng.standard_normal(p.shape).astype("float32"))
            with counted() as counts:
                opt.step()
            if isinstance(opt._learning_rate, optimizer.lr.LRScheduler):
                opt._learning_rate.step()
        if device != "cpu":
            assert all(p._array is a for p, a in zip(parameters, arrays, strict=True))
            assert all(p.inplace_version for p in parameters)
        return [p.numpy() for p in parameters], counts


@pytest.mark.parametrize("rule", RULES)
def test_a_step_of_an_optimizer_is_one_update(rule: str) -> None:
    want, _ = _trained(rule, "cpu")
    got, counts = _trained(rule, "gpu:0")
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b)
    if not gpu():
        assert (counts.waits, counts.to_device) == (0, 0)
        extra = 12 if rule == "momentum" else int(rule == "scheduled")  # decay of a gradient; the rate
        assert counts.launches <= LAUNCHES[rule] + extra
