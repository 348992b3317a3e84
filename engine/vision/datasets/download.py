"""Downloads a file of known checksum from the first mirror that has it; it appears whole or not at all."""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from engine.core.errors import DataError
from engine.files.atomic import atomic_file, make_folder

Progress = Callable[[str, int, int], None]
"""Called with (file name, bytes so far, bytes in all or 0 if not known)."""

_CHUNK = 1 << 16
_LIMIT = 1 << 30


def download(
    urls: Sequence[str], target: Path, md5: str, progress: Progress | None = None, timeout: float = 15.0
) -> Path:
    """Puts the file at the first working one of ``urls`` at ``target``, if its MD5 is the expected one.

    Args:
        progress: receives the bytes that have arrived, after every 64 KiB.
        timeout: seconds without an answer after which the next mirror is tried.

    Raises:
        DataError: no mirror gave the file; says why for each.
        SaveError: the file can't be written.
    """
    make_folder(target.parent)
    failures = []
    for url in urls:
        try:
            _fetch(url, target, md5, progress, timeout)
        except (
            _Refused,
            urllib.error.URLError,
            http.client.HTTPException,
            TimeoutError,
            ConnectionError,
        ) as cause:
            failures.append(f"{urlsplit(url).hostname}: {getattr(cause, 'reason', None) or cause}")
        else:
            return target
    raise DataError(
        f"{target.name}: could not be downloaded ({'; '.join(failures)}); check the network and try again"
    )


class _Refused(Exception):
    """What a mirror sent is not the file."""


def _fetch(url: str, target: Path, md5: str, progress: Progress | None, timeout: float) -> None:
    digest = hashlib.md5(usedforsecurity=False)
    with urllib.request.urlopen(url, timeout=timeout) as answer, atomic_file(target) as file:
        total = 0
        with suppress(TypeError, ValueError):
            total = int(answer.headers.get("Content-Length"))
        done = 0
        while chunk := answer.read(_CHUNK):
            file.write(chunk)
            digest.update(chunk)
            done += len(chunk)
            if done > _LIMIT:
                raise _Refused(f"sends more than {_LIMIT} bytes")
            if progress is not None:
                progress(target.name, done, total)
        if digest.hexdigest() != md5:
            raise _Refused(f"sends another file: MD5 {digest.hexdigest()} of {done} bytes instead of {md5}")
