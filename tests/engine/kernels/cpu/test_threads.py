"""The number of threads: as set, as in the environment, or the number of cores; BLAS has one."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from engine.core.errors import ArgumentError
from engine.kernels.cpu import threads
from engine.kernels.cpu.threads import computing_threads


def blas_threads():
    np.ones((2, 2)) @ np.ones((2, 2))
    found = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    if not found:
        pytest.skip("NumPy's BLAS on this machine is none that threadpoolctl knows")
    return max(found)


@pytest.fixture
def no_word(monkeypatch):
    """The environment sets no number; there are seven cores, and BLAS has two threads."""
    for name in threads.USERS_WORD:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(threads, "_count", 0)
    monkeypatch.setattr(threads, "_cores", lambda: 7)
    with threadpool_limits(limits=2, user_api="blas"):
        yield


def test_the_default_is_the_number_of_cores(no_word):
    assert threads.get_num_threads() == 7
    with computing_threads() as count:
        assert (count, threads.get_num_threads(), blas_threads()) == (7, 7, 1)


def test_the_number_holds_within_the_block(no_word):
    threads.set_num_threads(5)
    with computing_threads(3) as count:
        assert (count, threads.get_num_threads()) == (3, 3)
        with computing_threads(1):
            assert threads.get_num_threads() == 1
    assert threads.get_num_threads() == 5


def test_the_users_environment_counts(no_word, monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "nonsense")
    monkeypatch.setenv("OMP_NUM_THREADS", "4,2")
    with computing_threads(3) as count:
        assert (count, blas_threads()) == (4, 1)
    threads.set_num_threads(6)  # a call takes precedence over the environment
    assert (threads.get_num_threads(), blas_threads()) == (6, 1)


@pytest.mark.parametrize("wrong", [0, -1, 1025, 2.0, True, "2"])
def test_wrong_numbers(no_word, wrong):
    with pytest.raises(ArgumentError, match="from 1 to 1024: got"):
        threads.set_num_threads(wrong)
