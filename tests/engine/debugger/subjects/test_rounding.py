"""The debugger says what the training computes otherwise."""

from __future__ import annotations

import pytest

from engine.debugger.subjects import of_config
from engine.training.config import TrainingConfig


@pytest.mark.parametrize("kernels", ["numpy", "fast"])
def test_operators_that_compiled_kernels_compute_are_named(kernels: str) -> None:
    config = TrainingConfig(
        model="lenet", data="digits", samples=100, batch_size=50, epochs=1, static=True, kernels=kernels
    )
    notes = [note for note in of_config(config, batch=2).notes if "round" in note]
    if kernels == "numpy":
        assert notes == []
    else:
        (note,) = notes
        assert "compiled kernels may round otherwise than NumPy's here, in" in note
        assert "operators" in note
        assert "matmul_v2" in note
