"""Files of data sets: plain ones and archives, read within limits.

Nothing is unpacked to the disk, and links are not followed: a name in an archive is only compared with the
names that are looked for.
"""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.core.errors import AbsentError, DataError, FormatError

LIMIT = 1 << 30  # bytes in one file, and in all files of an archive that are read together


@contextmanager
def _readable(path: str) -> Iterator[None]:
    """Says in one line why the file can't be read."""
    try:
        yield
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        EOFError,
        zlib.error,
        gzip.BadGzipFile,
        UnicodeDecodeError,
    ) as cause:
        raise FormatError(f"{path}: can't be read: {cause or 'it is damaged'}; download it again") from cause
    except FileNotFoundError as cause:
        raise AbsentError(f"{path}: does not exist; check the path") from cause
    except OSError as cause:
        raise DataError(f"{path}: can't be read: {cause.strerror or cause}; check the path") from cause


def file_bytes(path: str) -> bytes:
    """The content of a plain file."""
    with _readable(path):
        size = os.stat(path).st_size
        if size > LIMIT:
            raise FormatError(f"{path}: has {size} bytes; more than {LIMIT} are not read")
        return Path(path).read_bytes()


def file_lines(path: str) -> list[str]:
    """The lines of a plain text in UTF-8."""
    data = file_bytes(path)
    with _readable(path):
        return io.StringIO(data.decode()).readlines()


def tar_files(path: str, wanted: Callable[[str], bool]) -> list[tuple[str, bytes]]:
    """Names and contents of the files of a tar archive whose names are ``wanted``, in its order."""
    found, total = [], 0
    with _readable(path), tarfile.open(path) as archive:
        for member in archive:
            if not member.isfile() or not wanted(member.name):
                continue
            total += member.size
            if total > LIMIT:
                raise FormatError(
                    f"{path}: {member.name} makes it more than {LIMIT} bytes; they are not read"
                )
            file = archive.extractfile(member)
            found.append((member.name, b"" if file is None else file.read()))
    return found


def tar_file(path: str, *names: str) -> list[bytes]:
    """The contents of the files called ``names`` of a tar archive; a leading ``./`` does not matter."""
    plain = [name.removeprefix("./") for name in names]
    found = {
        n.removeprefix("./"): data for n, data in tar_files(path, lambda n: n.removeprefix("./") in plain)
    }
    missing = [name for name in plain if name not in found]
    if missing:
        raise FormatError(f"{path}: has no {', '.join(missing)}; is it the archive of this data set?")
    return [found[name] for name in plain]


def zip_file(path: str, *names: str) -> list[bytes]:
    """The contents of the files called ``names`` of a zip archive."""
    contents, total = [], 0
    with _readable(path), zipfile.ZipFile(path) as archive:
        entries = {entry.filename: entry for entry in archive.infolist()}
        for name in names:
            if name not in entries:
                raise FormatError(f"{path}: has no {name}; is it the archive of this data set?")
            with archive.open(entries[name]) as file:
                data = file.read(LIMIT - total + 1)
            total += len(data)
            if total > LIMIT:
                raise FormatError(f"{path}: {name} makes it more than {LIMIT} bytes; they are not read")
            contents.append(data)
    return contents


def unpacked(path: str, data: bytes) -> bytes:
    """The content of a gzip file that lies in the archive ``path``."""
    with _readable(path), gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        plain = file.read(LIMIT + 1)
    if len(plain) > LIMIT:
        raise FormatError(f"{path}: holds a file of more than {LIMIT} bytes; it is not read")
    return plain


def lines_of(data: bytes) -> list[bytes]:
    """Lines with their ends, as reading a file in binary gives them."""
    return io.BytesIO(data).readlines()


def text_lines(path: str, data: bytes, encoding: str = "utf-8") -> list[str]:
    """The lines of a file of the archive ``path`` as text."""
    with _readable(path):
        return [line.decode(encoding) for line in lines_of(data)]
