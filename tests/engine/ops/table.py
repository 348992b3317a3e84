"""The table of operators: every one has a row of cases here, or the name of the test file that has it.

The rows are in ``<family>/table_<file>.py``, named after the folders and files of ``engine/ops``, and are
found by walking.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

from tests.engine.ops.case import Case

REPO = Path(__file__).resolve().parents[3]


def _tables() -> Iterator[str]:
    """The modules that hold rows, those of many families first.

    Their order is always the same: the workers of a parallel run must agree on it.
    """
    folder = Path(__file__).parent
    for path in (*sorted(folder.glob("table_*.py")), *sorted(folder.glob("*/table_*.py"))):
        yield ".".join(path.relative_to(REPO).with_suffix("").parts)


CASES: list[Case] = [case for table in _tables() for case in importlib.import_module(table).CASES]

# Operators that run inside Programs only, or whose result is an effect.
ELSEWHERE: dict[str, str] = {
    "py_layer": "tests/engine/eager/test_py_layer.py",
    "gradient": "tests/engine/static/test_backward.py",
    "py_func": "tests/engine/static/test_python_functions.py",
    "auc": "tests/engine/static/test_metrics.py",
    "print_tensor": "tests/engine/static/test_metrics.py",
    "check_numerics": "tests/engine/amp/test_debugging.py",
    "send_v2": "tests/engine/distributed/programs.py",
    "recv_v2": "tests/engine/distributed/programs.py",
    "with_values": "tests/engine/static/test_values_as_attributes.py",
    "with_lengths": "tests/engine/static/nn/test_sequences.py",
} | dict.fromkeys(
    ("conditional_block", "while", "while_again", "while_grad", "print", "assert"),
    "tests/engine/ops/test_control.py",
)
ELSEWHERE |= dict.fromkeys(
    (
        "cholesky",
        "cholesky_solve",
        "eig",
        "eig_grad",
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
) | dict.fromkeys(
    ("fft_c2c", "fft_r2c", "fft_r2c_grad", "fft_c2r", "fft_c2r_grad"), "tests/engine/ops/test_complex.py"
)
