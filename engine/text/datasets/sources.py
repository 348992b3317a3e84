"""Where the archives of text lie on this machine."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from engine.core.errors import AbsentError, ConditionError, DataError
from engine.vision.datasets.download import download as fetch
from engine.vision.datasets.locate import cache_folder, data_folders
from resources.user_folders import home_folder


@dataclass(frozen=True)
class Source:
    """A file that a data set is read from: the folder it belongs to, its address and checksum."""

    folder: str
    url: str
    md5: str

    @property
    def names(self) -> tuple[str, ...]:
        """What the file may be called: Paddle keeps it under the last part of the address, as it stands."""
        name = self.url.rpartition("/")[2]
        return tuple(dict.fromkeys((name.rpartition("%2F")[2], name)))


def chosen(where: str, what: str, value: object, choices: tuple[str, ...], *, upper: bool = False) -> str:
    """``value`` in small (or large) letters; raises ConditionError for any other value."""
    text = (value.upper() if upper else value.lower()) if isinstance(value, str) else ""
    if text not in choices:
        allowed = ", ".join(map(repr, choices))
        raise ConditionError(f"{where}: {what} should be one of {allowed}: got {value!r}; choose one")
    return text


def located(
    where: str, argument: str, given: str | os.PathLike[str] | None, source: Source, download: bool
) -> str:
    """The path of the file: the given one, one that lies on this machine, or a download.

    Raises:
        ConditionError: none is given and downloading is switched off.
        AbsentError: it is not on this machine and can't be downloaded.
    """
    if given is not None:
        return os.fspath(given)
    if not download:
        raise ConditionError(
            f"{where}: {argument} is not set and downloading automatically is disabled: get {source.url} "
            f"and pass its path as {argument}"
        )
    folders, found = _looked_up(source)
    if found is not None:
        return found
    target = cache_folder(source.folder) / source.names[0]
    try:
        return str(fetch([source.url], target, source.md5))
    except DataError as cause:
        looked = ", ".join(map(str, folders))
        raise AbsentError(
            f"{where}: {source.names[0]} is not in {looked}, and not to be downloaded ({cause}): get "
            f"{source.url} and pass its path as {argument}"
        ) from cause


def present(where: str, source: Source) -> str:
    """The path of the file on this machine; AbsentError where there is none: nothing is downloaded."""
    folders, found = _looked_up(source)
    if found is None:
        raise AbsentError(
            f"{where}: {source.names[0]} is not in {', '.join(map(str, folders))}: get {source.url} and "
            "put it into "
            "one of these folders"
        )
    return found


def _looked_up(source: Source) -> tuple[list[Path], str | None]:
    """Where the file is looked for, and its path where it is found."""
    folders = [*data_folders(source.folder), home_folder() / ".cache" / "paddle" / "dataset" / source.folder]
    paths = (folder / name for folder in folders for name in source.names)
    return folders, next((str(path) for path in paths if path.is_file()), None)
