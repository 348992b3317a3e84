"""The golden files of each version, and copies to open as the installation that wrote them, or as another."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from packaging.version import Version

from engine.files.native.installation import key_path

HERE = Path(__file__).parent
FILES = HERE / "files"  # a folder for each version
VALUES = "values.json"  # in it
RUN = Path("runs/run-1")  # in the project
SWEEP = Path("runs/sweep-1")
# The key that signed the golden files, and that of another installation.
KEY = bytes(range(32))
OTHER_KEY = bytes(range(1, 33))


def use_key(key: bytes) -> None:
    """Let ``key`` be this installation's, in the user's data folder as the environment names it."""
    path = key_path()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.touch(0o600)
    path.write_bytes(key)


def versions(files: Path = FILES) -> list[str]:
    """The versions that have golden files, oldest first."""
    return sorted((path.parent.name for path in files.glob(f"*/{VALUES}")), key=Version)


def copy_to(folder: Path, version: str) -> Path:
    """A copy of the golden files of ``version`` in ``folder``."""
    return Path(shutil.copytree(FILES / version, folder / "golden"))


def recorded_values(version: str) -> dict[str, Any]:
    """The results that the golden files gave when ``version`` wrote them."""
    values: dict[str, Any] = json.loads((FILES / version / VALUES).read_text())
    return values


def images_of(project: Path) -> NDArray[np.float32]:
    """The test images of the project's data as its models take them."""
    with np.load(project / "data/bars.npz") as file:
        images: NDArray[np.float32] = file["x_test"][:, None].astype(np.float32) / 255.0
    return images
