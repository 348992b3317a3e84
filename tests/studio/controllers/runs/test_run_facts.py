"""What computed a training, in the words of the page Train."""

from __future__ import annotations

from PySide6.QtCore import QObject

from studio.controllers.runs.run_facts import facts_of_computing
from studio.session.train.compute_info import ComputeInfo


def test_the_facts_say_kernels_threads_and_blas() -> None:
    blas = "openblas 0.3.30 SkylakeX"
    assert facts_of_computing(ComputeInfo("2", blas, 12), QObject()) == [
        ("Kernels", "NumPy until step 12, then compiled"),
        ("Threads", "2"),
        ("BLAS", blas),
    ]
    assert facts_of_computing(ComputeInfo("2", blas, 0), QObject())[0] == ("Kernels", "compiled")
    assert facts_of_computing(ComputeInfo("2", blas, -1), QObject())[0] == ("Kernels", "NumPy")
    lacks = "llvmlite is not installed; run: pip install llvmlite"
    assert facts_of_computing(ComputeInfo("2", blas, -1), QObject(), lacks)[0] == (
        "Kernels",
        f"NumPy ({lacks})",
    )
    damaged = ComputeInfo("2", blas, -1, "llvmlite can't be loaded")
    assert facts_of_computing(damaged, QObject())[0] == ("Kernels", "NumPy (llvmlite can't be loaded)")
    assert not any(value for _, value in facts_of_computing(ComputeInfo(), QObject()))
