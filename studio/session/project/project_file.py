"""Project files and preferences: typed, versioned JSON, read strictly and written atomically."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
)
from pydantic_core import PydanticSerializationError

from resources.json_documents import DocumentError, parse
from resources.locks import Holder, wait_for
from resources.regular_files import read_regular
from resources.replacing import hidden_prefix
from resources.settings.export import EXPORT_SETTINGS, WINDOW_EXPORT, ExportSettings
from resources.settings.quantize import QUANTIZE_SETTINGS
from resources.settings.rate import RATE_SETTINGS, RateSettings
from resources.settings.setting import Setting
from resources.user_folders import NO_HOME, user_folder
from studio.session.export.quantization.choices import QuantizeChoices
from studio.session.train.run_settings import RunSettings

FORMAT = "model-studio project"
SUFFIX = ".studio.json"
MAX_BYTES = 10_000_000
MAX_RECENT = 10
_WRITER_WAITS = 5.0  # seconds

_Document = TypeVar("_Document", bound=BaseModel)


class ProjectError(ValueError):
    """A project or preferences file that can't be used: ``where: what: values; what to do``."""


class LaterVersionError(ProjectError):
    """The file of a later version, which this program neither reads nor replaces."""


class ProjectChangedError(ProjectError):
    """The file of a project is no longer what was read from it or written to it here."""


class Project(BaseModel):
    """What a project file holds. ``runs`` is the folder of its runs, relative to the file or absolute.

    ``further_runs`` are runs, sweeps and folders of them that lie elsewhere, absolute. Version 2 is the first
    that has them, and paths of settings that begin with ``./``, which are within the project's folder.
    ``export_prefix`` is where exported files go, empty for each run's usual place.
    """

    model_config = ConfigDict(extra="forbid")

    format: Literal["model-studio project"] = "model-studio project"
    version: Literal[1, 2] = 2
    name: str = "digits-lenet"
    settings: RunSettings = Field(default_factory=RunSettings)
    runs: str = "runs"
    further_runs: list[str] = Field(default_factory=list)
    export: ExportSettings = WINDOW_EXPORT
    export_prefix: str = ""
    quantize: QuantizeChoices = Field(default_factory=QuantizeChoices)
    rate: RateSettings = Field(default_factory=RateSettings)

    @field_validator("export")
    @classmethod
    def _valid_export(cls, export: ExportSettings) -> ExportSettings:
        _refuse_problems(EXPORT_SETTINGS, vars(export))
        return export

    @field_validator("quantize")
    @classmethod
    def _valid_quantize(cls, quantize: QuantizeChoices) -> QuantizeChoices:
        _refuse_problems(QUANTIZE_SETTINGS, vars(quantize))
        return quantize

    @field_validator("rate")
    @classmethod
    def _valid_rate(cls, rate: RateSettings) -> RateSettings:
        _refuse_problems(RATE_SETTINGS, vars(rate))
        return rate

    @model_serializer(mode="wrap")
    def _without_defaults(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Settings of other tasks than a run are written where they differ from the defaults."""
        plain: dict[str, Any] = serialize(self)
        if self.export == WINDOW_EXPORT:
            plain.pop("export", None)
        if not self.export_prefix:
            plain.pop("export_prefix", None)
        if self.quantize == QuantizeChoices():
            plain.pop("quantize", None)
        if self.rate == RateSettings():
            plain.pop("rate", None)
        return plain

    @field_validator("version")
    @classmethod
    def _as_written_now(cls, version: int) -> int:
        return 2


def _refuse_problems(settings: Mapping[str, Setting], values: Mapping[str, Any]) -> None:
    """Raises ValueError for the first value that the window could not show."""
    for name, setting in settings.items():
        value = values[name]
        offered = setting.kind != "name" or not setting.choices or value in dict(setting.choices)
        problem = setting.problem(value) if offered else f"no such choice: got {value!r:.80}"
        if problem:
            raise ValueError(f"{name}: {problem}")


class Preferences(BaseModel):
    """What belongs to the person, not to a project.

    ``agreed`` holds the digests of code that may run (``resources.local_code``; of a single file its
    SHA-256): an agreement is to a content, so changed code is asked for again, and an untrusted project file
    can't bring one along. ``notify`` allows messages of the system. ``recent_files`` are data and code.
    ``debug_memory`` is how many MB of values the page Debug retains.
    """

    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    theme: Literal["system", "light", "dark"] = "system"
    language: Literal["system", "en", "zh_CN"] = "system"
    recent_projects: list[str] = Field(default_factory=list)
    recent_models: list[str] = Field(default_factory=list)
    recent_files: list[str] = Field(default_factory=list)
    agreed: list[str] = Field(default_factory=list)
    notify: bool = True
    recent_commands: list[str] = Field(default_factory=list)
    debug_memory: int = Field(default=512, ge=1, le=1_000_000)

    def remember(self, project: Path) -> None:
        """Put ``project`` first among the recent ones."""
        self.recent_projects = _with_first(self.recent_projects, str(project))

    def forget(self, project: Path) -> None:
        """Take ``project`` from the recent ones."""
        self.recent_projects = [path for path in self.recent_projects if path != str(project)]

    def remember_model(self, prefix: str) -> None:
        """Put inference files first among the recent ones."""
        self.recent_models = _with_first(self.recent_models, prefix)

    def remember_file(self, path: str) -> None:
        """Put data or the code of a model first among the recent files."""
        self.recent_files = _with_first(self.recent_files, path)

    def forget_recent(self) -> None:
        """Empty all lists of what was opened."""
        self.recent_projects, self.recent_models, self.recent_files = [], [], []

    def remember_command(self, name: str) -> None:
        """Put the id of an entry of the palette first among those used last."""
        self.recent_commands = _with_first(self.recent_commands, name)


def _with_first(names: list[str], name: str) -> list[str]:
    """The list with the name in front; a name that could not be saved is left out."""
    if not is_unicode(name):
        return names
    return [name, *(each for each in names if each != name)][:MAX_RECENT]


def read_project(path: Path) -> Project:
    """The project in ``path``.

    Raises:
        ProjectError: not there, no project file, of a later version, or with values of the wrong type.
    """
    return open_project(path)[0]


def open_project(path: Path) -> tuple[Project, str]:
    """The project in ``path`` and the SHA-256 of the file, by which a later save sees that it is still that
    one. Raises as :func:`read_project`."""
    remedy = "open a file that Model Studio wrote"
    data = _bytes(path, remedy)
    return _document(path, data, Project, remedy), hashlib.sha256(data).hexdigest()


def write_project(path: Path, project: Project, seen: str | None = None) -> str:
    """Write ``project`` atomically; returns the SHA-256 of what was written.

    Args:
        seen: the SHA-256 of what the file held when it was last read or written here; None to replace
            whatever it holds.

    Raises:
        ProjectChangedError: another window or process has written it since. OSError: it can't be written, or
            another process is writing it; the message has the path and what to do.
    """
    from engine.core.errors import InUseError
    from engine.files.atomic import saving

    path = Path(os.path.realpath(path))
    with saving(path):
        taken = wait_for(path.with_name(f".{hidden_prefix(path.name)}.lock"), _WRITER_WAITS)
    if isinstance(taken, Holder):
        raise InUseError(
            f"{path}: the project is being saved by {taken}; wait until that has ended, or save under "
            "another name"
        )
    try:
        with saving(path):
            changed = seen is not None and path.exists() and file_digest(path) != seen
        if changed:
            raise ProjectChangedError(
                f"{path}: not saved: another window or program has changed it since it was opened here; save "
                "under another name, or open it again"
            )
        return write_document(path, project)
    finally:
        taken.release()


def preferences_path() -> Path:
    """Where this person's preferences are."""
    return user_folder("config", author=True) / "preferences.json"


def read_preferences() -> tuple[Preferences, str]:
    """The preferences and what was wrong with their file; defaults where it is absent or can't be used."""
    path = preferences_path()
    if not path.exists():
        return Preferences(), ""
    try:
        return read_document(
            path, Preferences, "the defaults are used; saving the settings replaces the file"
        ), ""
    except ProjectError as error:
        return Preferences(), str(error)


def write_preferences(preferences: Preferences) -> None:
    """Write the preferences atomically.

    Raises:
        OSError: it fails, or a later version wrote the file; the message has the path and what to do.
    """
    from engine.files.atomic import make_folder

    path = preferences_path()
    refuse_later(path, Preferences)
    make_folder(path.parent)
    write_document(path, preferences)


def default_runs_folder() -> Path:
    """Where runs go while there is no project file: in the folder worked in where there is no home."""
    found = user_folder("data", author=True)
    return Path("runs").absolute() if found.is_relative_to(NO_HOME) else found / "runs"


def file_digest(path: Path) -> str:
    """The SHA-256 of a file, by which an agreement is remembered. Raises OSError for a pipe too."""
    return hashlib.sha256(read_regular(path, MAX_BYTES)).hexdigest()


def read_document(path: Path, kind: type[_Document], remedy: str) -> _Document:
    """A JSON file of ours as the model ``kind``; ``remedy`` says what to do where it is none.

    Raises:
        ProjectError: as ``read_project``.
    """
    return _document(path, _bytes(path, remedy), kind, remedy)


def refuse_later(path: Path, kind: type[BaseModel]) -> None:
    """Raises OSError where the file, which is about to be replaced, was written by a later version."""
    try:
        read_document(path, kind, "")
    except LaterVersionError as error:
        raise OSError(str(error)) from error
    except ProjectError:
        pass


def _bytes(path: Path, remedy: str) -> bytes:
    try:
        return read_regular(path, MAX_BYTES)
    except (OSError, ValueError) as error:  # ValueError: a zero in the path
        said = getattr(error, "strerror", None) or error
        raise ProjectError(f"{path}: can't be read: {said}; {remedy}") from error


def _document(path: Path, data: bytes, kind: type[_Document], remedy: str) -> _Document:
    try:
        values = parse(data)
    except DocumentError as error:
        raise ProjectError(f"{path}: {error}; {remedy}") from error
    version = values.get("version") if isinstance(values, dict) else None
    if isinstance(version, int) and version > kind.model_fields["version"].default:
        raise LaterVersionError(
            f"{path}: written by a later Model Studio: version {version}; update Model Studio"
        )
    try:
        # From the text: only there does a strict type take what JSON has in its place (a list for a tuple).
        return kind.model_validate_json(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        seen = repr(first.get("input"))[:80]
        raise ProjectError(f"{path}: {place}: {first['msg'].lower()}: {seen}; {remedy}") from error


def document_bytes(path: Path, document: BaseModel) -> bytes:
    """``document`` as JSON for the file ``path``.

    Raises SaveError for text that is not Unicode: a name in another encoding, which JSON can't hold.
    """
    try:
        return (document.model_dump_json(indent=2) + "\n").encode()
    except PydanticSerializationError as error:
        from engine.core.errors import SaveError  # here, since the window's start writes a document

        found = next((text for text in _texts(document.model_dump()) if not is_unicode(text)), "")
        raise SaveError(
            f"{path}: could not be saved: a name is not UTF-8: {found!r:.200}; rename that file or folder. "
            "What was there before is unchanged"
        ) from error


def is_unicode(text: str) -> bool:
    """Whether ``text`` can be written; a file name in another encoding than the system's can't."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield from _texts(name)
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def write_document(path: Path, document: BaseModel) -> str:
    """Write ``document`` as JSON, atomically; returns the SHA-256 of what was written. Raises SaveError."""
    from engine.files.atomic import atomic_write

    data = document_bytes(path, document)
    atomic_write(path, lambda file: file.write(data))
    return hashlib.sha256(data).hexdigest()
