"""Collects the templates of messages that engine and session make: ``{0}`` stands for each value."""

from __future__ import annotations


def messages() -> dict[str, set[str]]:
    """The templates, each with the files that have it."""
    return {}
