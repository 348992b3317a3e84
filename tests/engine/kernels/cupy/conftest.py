"""Kernels of the engine on a GPU, or on the stand-in for CuPy, which runs their sources on the host."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest

from engine.kernels.choice import kernels
from tests.cupy_stand_in.module import gpu, installed


@pytest.fixture(scope="module")
def cupy() -> Iterator[Any]:
    with nullcontext() if gpu() else installed():
        import cupy

        importlib.import_module("engine.kernels.cupy")  # the operators get their kernels
        yield cupy


@pytest.fixture(autouse=True)
def _ours() -> Iterator[None]:
    with kernels.guard("auto"):
        yield
