"""The random networks again, with the code that CPUs without AVX-512 get: a process for all of them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from engine.kernels.fast import target

NETWORKS = Path(__file__).with_name("test_random_networks.py")
pytestmark = pytest.mark.timeout(0 if os.environ.get("MODEL_STUDIO_LONG") else 480)


@pytest.mark.skipif(not target.here().has("avx512f"), reason="this CPU has no AVX-512 to do without")
def test_plans_agree_with_the_plain_executor_without_avx512():
    variables = {**os.environ, target.VARIABLE: "avx2"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(NETWORKS)]
    found = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "6 passed" in found.stdout
