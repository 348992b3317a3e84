"""Where data sets lie on this machine, and under which names the files of an IDX data set go."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from resources.user_folders import user_folder

PREFIXES = {"train": ("train",), "test": ("t10k", "test")}


def cache_folder(name: str = "") -> Path:
    """This user's folder for what can be made or downloaded again (it may not exist yet)."""
    return user_folder("cache") / name


def data_folders(name: str) -> list[Path]:
    """The folders where the data set ``name`` is looked for, in order."""
    root = os.environ.get("MODEL_STUDIO_DATA")
    return [*([Path(root).expanduser() / name] if root else []), cache_folder(name)]


def idx_names(mode: str, what: str) -> list[str]:
    """The names that an image file (``what='images'``) or label file (``'labels'``) of a split may have."""
    kind = "idx3" if what == "images" else "idx1"
    stems = [f"{prefix}-{what}" for prefix in PREFIXES[mode]]
    plain = [f"{stem}{join}{kind}-ubyte" for stem in stems for join in ("-", ".")]
    plain += [f"{stem}.idx" for stem in stems]
    return [name + end for name in plain for end in ("", ".gz")]


def find_pair(folders: Iterable[Path], mode: str) -> tuple[Path, Path] | None:
    """The image file and the label file of a split, both from the first folder that has both."""
    for folder in folders:
        images = next(
            (folder / name for name in idx_names(mode, "images") if (folder / name).is_file()), None
        )
        labels = next(
            (folder / name for name in idx_names(mode, "labels") if (folder / name).is_file()), None
        )
        if images is not None and labels is not None:
            return images, labels
    return None
