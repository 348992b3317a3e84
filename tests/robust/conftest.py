"""Data and a model on which tests of trainings are done within a moment."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.robust.small_training import write_few, write_model


@pytest.fixture(scope="session")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a data set of two steps an epoch."""
    return write_few(tmp_path_factory.mktemp("few"))


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a model in a separate file."""
    return write_model(tmp_path_factory.mktemp("code"))
