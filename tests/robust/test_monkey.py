"""Random actions on the real window with real children, see monkey.py; ``--long`` does 10,000 of them.

Attacked: every command, control and question of the window, what is dropped on it, its children, its end.
What must hold: nothing uncaught, no warning, no turn of the loop over a second, no process that stays, at
most 30 MB more memory after the first thousand actions, and every state that is left opens again.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("PySide6", reason="the window needs Qt")

LONG = bool(os.environ.get("MODEL_STUDIO_LONG"))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.timeout(0 if LONG else 400)
def test_random_actions(tmp_path: Path) -> None:
    from tests.robust.monkey import attack

    actions = 10_000 if LONG else 20
    outcome = attack(5, actions, tmp_path, freeze=2.0)  # CI's processors are shared
    print(outcome)
    assert not outcome.findings, "\n\n".join(outcome.findings)
    assert outcome.actions >= actions
