"""Tests of this folder compute on a GPU: on CuPy where there is one, else on a strict stand-in for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest

import engine as paddle
from tests.cupy_stand_in.module import gpu, installed


@pytest.fixture(scope="module")
def module() -> Iterator[Any]:
    with nullcontext() if gpu() else installed():
        import cupy

        yield cupy


@pytest.fixture(autouse=True)
def cupy(module: Any) -> Iterator[Any]:
    """The module ``cupy``; new tensors are created on the GPU."""
    paddle.set_device("gpu:0")
    yield module
    paddle.set_device("cpu")
