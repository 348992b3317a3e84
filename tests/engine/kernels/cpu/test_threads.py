"""BLAS threads are limited within the block only, and the user's word counts."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from engine.kernels.cpu.threads import one_blas_thread


def blas_threads():
    np.ones((2, 2)) @ np.ones((2, 2))
    found = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    if not found:
        pytest.skip("NumPy's BLAS on this machine is none that threadpoolctl knows")
    return max(found)


@pytest.fixture
def two_threads(monkeypatch):
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "BLIS_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    with threadpool_limits(limits=2, user_api="blas"):
        yield


def test_one_thread_within_the_block(two_threads):
    before = blas_threads()
    with one_blas_thread():
        assert blas_threads() == 1
    assert blas_threads() == before


def test_the_users_environment_counts(two_threads, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    before = blas_threads()
    with one_blas_thread():
        assert blas_threads() == before
