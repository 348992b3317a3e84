"""The searches there are, by name, and what each needs."""

from __future__ import annotations

from importlib.util import find_spec

from engine.core.errors import DataError
from resources.installing import extra
from studio.session.sweep.document import Search
from studio.session.sweep.search.rounds import Propose


def require_installed(search: Search) -> None:
    """Raises DataError, which names the extra, where a search can't propose; imports nothing."""
    try:
        found = find_spec("optuna") is not None
    except ValueError:  # a module without a specification
        found = False
    if not found:
        raise DataError(f"search: {search.kind} needs optuna, which is not installed; {extra('sweep')}")


def proposer(search: Search) -> Propose:
    """What proposes the trials of a search. Raises DataError where that is not installed, or damaged."""
    require_installed(search)
    try:
        from studio.session.sweep.search.tpe import propose
    except ImportError as error:
        raise DataError(
            f"search: {search.kind} needs optuna, which can't be imported: {error}; "
            "pip uninstall optuna, then pip install 'model-studio[sweep]'"
        ) from error
    return propose
