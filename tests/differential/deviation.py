"""A difference that is meant: the calls that it concerns, and its reason."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from tests.differential.comparing import Outcome

EMPTY = r'"t": \[([0-9]+, )*0[],]'


@dataclass(frozen=True)
class Deviation:
    """Calls whose name, category, details, mode and arguments match differ for a reason.

    With ``unknown`` only those in whose Program some sizes are not known.
    """

    reason: str
    name: str = ""
    category: str = ""
    detail: str = ""
    mode: str = ""
    arguments: str = ""
    unknown: bool = False

    def holds(self, call: dict[str, Any], mode: str, outcome: Outcome) -> bool:
        texts = (
            (self.name, call["name"]),
            (self.category, outcome.category),
            (self.detail, outcome.detail),
            (self.mode, mode),
        )
        if self.unknown and not call.get("unknown"):
            return False
        if not all(re.search(pattern, text) for pattern, text in texts):
            return False
        return not self.arguments or bool(
            re.search(self.arguments, json.dumps([call["args"], call["named"]]))
        )
