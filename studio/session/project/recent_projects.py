"""Projects that were open before: their names, and whether they are still there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from studio.session.project.project_file import ProjectError, read_project
from studio.session.project.project_folder import name_of


@dataclass(frozen=True)
class RecentProject:
    """A line of the list; ``trouble`` says why it can't be opened, empty where it can."""

    name: str
    path: str
    trouble: str = ""


def recent_project(path: str) -> RecentProject:
    """What can be said of the project whose file is ``path``."""
    document = Path(path)
    try:
        return RecentProject(read_project(document).name, path)
    except ProjectError as error:
        missing = not document.is_file()
        return RecentProject(name_of(document), path, "missing" if missing else str(error))
