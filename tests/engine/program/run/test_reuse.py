"""An operator of a plan writes into an input's array only where an eager call lays its result out alike."""

from __future__ import annotations

import numpy as np

from engine.program.run.reuse import fitting


def test_what_lies_alike_is_written_into() -> None:
    plain = np.zeros((2, 3, 4, 4))
    turned = np.zeros((4, 4, 2, 3)).transpose(2, 3, 0, 1)
    assert fitting(plain) is plain
    assert fitting(turned, np.ones_like(turned), np.zeros(3)) is turned
    assert fitting(np.zeros((1, 3, 1))[:, ::1]) is not None


def test_what_lies_otherwise_is_not() -> None:
    plain = np.zeros((2, 3, 4, 4))
    turned = np.zeros((4, 4, 2, 3)).transpose(2, 3, 0, 1)
    inner = np.zeros((2, 3, 6, 6))[:, :, 1:5, 1:5]
    assert fitting(plain, turned) is None
    assert fitting(turned, plain) is None
    assert fitting(inner) is None
    assert fitting(plain, inner) is None
