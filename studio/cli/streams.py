"""The streams of the program, made ready before anything is printed; without typer, for the window."""

from __future__ import annotations

import io
import os
import sys


def prepare_streams() -> None:
    """Let characters that stdout and stderr can't encode (an ASCII locale) be written as escapes.

    A stream that was closed before the start (``>&-``) takes what is written and drops it.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
