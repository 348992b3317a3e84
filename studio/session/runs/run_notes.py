"""What a person writes about a run: name, note, tags, colour, hidden or not; a file in its folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
)

from studio.session.project.project_file import ProjectError, read_document, refuse_later, write_document

NAME = "notes.json"
MOST_TAGS, LONGEST_TAG, LONGEST_NAME, LONGEST_NOTE = 20, 50, 120, 20_000
_Place = Annotated[int, Field(ge=0, le=255)]
_Rgb = Annotated[str, Field(pattern=r"^#[0-9A-Fa-f]{6}$")]


class RunNotes(BaseModel):
    """The file's contents; all fields are empty for a run without notes.

    ``color`` is the place of a run colour or ``#RRGGBB``. Version 2 is the first that has one, and is written
    only where there is one, so that an earlier Model Studio reads all other notes.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    format: Literal["model-studio run notes"] = "model-studio run notes"
    version: Literal[1, 2] = 2
    name: str = Field(default="", max_length=LONGEST_NAME)
    note: str = Field(default="", max_length=LONGEST_NOTE)
    tags: tuple[Annotated[str, Field(max_length=LONGEST_TAG)], ...] = Field(default=(), max_length=MOST_TAGS)
    hidden: bool = False
    color: _Place | _Rgb | None = None

    @field_validator("version")
    @classmethod
    def _newest(cls, version: int) -> int:
        return 2

    @model_serializer(mode="wrap")
    def _earliest_version(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        plain: dict[str, Any] = serialize(self)
        if self.color is None:
            plain["version"] = 1
            plain.pop("color", None)
        return plain


NOTHING = RunNotes()


def read_notes(folder: Path) -> tuple[RunNotes, str]:
    """The notes about the run in ``folder`` and what was wrong with their file; nothing where there is none.

    A file that is not a regular one (a link, a pipe) is not opened.
    """
    path = folder / NAME
    try:
        kind = path.lstat().st_mode
    except (OSError, ValueError):
        return NOTHING, ""
    if not stat.S_ISREG(kind):
        return NOTHING, f"{path}: not read: no plain file; remove it"
    try:
        return read_document(path, RunNotes, "a new name or note replaces the file"), ""
    except ProjectError as error:
        return NOTHING, str(error)


def write_notes(folder: Path, notes: RunNotes) -> None:
    """Write the notes atomically; a run without notes has no file.

    Raises:
        OSError: it can't be written, a link is in its place, or a later version wrote it; the message has the
        path and what to do.
    """
    path = folder / NAME
    if path.is_symlink():
        raise OSError(f"{path}: not written: a link to elsewhere: {os.readlink(path)}; remove it")
    refuse_later(path, RunNotes)
    if notes != NOTHING or path.exists():
        write_document(path, notes)


def clean_name(text: str) -> str:
    """``text`` as a name: one line, without spaces around it, not longer than a name may be."""
    return " ".join(text.split())[:LONGEST_NAME].strip()


def parse_tags(text: str) -> tuple[str, ...]:
    """Tags as people write them, ``baseline, wide``: each once, in their order.

    Raises:
        ValueError: too many, or one that is too long.
    """
    tags = tuple(dict.fromkeys(" ".join(part.split()) for part in text.split(",") if part.strip()))
    long = next((tag for tag in tags if len(tag) > LONGEST_TAG), None)
    if long is not None:
        raise ValueError(f"tags: too long: {long[:60]!r}; at most {LONGEST_TAG} characters")
    if len(tags) > MOST_TAGS:
        raise ValueError(f"tags: too many: {len(tags)}; at most {MOST_TAGS}")
    return tags
