"""The user's own models in a sweep: which file each is, that it has not changed, and whether it may run.

A sweep trains from the file itself, so it remembers the content of the file and of what that imports. Like
the code in a run (decision 45) it runs where this installation wrote the sweep down with that content, or
where the content was agreed to.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.core.errors import DataError
from engine.files.native.installation import installation_key
from resources.local_code import CodeTooLarge, LocalCode, read_code

if TYPE_CHECKING:
    from studio.session.sweep.document import Sweep

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


def code_of(file: str) -> LocalCode:
    """The code of a model's file. Raises DataError where it can't be read."""
    try:
        return read_code(Path(file))
    except (OSError, CodeTooLarge) as error:
        said = getattr(error, "strerror", None) or error
        raise DataError(f"model: the file can't be read: {file}: {said}; check the path") from error


def mark_of(models: Mapping[str, str]) -> str:
    """A signature of these models that only this installation can write; empty without its key or models."""
    key = installation_key()
    if key is None or not models:
        return ""
    text = json.dumps(sorted(models.items())).encode()
    return hmac.new(key, _CONTEXT + text, hashlib.sha256).hexdigest()


def require_same(sweep: Sweep, file: str) -> None:
    """Refuse a model whose code changed after the sweep began. Raises DataError, which names what changed."""
    if not file:
        return
    code = code_of(file)
    if code.digest == sweep.models.get(file):
        return
    before = sweep.files.get(file, {})
    names = [name for name in {**code.digests, **before} if before.get(name) != code.digests.get(name)]
    changed = ", ".join(str(code.folder / name) for name in names[:10])
    raise DataError(
        f"model: the file has changed since the sweep began: {changed}; begin a new sweep, or put the former "
        "file back"
    )


def not_agreed_model(models: Mapping[str, str], mark: str, agreed: Collection[str]) -> str:
    """The first model that may not run; empty where all may."""
    own = mark_of(models)
    if own and hmac.compare_digest(own.encode(), mark.encode()):
        return ""
    return next((name for name, digest in models.items() if digest not in agreed), "")
