"""Project files and preferences: typed, versioned JSON, read strictly and written atomically."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Literal, TypeVar

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from studio.session.settings import RunSettings

APP = "model-studio"
FORMAT = "model-studio project"
SUFFIX = ".studio.json"
MAX_BYTES = 10_000_000
MAX_RECENT = 10

_Document = TypeVar("_Document", bound=BaseModel)


class ProjectError(ValueError):
    """A project or preferences file that can't be used: ``where: what: values; what to do``."""


class Project(BaseModel):
    """What a project file holds. ``runs`` is the folder of its runs, relative to the file or absolute."""

    model_config = ConfigDict(extra="forbid")

    format: Literal["model-studio project"] = "model-studio project"
    version: Literal[1] = 1
    name: str = "digits-lenet"
    settings: RunSettings = Field(default_factory=RunSettings)
    runs: str = "runs"


class Preferences(BaseModel):
    """What belongs to the person, not to a project.

    ``agreed`` holds the SHA-256 of every user file that may be imported: an agreement is to a content, so a
    changed file is asked for again, and a project file from a stranger can't bring one along.
    """

    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    theme: Literal["system", "light", "dark"] = "system"
    language: Literal["system", "en", "zh_CN"] = "system"
    recent_projects: list[str] = Field(default_factory=list)
    recent_models: list[str] = Field(default_factory=list)
    agreed: list[str] = Field(default_factory=list)

    def remember(self, project: Path) -> None:
        """Put ``project`` first among the recent ones."""
        name = str(project)
        self.recent_projects = [name, *(p for p in self.recent_projects if p != name)][:MAX_RECENT]

    def remember_model(self, prefix: str) -> None:
        """Put inference files first among the recent ones."""
        self.recent_models = [prefix, *(p for p in self.recent_models if p != prefix)][:MAX_RECENT]


def read_project(path: Path) -> Project:
    """The project in ``path``.

    Raises:
        ProjectError: not there, no project file, of a later version, or with values of the wrong type.
    """
    return _read(path, Project, "open a file that Model Studio wrote")


def write_project(path: Path, project: Project) -> None:
    """Write ``project`` atomically. Raises OSError, with the path and what to do, where that fails."""
    _write(path, project)


def preferences_path() -> Path:
    """Where this person's preferences are."""
    return platformdirs.user_config_path(APP) / "preferences.json"


def read_preferences() -> tuple[Preferences, str]:
    """The preferences and what was wrong with their file; defaults where it is absent or can't be used."""
    path = preferences_path()
    if not path.exists():
        return Preferences(), ""
    try:
        return _read(path, Preferences, "the defaults are used; saving the settings replaces the file"), ""
    except ProjectError as error:
        return Preferences(), str(error)


def write_preferences(preferences: Preferences) -> None:
    """Write the preferences atomically. Raises OSError, with the path and what to do, where that fails."""
    from engine.files.atomic import make_folder

    path = preferences_path()
    make_folder(path.parent)
    _write(path, preferences)


def default_runs_folder() -> Path:
    """Where runs go while there is no project file."""
    return platformdirs.user_data_path(APP) / "runs"


def file_digest(path: Path) -> str:
    """The SHA-256 of a file, by which an agreement is remembered."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _read(path: Path, kind: type[_Document], remedy: str) -> _Document:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ProjectError(f"{path}: can't be read: {error.strerror or error}; {remedy}") from error
    if len(data) > MAX_BYTES:
        raise ProjectError(f"{path}: too large for such a file: over {MAX_BYTES} bytes; {remedy}")
    try:
        values = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ProjectError(f"{path}: not JSON: {error}; {remedy}") from error
    version = values.get("version") if isinstance(values, dict) else None
    if isinstance(version, int) and version > 1:
        raise ProjectError(f"{path}: written by a later Model Studio: version {version}; update Model Studio")
    try:
        # From the text: only there does a strict type take what JSON has in its place (a list for a tuple).
        return kind.model_validate_json(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        seen = repr(first.get("input"))[:80]
        raise ProjectError(f"{path}: {place}: {first['msg'].lower()}: {seen}; {remedy}") from error


def _write(path: Path, document: BaseModel) -> None:
    from engine.files.atomic import atomic_write

    data = (document.model_dump_json(indent=2) + "\n").encode()
    atomic_write(path, lambda file: file.write(data))
