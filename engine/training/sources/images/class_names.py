"""The classes of an image folder: a sub-folder each, in the order of ``classes.txt`` where there is one.

A class may be called what no folder can be called (``T-shirt/top``): such characters stand percent-encoded
in the name of its folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from engine.core.errors import ArgumentError, DataError
from engine.files.reading import read_error
from resources.regular_files import open_regular

CLASSES_FILE = "classes.txt"
MOST_CLASSES = 100_000
_LONGEST = 200
_FORBIDDEN = '<>:"/\\|?*%'


def folder_of_class(name: str) -> str:
    """The name of the folder that holds the images of a class.

    Raises:
        ArgumentError: a name that is empty, too long, or of more than one line.
    """
    if not name.strip() or len(name) > _LONGEST or not name.isprintable():
        raise ArgumentError(
            f"class: not the name of a class: {name!r:.80}; give one line of 1 to {_LONGEST} letters"
        )
    coded = "".join(_coded(letter) if letter in _FORBIDDEN else letter for letter in name)
    # Windows drops dots and spaces at the end, and a dot in front hides a folder.
    head, tail = (coded[0], coded[1:]) if coded[0] in ". " else ("", coded)
    body = tail.rstrip(". ")
    return _coded(head) + body + "".join(map(_coded, tail[len(body) :]))


def class_of_folder(folder: str) -> str:
    """The class whose images the folder of this name holds."""
    return unquote(folder)


def read_class_names(folder: Path) -> list[str]:
    """The classes that ``classes.txt`` in ``folder`` lists, one a line; empty where there is no such file.

    Raises:
        DataError: it can't be read, is too long, or names a class twice.
    """
    path = folder / CLASSES_FILE
    try:
        with open_regular(path) as file:
            data = file.read(MOST_CLASSES * 16 + 1)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise read_error(path, error) from error
    names = [line.strip() for line in data.decode("utf-8", "replace").splitlines() if line.strip()]
    twice = next((name for name in names if names.count(name) > 1), None) if len(names) < 1000 else None
    if len(data) > MOST_CLASSES * 16 or len(names) > MOST_CLASSES or twice is not None:
        seen = f"{twice!r} stands there twice" if twice is not None else f"{len(data)} bytes"
        raise DataError(f"{path}: not a list of classes: {seen}; write each class on a line of its own")
    return names


def class_list(names: Sequence[str]) -> bytes:
    """What ``classes.txt`` holds for these classes."""
    return ("\n".join(names) + "\n").encode()


def _coded(letter: str) -> str:
    return "".join(f"%{byte:02X}" for byte in letter.encode())
