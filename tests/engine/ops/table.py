"""The table of operators: every one has a row of cases here, or the name of the test file that has it."""

from __future__ import annotations

from pathlib import Path

from tests.engine.ops import (
    table_activation,
    table_arrange,
    table_array,
    table_convs,
    table_detection,
    table_edges,
    table_elementwise,
    table_linalg,
    table_losses,
    table_math,
    table_mul,
    table_nn,
    table_norms,
    table_padding,
    table_paths,
    table_pools,
    table_power,
    table_random,
    table_resample,
    table_rnn,
    table_running,
    table_sequences,
    table_shapes,
    table_update,
    table_vision,
)
from tests.engine.ops.case import Case

REPO = Path(__file__).resolve().parents[3]

CASES: list[Case] = [
    *table_activation.CASES,
    *table_arrange.CASES,
    *table_array.CASES,
    *table_convs.CASES,
    *table_detection.CASES,
    *table_edges.CASES,
    *table_elementwise.CASES,
    *table_linalg.CASES,
    *table_losses.CASES,
    *table_paths.CASES,
    *table_math.CASES,
    *table_mul.CASES,
    *table_nn.CASES,
    *table_norms.CASES,
    *table_padding.CASES,
    *table_pools.CASES,
    *table_power.CASES,
    *table_random.CASES,
    *table_resample.CASES,
    *table_rnn.CASES,
    *table_running.CASES,
    *table_sequences.CASES,
    *table_shapes.CASES,
    *table_update.CASES,
    *table_vision.CASES,
]

# Operators that run inside Programs only, or whose result is an effect.
ELSEWHERE: dict[str, str] = {
    "py_layer": "tests/engine/eager/test_py_layer.py",
    "gradient": "tests/engine/static/test_backward.py",
    "py_func": "tests/engine/static/test_python_functions.py",
    "auc": "tests/engine/static/test_metrics.py",
    "print_tensor": "tests/engine/static/test_metrics.py",
} | dict.fromkeys(
    ("conditional_block", "while", "while_grad", "print", "assert"), "tests/engine/ops/test_control.py"
)
ELSEWHERE |= dict.fromkeys(
    (
        "cholesky",
        "cholesky_solve",
        "eig",
        "eigh",
        "eigvals",
        "lstsq",
        "lu_unpack",
        "matrix_rank",
        "qr",
        "svd",
    ),
    "tests/engine/tensor/test_linalg.py",
)
ELSEWHERE |= dict.fromkeys(
    ("real", "imag", "conj", "angle", "complex", "as_complex", "as_real"), "tests/engine/ops/test_complex.py"
)
