"""What a diagram shows as plain values: for JSON, and as lines of a tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from studio.session.graph.diagram.diagram import Diagram
from studio.session.graph.diagram.scene import KINDS, PHASES, Scene

ALL = "all"


def plain_scene(diagram: Diagram, scene: Scene) -> dict[str, Any]:
    """The boxes and edges of a scene: nodes by number, places in pixels."""
    ids = scene.ids.tolist()
    return {
        "grouped_by": diagram.grouped_by,
        "operators": diagram.operator_count,
        "shortened": diagram.shortened or None,
        "width": scene.width,
        "height": scene.height,
        "boxes": [
            {
                "id": node,
                "parent": next(reversed(diagram.parents_of(node)), None),
                "kind": KINDS[scene.kinds[row]],
                "phase": PHASES[scene.phases[row]],
                "title": scene.titles[row],
                "note": scene.notes[row],
                "path": diagram.path_of(node),
                "open": bool(scene.opened[row]),
                "operators": len(diagram.operators_of(node)),
                "box": [round(value, 1) for value in scene.boxes[row].tolist()],
            }
            for row, node in enumerate(ids)
        ],
        "edges": [
            {"from": ids[a], "to": ids[b], "text": text}
            for (a, b), text in zip(scene.edge_ends.tolist(), scene.edge_texts, strict=True)
        ],
    }


def lines_of(diagram: Diagram, scene: Scene) -> Iterator[tuple[int, str, str]]:
    """Depth, title and note of each box, in the order in which the operators run."""
    for row, node in enumerate(scene.ids.tolist()):
        phase = PHASES[scene.phases[row]] if scene.phases[row] else ""
        notes = [phase, scene.notes[row]]
        yield len(diagram.parents_of(node)), scene.titles[row], ", ".join(note for note in notes if note)


def open_groups(diagram: Diagram, names: list[str]) -> None:
    """Open the groups with these paths, and those around them; "all" opens every one.

    Raises:
        ArgumentError: no group has that path.
    """
    from engine.core.errors import ArgumentError

    for name in names:
        if name == ALL:
            diagram.open_all()
            continue
        found = diagram.named(name)
        if not found:
            top = [diagram.path_of(node) or diagram.title_of(node) for node in groups_at_top(diagram)]
            known = ", ".join(top[:8]) + (", ..." if len(top) > 8 else "")
            hint = f"the groups at the top are {known}" if top else "the Program has no groups"
            raise ArgumentError(f"graph: no group {name!r}: {hint}")
        for node in found:
            diagram.reveal(node)
            diagram.open(node)


def groups_at_top(diagram: Diagram) -> list[int]:
    """The outermost groups, or those in the one group that has everything."""
    nodes = diagram.children_of()
    while True:
        groups = [node for node in nodes if diagram.is_group(node)]
        if len(groups) != 1:
            return groups
        inner = [node for node in diagram.children_of(groups[0]) if diagram.is_group(node)]
        if not inner:
            return groups
        nodes = inner


def saved_program(path: str) -> Mapping[str, Any]:
    """The Program of the saved model at ``path``, whatever its format; neither run nor built.

    Raises:
        DataError, FormatError: a file is absent, damaged, or not a model.
    """
    from engine.core.errors import FormatError
    from engine.jit.saved.model_files import describe_model_files

    described = describe_model_files(path)
    if not isinstance(described.program, dict):
        raise FormatError(f"{path}: not a saved model: it has no Program; save the model again")
    return described.program
