"""A problem as the window shows it: title, message in its parts, details, the user's line."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resources.words import marked
from studio.session.option_titles import with_titles

# Between the parts of a message.
SEPARATOR = marked("; ")


@dataclass(frozen=True)
class ProblemView:
    """What went wrong: ``where: what; do``. ``file`` and ``line`` are the user's, empty and 0 where there is
    none; ``error`` is the class of the error, where there was one."""

    title: str
    where: str
    what: str
    do: str
    details: str = ""
    file: str = ""
    line: int = 0
    time: float = 0.0
    error: str = ""

    @property
    def message(self) -> str:
        """All three parts in one line, with the user's line where it is not named yet."""
        text = f"{self.where}: {self.what}" if self.where else self.what
        place = f"{Path(self.file).name}:{self.line}" if self.file else ""
        if place not in text:
            text = f"{text} ({place})"
        return f"{text}; {self.do}" if self.do else text

    def report(self) -> str:
        """Everything known, for "copy report"."""
        place = f'\nin "{self.file}", line {self.line}' if self.file else ""
        details = f"\n\n{self.details}" if self.details else ""
        return f"{self.title}\n{self.message}{place}{details}\n"


def problem_from_message(message: str, title: str, details: str = "") -> ProblemView:
    """A problem from a text of the form ``where: what: values seen; what to do``."""
    body, separator, do = with_titles(message).rpartition(SEPARATOR)
    if not separator:
        body, do = with_titles(message), ""
    where, separator, what = body.partition(": ")
    if not separator:
        where, what = "", body
    return ProblemView(title, where, what, do, details, time=time.time())


def problem_from_event(event: Mapping[str, Any], title: str) -> ProblemView:
    """A problem from an event that has a message, and for ``failed`` its parts and traceback."""
    if "traceback" not in event:
        return problem_from_message(event["message"], title, event.get("details", ""))
    return ProblemView(
        title=title,
        where=event["where"],
        what=with_titles(event["what"]),
        do=with_titles(event["do"]),
        details=event["traceback"],
        file=event["file"],
        line=event["line"],
        time=event["time"],
        error=event["error"],
    )


def unshown_event(message: str, details: str) -> ProblemView:
    """The problem of a child that continues after an event that can't be shown."""
    return problem_from_message(message, "An event could not be shown", details)
