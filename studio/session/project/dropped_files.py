"""What a file or folder is that was dropped on the window, by its name and content; nothing runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from resources.settings.export import ENDINGS
from studio.session.project.project_file import SUFFIX
from studio.session.project.project_folder import is_project
from studio.session.runs.runs_folder import JOURNAL
from studio.session.sweep.document import NAME as SWEEP

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".pgm", ".ppm")
MODELS = (".pdiparams.info", ".pdiparams", ".pdmodel")
MOST_ENTRIES = 2000  # of a folder, looked at to see what it is
MODEL = "a model"
_REMEDY = "drop a saved model, the folder of a run, or a data set"
_NATIVE_WEIGHTS = ".pdparams"


@dataclass(frozen=True)
class DroppedFile:
    """``kind`` is project, run, runs, code, model, image, weights, data, or empty with the ``reason``.

    ``path`` is what to open: the folder of a run for a file in it, the folder of data for one of its files.
    """

    kind: str
    path: Path
    reason: str = ""


def look_at(path: Path) -> DroppedFile:
    """What ``path`` is. Imports the engine's readers of data where it may be data."""
    name = path.name.lower()
    if is_project(path) or name.endswith(SUFFIX):
        return DroppedFile("project", path)
    if path.is_dir():
        return _folder(path)
    if name.endswith(".py"):
        return DroppedFile("code", path)
    if not path.exists():
        return DroppedFile("", path, f"{path}: there is no such file; drop one of this computer")
    if name.endswith(MODELS):
        return DroppedFile("model", path)
    if name.endswith(IMAGE_SUFFIXES):
        return DroppedFile("image", path)
    stored = _stored(path)
    if stored == MODEL:
        return DroppedFile("model", path)
    if _is_weights(path) or (stored and name.endswith(_NATIVE_WEIGHTS)):
        return DroppedFile("weights", path)
    for folder in list(path.parents)[:2]:
        if (folder / JOURNAL).is_file():
            return DroppedFile("run", folder)
    if stored:
        return DroppedFile("", path, f"{path}: not a model and not data, but {stored}; {_REMEDY}")
    return _data(path.parent if "-ubyte" in name or name.endswith((".idx", ".idx.gz")) else path)


def _folder(path: Path) -> DroppedFile:
    if (path / JOURNAL).is_file():
        return DroppedFile("run", path)
    if (path / SWEEP).is_file():
        return DroppedFile("runs", path)
    found = _data(path)
    if found.kind:
        return found
    try:
        entries = [entry for _, entry in zip(range(MOST_ENTRIES), path.iterdir(), strict=False)]
    except OSError as error:
        return DroppedFile("", path, f"{path}: can't be read: {error.strerror or error}; drop another folder")
    if any((entry / JOURNAL).is_file() or (entry / SWEEP).is_file() for entry in entries):
        return DroppedFile("runs", path)
    models = sorted(entry for entry in entries if entry.name.endswith(MODELS[-1]))
    if not models:
        single = (entry for entry in sorted(entries) if entry.name.lower().endswith(tuple(ENDINGS.values())))
        models = [entry for entry in single if _stored(entry) == MODEL][:1]
    # Another folder may be meant as data: the page Data says what is missing there.
    return DroppedFile("model", models[0]) if models else DroppedFile("data", path)


def _stored(path: Path) -> str:
    """MODEL for a model that is one file, a few words for another file that Model Studio wrote; empty for
    others."""
    from engine.files.content import CONTAINER, ONNX, container_kind, content_of
    from engine.files.packed import KIND

    content = content_of(path)
    if content == ONNX:
        return MODEL
    if content != CONTAINER:
        return ""
    return MODEL if container_kind(path) == KIND else "weights or another part of a run"


def _is_weights(path: Path) -> bool:
    """Whether another program wrote it as weights; NPZ files may be data and count as that."""
    from engine.files.weights.reading import NPZ, foreign_form

    return foreign_form(path) not in ("", NPZ)


def _data(path: Path) -> DroppedFile:
    from engine.core.errors import EngineError
    from engine.training.sources.opening import kind_of

    try:
        kind_of(str(path))
    except EngineError as error:
        return DroppedFile("", path, str(error))
    return DroppedFile("data", path)
