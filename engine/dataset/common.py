"""Paddle's ``dataset.common``: files of data sets, downloaded once and checked."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from engine.core.errors import ArgumentError
from engine.files.atomic import make_folder
from engine.vision.datasets.download import download as fetch
from engine.vision.datasets.locate import cache_folder, data_folders
from resources.regular_files import open_regular

__all__ = ["DATA_HOME", "download", "md5file", "must_mkdirs"]

DATA_HOME = str(cache_folder())
_FOLDER = re.compile(r"[a-zA-Z0-9_/\-]+")
_FILE = re.compile(r"(?:(?!\.\.)[a-zA-Z0-9_/.\-])+")


def md5file(fname: str) -> str:
    """The MD5 of a file, as 32 digits."""
    with open_regular(fname) as file:
        return hashlib.file_digest(file, "md5").hexdigest()


def must_mkdirs(path: str) -> None:
    """Make the folder ``path``, and those above it, unless it is there."""
    make_folder(Path(path))


def download(url: str, module_name: str, md5sum: str, save_name: str | None = None) -> str:
    """The path of the file at ``url`` on this machine, downloaded unless it is there with this MD5.

    It is looked for in ``$MODEL_STUDIO_DATA/<module_name>`` and in this user's cache folder, where it is put;
    ``save_name`` is its name, by default the last part of the address.

    Raises ArgumentError for names that lead out of the folder, DataError where it can't be downloaded.
    """
    name = url.rpartition("/")[2] if save_name is None else save_name
    if _FOLDER.fullmatch(module_name) is None or _FILE.fullmatch(name) is None or name.startswith("/"):
        raise ArgumentError(
            f"dataset.common.download: {module_name!r} and {name!r} are to be names below the data folder; "
            "use letters, digits, _ and -"
        )
    module_name = module_name.strip("/")
    for folder in data_folders(module_name):
        if (folder / name).is_file() and md5file(str(folder / name)) == md5sum:
            return str(folder / name)
    return str(fetch([url], cache_folder(module_name) / name, md5sum))
