"""The user's own models in a sweep: which file each is, that it has not changed, and whether it may run.

A sweep trains from the file itself, so it remembers the file's content. Like the code in a run (decision 45)
it runs where this installation wrote the sweep down with that content, or where the content was agreed to.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from engine.core.errors import DataError
from engine.files.installation import installation_key
from studio.session.project.project_file import file_digest

_CONTEXT = b"model-studio models of a sweep 1\0"


def located(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with the whole paths of own models and data: a sweep is resumed from any folder."""
    values = dict(settings)
    path, separator, name = str(values["model"]).rpartition(":")
    if separator and Path(path).expanduser().is_file():
        values["model"] = f"{Path(path).expanduser().absolute()}:{name}"
    data = Path(str(values["data"])).expanduser()
    if values["data"] not in ("digits", "mnist") and data.is_dir():
        values["data"] = str(data.absolute())
    return values


def model_file(settings: Mapping[str, Any]) -> str:
    """The user's file in the setting ``model``; empty for a built-in one."""
    path, separator, _ = str(settings["model"]).rpartition(":")
    return path if separator else ""


def digests(files: Iterable[str]) -> dict[str, str]:
    """The SHA-256 of each file. Raises DataError if one does not exist."""
    found = {}
    for name in files:
        try:
            found[name] = file_digest(Path(name))
        except OSError as error:
            raise DataError(
                f"model: the file can't be read: {name}: {error.strerror or error}; check the path"
            ) from error
    return found


def mark_of(models: Mapping[str, str]) -> str:
    """A signature of these models that only this installation can write; empty without its key or models."""
    key = installation_key()
    if key is None or not models:
        return ""
    text = json.dumps(sorted(models.items())).encode()
    return hmac.new(key, _CONTEXT + text, hashlib.sha256).hexdigest()


def require_same(models: Mapping[str, str], file: str) -> None:
    """Refuse a model whose file is not what it was when the sweep began. Raises DataError."""
    if file and digests([file])[file] != models.get(file):
        raise DataError(
            f"model: the file has changed since the sweep began: {file}; begin a new sweep, or put the "
            "former file back"
        )


def not_agreed_model(models: Mapping[str, str], mark: str, agreed: Collection[str]) -> str:
    """The first model that may not run; empty where all may."""
    own = mark_of(models)
    if own and hmac.compare_digest(own.encode(), mark.encode()):
        return ""
    return next((name for name, digest in models.items() if digest not in agreed), "")
