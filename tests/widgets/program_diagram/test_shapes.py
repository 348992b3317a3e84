"""Kinds and phases of boxes can be distinguished without colour."""

from __future__ import annotations

from itertools import combinations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainterPath

from widgets.program_diagram.painting import shapes
from widgets.program_diagram.scene import GROUPS, KINDS, PHASES, VALUE


def test_kinds_differ_also_where_a_sign_has_no_room() -> None:
    box = QRectF(0, 0, 120, 40)

    def form(kind: int) -> tuple[QPainterPath, object, bool]:
        return shapes.outline(kind, box), shapes.pen_style(kind), kind in GROUPS

    for one, other in combinations(range(len(KINDS)), 2):
        assert form(one) != form(other), f"{KINDS[one]} and {KINDS[other]}"


def test_texts_of_a_value_with_a_picture_stay_inside_its_border() -> None:
    box = QRectF(0, 0, 192, 104)
    left = shapes.inset(VALUE, box)
    first_letter = QRectF(left, 10, 10, shapes.text_high(box) - 20)
    assert shapes.outline(VALUE, box).contains(first_letter)


def test_phases_differ_in_their_signs() -> None:
    signs = [shapes.phase_sign(phase) for phase in range(len(PHASES))]
    assert signs[0] is None
    assert signs[1] != signs[2]


def test_signs_stay_within_their_square() -> None:
    square = QRectF(-0.5, -0.5, shapes.SIGN + 1, shapes.SIGN + 1)
    for path in [*map(shapes.sign, range(len(KINDS))), *map(shapes.phase_sign, range(len(PHASES)))]:
        assert path is None or square.contains(path.boundingRect())
