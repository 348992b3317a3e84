"""Models written here and run by the real Paddle: by the interpreter that MODEL_STUDIO_PADDLE names."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import engine as paddle
from tests.engine.jit.paddle.models import MODELS, with_statistics

PYTHON = os.environ.get("MODEL_STUDIO_PADDLE", "")
RUNNER = Path(__file__).with_name("run_in_paddle.py")

pytestmark = pytest.mark.skipif(
    not PYTHON, reason="needs MODEL_STUDIO_PADDLE, the path of a Python that has paddlepaddle"
)


@pytest.mark.parametrize("reader", ["jit.load", "inference"])
def test_paddle_gives_the_same_outputs(reader: str, tmp_path: Path) -> None:
    for name, model in MODELS.items():
        net = with_statistics(model.make())
        paddle.jit.save(net, str(tmp_path / name), input_spec=model.specs(), format="paddle")
        inputs = model.inputs()
        found = net(*map(paddle.to_tensor, inputs))
        outputs = [v.numpy() for v in (found if isinstance(found, tuple) else [found])]
        arrays = {f"i{n}": v for n, v in enumerate(inputs)} | {f"o{n}": v for n, v in enumerate(outputs)}
        np.savez(tmp_path / f"{name}.npz", **arrays)
    done = subprocess.run(
        [PYTHON, str(RUNNER), reader, str(tmp_path)],
        env={**os.environ, "FLAGS_enable_pir_api": "0"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    differences = dict(line.split("\t", 1) for line in done.stdout.splitlines() if "\t" in line)
    assert sorted(differences) == sorted(MODELS), done.stderr[-2000:]
    assert {n: d for n, d in differences.items() if not float(d) <= 1e-5} == {}
