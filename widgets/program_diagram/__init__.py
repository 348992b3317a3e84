"""The graph of a Program as a diagram: boxes, frames around opened groups, and edges."""

from widgets.program_diagram.diagram import ProgramDiagram
from widgets.program_diagram.linked import LinkedDiagrams
from widgets.program_diagram.painting.marks import MARKS
from widgets.program_diagram.picture import Picture
from widgets.program_diagram.scene import KINDS, PHASES, PlainScene, Scene, empty_scene
from widgets.program_diagram.view import View

__all__ = [
    "KINDS",
    "MARKS",
    "PHASES",
    "LinkedDiagrams",
    "Picture",
    "PlainScene",
    "ProgramDiagram",
    "Scene",
    "View",
    "empty_scene",
]
