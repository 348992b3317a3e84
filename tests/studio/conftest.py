"""Data on which every test of the studio can train within a moment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from psygnal import SignalGroupDescriptor


def write_idx(path: Path, array: np.ndarray) -> None:
    head = bytes([0, 0, 8, array.ndim]) + b"".join(size.to_bytes(4, "big") for size in array.shape)
    path.write_bytes(head + array.astype(np.uint8).tobytes())


@pytest.fixture(scope="session")
def bars(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten easy classes: a bright bar at the height that belongs to the label."""
    folder = tmp_path_factory.mktemp("bars")
    for name, count in (("train", 200), ("t10k", 50)):
        labels = np.arange(count) % 10
        images = np.zeros((count, 28, 28))
        for image, label in zip(images, labels, strict=True):
            image[2 * label + 4 : 2 * label + 7, 4:24] = 255
        write_idx(folder / f"{name}-images-idx3-ubyte", images)
        write_idx(folder / f"{name}-labels-idx1-ubyte", labels)
    return folder


@pytest.fixture(autouse=True)
def _views_are_freed() -> Iterator[None]:
    """Disconnect the views of a test, so that they and the window that listens to them are freed.

    psygnal holds the signals of a view until the view is freed, and a signal holds its listeners, which hold
    the view: 4 MB for each window.
    """
    groups = SignalGroupDescriptor._instance_map
    before = set(groups)
    yield
    for key in groups.keys() - before:
        for signal in groups[key].signals.values():
            signal.disconnect()
