"""Files of data sets: plain ones and archives, read within limits.

Nothing is unpacked to the disk, and links are not followed: a name in an archive is only compared with the
names that are looked for.
"""

from __future__ import annotations

import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO

from engine.core.errors import AbsentError, DataError, FormatError
from engine.files.reading import read_error
from resources.regular_files import open_regular, read_regular

LIMIT = 1 << 30  # bytes in one file, and in all files of an archive that are read together
_CHUNK = 1 << 20  # a reader that is asked for more takes that memory before it knows whether it is there


@contextmanager
def readable(path: str) -> Iterator[None]:
    """Says in one line why the file can't be read: as AbsentError, DataError or FormatError."""
    try:
        yield
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        EOFError,
        zlib.error,
        gzip.BadGzipFile,
        lzma.LZMAError,
        UnicodeDecodeError,
        NotImplementedError,  # zipfile: another way of compression
        RuntimeError,  # zipfile: it is encrypted
    ) as cause:
        raise FormatError(f"{path}: can't be read: {_reason(cause)}; download it again") from cause
    except (DataError, FormatError):
        raise
    except FileNotFoundError as cause:
        raise AbsentError(f"{path}: does not exist; check the path") from cause
    except OSError as cause:
        raise read_error(path, cause) from cause


def _reason(cause: Exception) -> str:
    """What a library says, in one line; tarfile lists what each of its decompressors says."""
    text = str(cause)
    return "not such an archive, or damaged" if "\n" in text else text or "it is damaged"


def _read(file: IO[bytes] | gzip.GzipFile, most: int) -> bytes:
    """What is in ``file``, but no more than ``most`` bytes and one."""
    data = bytearray()
    while chunk := file.read(min(_CHUNK, most + 1 - len(data))):
        data += chunk
    return bytes(data)


def file_bytes(path: str) -> bytes:
    """The content of a plain file."""
    with readable(path):
        return read_regular(path, LIMIT)


def file_lines(path: str) -> list[str]:
    """The lines of a plain text in UTF-8."""
    data = file_bytes(path)
    with readable(path):
        return io.StringIO(data.decode()).readlines()


def tar_files(path: str, wanted: Callable[[str], bool]) -> list[tuple[str, bytes]]:
    """Names and contents of the files of a tar archive whose names are ``wanted``, in its order."""
    found, total = [], 0
    with readable(path), open_regular(path) as opened, tarfile.open(fileobj=opened) as archive:
        for member in archive:
            if not member.isfile() or not wanted(member.name):
                continue
            total += member.size
            if total > LIMIT:
                raise FormatError(
                    f"{path}: {member.name} makes it more than {LIMIT} bytes; they are not read"
                )
            file = archive.extractfile(member)
            found.append((member.name, b"" if file is None else _read(file, member.size)))
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


def zip_files(path: str, wanted: Callable[[str], bool]) -> list[tuple[str, bytes]]:
    """Names and contents of the files of a zip archive whose names are ``wanted``, in its order."""
    found, total = [], 0
    with readable(path), open_regular(path) as opened, zipfile.ZipFile(opened) as archive:
        for entry in archive.infolist():
            if entry.is_dir() or not wanted(entry.filename):
                continue
            with archive.open(entry) as file:
                data = _read(file, LIMIT - total)
            total += len(data)
            if total > LIMIT:
                raise FormatError(
                    f"{path}: {entry.filename} makes it more than {LIMIT} bytes; they are not read"
                )
            found.append((entry.filename, data))
    return found


def zip_file(path: str, *names: str) -> list[bytes]:
    """The contents of the files called ``names`` of a zip archive."""
    found = dict(zip_files(path, lambda name: name in names))
    for name in names:
        if name not in found:
            raise FormatError(f"{path}: has no {name}; is it the archive of this data set?")
    return [found[name] for name in names]


def unpacked(path: str, data: bytes) -> bytes:
    """The content of a gzip file that lies in the archive ``path``."""
    with readable(path), gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        plain = _read(file, LIMIT)
    if len(plain) > LIMIT:
        raise FormatError(f"{path}: holds a file of more than {LIMIT} bytes; it is not read")
    return plain


def lines_of(data: bytes) -> list[bytes]:
    """Lines with their ends, as reading a file in binary gives them."""
    return io.BytesIO(data).readlines()


def text_lines(path: str, data: bytes, encoding: str = "utf-8") -> list[str]:
    """The lines of a file of the archive ``path`` as text."""
    with readable(path):
        return [line.decode(encoding) for line in lines_of(data)]


def text_of(path: str, data: bytes, encoding: str = "utf-8") -> str:
    """The file of the archive ``path`` as text."""
    with readable(path):
        return data.decode(encoding)
