"""The searches there are, by name, and what each needs."""

from __future__ import annotations

from engine.core.errors import DataError
from studio.session.sweep.document import Search
from studio.session.sweep.search.rounds import Propose


def proposer(search: Search) -> Propose:
    """What proposes the trials of a search. Raises DataError, which names the extra that is missing."""
    try:
        from studio.session.sweep.search.tpe import propose
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("studio"):
            raise
        raise DataError(
            f"search: {search.kind} needs optuna, which is not installed; pip install 'model-studio[sweep]'"
        ) from error
    return propose
