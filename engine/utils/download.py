"""Paddle's ``utils.download``: files that a script expects to be fetched; here they are looked for only."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from engine.core.errors import AbsentError, FormatError
from resources.regular_files import open_regular

__all__ = ["get_weights_path_from_url"]

WEIGHTS_HOME = os.path.expanduser("~/.cache/paddle/hapi/weights")


def is_url(path: str) -> bool:
    """Whether ``path`` is an address of the web."""
    return path.startswith(("http://", "https://"))


def get_weights_path_from_url(url: str, md5sum: str | None = None) -> str:
    """The path of a file of weights that lies in Paddle's folder of downloads under the address's name.

    Raises AbsentError where it does not, FormatError where its MD5 sum is another one.

    Differs from Paddle: nothing is downloaded.
    """
    return get_path_from_url(url, WEIGHTS_HOME, md5sum)


def get_path_from_url(
    url: str,
    root_dir: str,
    md5sum: str | None = None,
    check_exist: bool = True,
    decompress: bool = True,
    method: str = "get",
) -> str:
    """The path of the file in ``root_dir`` that has the address's name. Raises as above.

    Differs from Paddle: nothing is downloaded, and archives are not unpacked.
    """
    path = Path(root_dir) / url.rpartition("/")[2]
    if not path.exists():
        raise AbsentError(
            f"get_path_from_url: {path} does not exist, and nothing is downloaded here; fetch {url} and "
            "put it there"
        )
    if md5sum and path.is_file() and _md5(path) != md5sum:
        raise FormatError(
            f"get_path_from_url: {path} has the MD5 sum {_md5(path)}, not {md5sum}; fetch it again"
        )
    return str(path)


def _md5(path: Path) -> str:
    with open_regular(path) as file:
        return hashlib.file_digest(file, "md5").hexdigest()
