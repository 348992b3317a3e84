"""The places in the user's code that an operator comes from; one that passes built from several has
several."""

from __future__ import annotations

from engine.core.operators.operator import Operator


def positions(operator: Operator) -> list[tuple[str, int]]:
    """File and line of all operators that it combines, each once."""
    notes = operator.notes or {}
    if "parts" in notes:
        found = [place for part in notes["parts"] for place in positions(part)]
    elif "places" in notes:
        found = notes["places"]
    else:
        found = [] if operator.position is None else [operator.position]
    return [*dict.fromkeys(found)]
