"""The commands of the diagram of a Program, which :mod:`studio.session.commands` lists."""

from __future__ import annotations

from studio.session.command import Command, Position
from studio.session.conditions import shows_program

FIT_DIAGRAM = Command(
    "fit_diagram", "Fit diagram", "View", "Show the whole diagram of the Program.", icon="fit",
    possible=shows_program, group="Diagram of the Program"
)
ZOOM_IN = Command(
    "zoom_in", "Zoom in", "View", "Show the diagram of the Program larger.", icon="zoom_in",
    possible=shows_program, group="Diagram of the Program"
)
ZOOM_OUT = Command(
    "zoom_out", "Zoom out", "View", "Show the diagram of the Program smaller.", icon="zoom_out",
    possible=shows_program, group="Diagram of the Program"
)
OPEN_GROUPS = Command(
    "open_groups", "Open all groups", "View", "Open all groups in the diagram of the Program.",
    possible=shows_program, group="Diagram of the Program"
)
CLOSE_GROUPS = Command(
    "close_groups", "Close all groups", "View", "Close all groups in the diagram of the Program.",
    possible=shows_program, group="Diagram of the Program"
)
SAVE_DIAGRAM = Command(
    "save_diagram", "Save diagram…", "View", "Save the diagram of the Program as SVG or PNG.",
    icon="download", possible=shows_program, shown=(Position("diagram", 1),), group="Diagram of the Program"
)
