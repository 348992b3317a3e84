"""The exported files that stand here: next to the runs, and where models were loaded from lately."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from resources.settings.export import ENDINGS

EXPORTS = "inference"
"""The folder in that of a run where its exports are."""
_SUFFIXES = (".pdmodel", ".pdiparams", ".pdiparams.info")
_SINGLE = tuple(ENDINGS.values())


@dataclass(frozen=True)
class ExportedFiles:
    """The files of a model: three with their prefix, or one.

    ``size`` is in bytes, ``written`` when the newest was written (seconds from 1970), ``run`` the folder of
    the run that they are of, empty where that is not known.
    """

    prefix: str
    size: int
    written: float
    run: str


def exported_files(runs: Iterable[str], prefixes: Iterable[str]) -> list[ExportedFiles]:
    """Those in ``RUN/inference`` of the runs and those under the prefixes, the newest first; what is not
    whole, or can't be read, is left out."""
    found: dict[str, ExportedFiles] = {}
    for run in runs:
        folder = Path(run) / EXPORTS
        try:
            names = sorted(
                path.name for path in folder.iterdir() if path.name.endswith((_SUFFIXES[0], *_SINGLE))
            )
        except (OSError, ValueError):
            continue
        for name in names:
            _add(found, str(folder / name.removesuffix(_SUFFIXES[0])), run)
    for prefix in prefixes:
        if prefix not in found:
            folder = Path(prefix).parent
            of_run = folder.name == EXPORTS and (folder.parent / "journal.jsonl").is_file()
            _add(found, prefix, str(folder.parent) if of_run else "")
    return sorted(found.values(), key=lambda each: -each.written)


def _add(found: dict[str, ExportedFiles], prefix: str, run: str) -> None:
    try:
        names = [prefix] if prefix.endswith(_SINGLE) else [prefix + suffix for suffix in _SUFFIXES]
        stats = [Path(name).stat() for name in names]
    except (OSError, ValueError):
        return
    found[prefix] = ExportedFiles(
        prefix, sum(each.st_size for each in stats), max(each.st_mtime for each in stats), run
    )
