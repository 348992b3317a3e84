"""Messages of engine and session in another language: recognised as wholes, and by their parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class Messages:
    """Finds the translation of a message.

    Args:
        texts: translations of texts without values.
        templates: sources with placeholders, each with its translation.
    """

    def __init__(self, texts: Mapping[str, str], templates: Iterable[tuple[str, str]]) -> None:
        self._texts = texts
        self._templates = list(templates)

    def shown(self, message: str) -> str:
        """The message translated as far as it is known; an unknown one as it is."""
        return self._texts.get(message, message)
