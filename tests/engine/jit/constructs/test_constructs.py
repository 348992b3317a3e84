"""Every construct eagerly, converted, converted without knowing any size, and saved and loaded in a process
without the source.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.containers import nest
from engine.jit import save, to_static
from engine.static import InputSpec
from tests.engine.jit.constructs import branches, containers, functions, growing, iteration, loops, reading
from tests.engine.jit.constructs.case import Case

MODULES = (branches, loops, containers, functions, reading, iteration, growing)
ALL = [case for module in MODULES for case in module.case.all]
LOAD = """
import json, sys
from pathlib import Path
import numpy as np
import engine as paddle
from engine.core.containers import nest

folder = Path(sys.argv[1])
for item in json.loads((folder / "list.json").read_text()):
    model = paddle.jit.load(str(folder / item["name"]))
    for number in range(item["samples"]):
        given = np.load(folder / f"{item['name']}.{number}.npz")
        inputs = [paddle.to_tensor(given[k]) for k in sorted(given.files)]
        for tensor in inputs:
            tensor.stop_gradient = not tensor.dtype.is_floating_point
        outputs = nest.flatten(model(*inputs))
        floating = [o for o in outputs if not o.stop_gradient]
        if floating:
            sum((o.astype("float64") ** 2).sum() for o in floating).backward()
        result = {f"o{n}": o.numpy() for n, o in enumerate(outputs)}
        result |= {f"g{n}": i.grad.numpy() for n, i in enumerate(inputs) if i.grad is not None}
        np.savez(folder / f"{item['name']}.{number}.out.npz", **result)
"""


def _called(function: Any, sample: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
    """The leaves of the result, and the gradients of the sum of their squares."""
    inputs = [paddle.to_tensor(array) for array in sample]
    for tensor in inputs:
        tensor.stop_gradient = not tensor.dtype.is_floating_point
    leaves = nest.flatten(function(*inputs))
    floating = [o for o in leaves if isinstance(o, paddle.Tensor) and not o.stop_gradient]
    if floating:
        sum((o.astype("float64") ** 2).sum() for o in floating).backward()
    values = [leaf.numpy() if isinstance(leaf, paddle.Tensor) else leaf for leaf in leaves]
    return values, [None if i.grad is None else i.grad.numpy() for i in inputs]


def _same(ours: list[Any], expected: list[Any]) -> None:
    assert len(ours) == len(expected)
    for one, other in zip(ours, expected, strict=True):
        # Where a loop ran zero times, nothing was recorded eagerly: no gradient, a Program gives zeros.
        one, other = (np.zeros(()) if value is None else value for value in (one, other))
        if not (np.any(one) or np.any(other)):
            continue
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_converted_is_eager(case: Case) -> None:
    static = to_static(case.function)
    for sample in case.samples:
        expected, ours = _called(case.function, sample), _called(static, sample)
        _same(ours[0], expected[0])
        _same(ours[1], expected[1])


@pytest.mark.parametrize("case", [case for case in ALL if case.unknown], ids=lambda case: case.name)
def test_sizes_may_be_unknown(case: Case) -> None:
    spec = [InputSpec([None] * a.ndim, str(a.dtype)) for a in case.samples[0]]
    for spec_, array in zip(spec, case.samples[0], strict=True):
        spec_.stop_gradient = array.dtype.kind != "f"
    static = to_static(case.function, input_spec=spec)
    for sample in case.samples:
        expected, ours = _called(case.function, sample), _called(static, sample)
        _same(ours[0], expected[0])
        _same(ours[1], expected[1])


def test_no_name_is_used_twice() -> None:
    names = [case.name for case in ALL]
    assert len(names) == len(set(names))


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a process that knows no source has run every saved Program."""
    folder = tmp_path_factory.mktemp("constructs")
    listed = []
    for case in ALL:
        if not case.saved:
            continue
        spec = [InputSpec(list(a.shape), str(a.dtype), name=f"a{k}") for k, a in enumerate(case.samples[0])]
        for spec_, array in zip(spec, case.samples[0], strict=True):
            spec_.stop_gradient = array.dtype.kind != "f"
        samples = [s for s in case.samples if [a.shape for a in s] == [a.shape for a in case.samples[0]]]
        save(to_static(case.function), str(folder / case.name), input_spec=spec)
        for number, sample in enumerate(samples):
            np.savez(folder / f"{case.name}.{number}.npz", **{f"a{k}": a for k, a in enumerate(sample)})
        listed.append({"name": case.name, "samples": len(samples)})
    (folder / "list.json").write_text(json.dumps(listed))
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(folder)], capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("case", [case for case in ALL if case.saved], ids=lambda case: case.name)
def test_loaded_elsewhere_is_eager(case: Case, loaded: Path) -> None:
    samples = [s for s in case.samples if [a.shape for a in s] == [a.shape for a in case.samples[0]]]
    for number, sample in enumerate(samples):
        values, gradients = _called(case.function, sample)
        with np.load(loaded / f"{case.name}.{number}.out.npz") as file:
            given = dict(file)
        arrays = [v for v in values if isinstance(v, np.ndarray)]
        _same([given[f"o{k}"] for k in range(len(arrays))], arrays)
        for k, gradient in enumerate(gradients):
            if gradient is not None:
                np.testing.assert_allclose(given[f"g{k}"], gradient, rtol=1e-5, atol=1e-6)
