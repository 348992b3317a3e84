"""Plain Programs for tests of the diagram, and what must hold of any scene."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from studio.session.graph.diagram.diagram import Diagram
from studio.session.graph.diagram.scene import Scene


def operator(
    kind: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    layer: str = "",
    line: int | None = None,
    **more: Any,
) -> dict[str, Any]:
    """One operator as ``to_plain`` writes it."""
    found = {
        "type": kind,
        "inputs": {"X": list(inputs)},
        "outputs": {"Out": list(outputs)},
        "attrs": {},
        "regions": [],
        "notes": {},
        "file": None if line is None else "net.py",
        "line": line,
        **more,
    }
    if layer:
        found["layer"] = layer
    return found


def variable(name: str, shape: Sequence[int] = (-1, 4), **more: Any) -> dict[str, Any]:
    """One Variable as ``to_plain`` writes it."""
    return {
        "name": name,
        "shape": list(shape),
        "dtype": "float32",
        "persistable": False,
        "stop_gradient": False,
        "parameter": False,
        "data": False,
        **more,
    }


def program(
    ops: Sequence[dict[str, Any]],
    variables: Mapping[str, Sequence[int]] | None = None,
    inputs: Sequence[str] = ("x",),
    outputs: Sequence[str] = (),
    parameters: Mapping[str, Sequence[int]] | None = None,
    blocks: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """A Program of one block, and ``blocks`` within it."""
    names = dict.fromkeys([*inputs, *_names(ops)])
    for block in blocks:
        for name in _names(block["ops"]):
            names.pop(name, None)
    shapes, weights = variables or {}, parameters or {}
    made = [
        variable(
            name,
            weights.get(name, shapes.get(name, (-1, 4))),
            parameter=name in weights,
            persistable=name in weights,
        )
        for name in dict.fromkeys([*names, *weights])
    ]
    return {
        "version": 2,
        "inputs": list(inputs),
        "outputs": list(outputs),
        "blocks": [{"idx": 0, "parent": -1, "vars": made, "ops": list(ops)}, *blocks],
    }


def block(idx: int, ops: Sequence[dict[str, Any]], parent: int = 0) -> dict[str, Any]:
    """A sub-block that declares what its operators make."""
    return {"idx": idx, "parent": parent, "vars": [variable(name) for name in _names(ops)], "ops": list(ops)}


def _names(ops: Sequence[dict[str, Any]]) -> list[str]:
    return [name for op in ops for names in op["outputs"].values() for name in names]


def random_program(seed: int, count: int = 40, lines: bool = False) -> dict[str, Any]:
    """Operators that read what comes before, in layer calls that begin, end and are entered again at
    random."""
    draw = random.Random(seed)
    values, ops = ["x"], []
    path: list[str] = []
    for number in range(count):
        while path and draw.random() < 0.25:
            path.pop()
        while len(path) < 4 and draw.random() < 0.3:
            path.append(draw.choice("abcde") + draw.choice(["", "#2", ".0"]))
        taken = [
            draw.choice(values[-8:] if draw.random() < 0.7 else values) for _ in range(draw.randint(0, 3))
        ]
        made = [f"v{number}_{n}" for n in range(draw.randint(1, 2))]
        place = draw.randint(1, 6) if lines else None
        ops.append(
            operator(draw.choice(("relu", "conv2d")), taken, made, "" if lines else ".".join(path), place)
        )
        values += made
    return program(ops, outputs=[values[-1]])


def require_sound(
    diagram: Diagram, scene: Scene, plain: Mapping[str, Any] | None = None, around: bool = True
) -> None:
    """What holds of any scene: no box upon another, children in their frames, all edges, none too many; and
    ways ``around`` boxes, which are not found for all edges between gradients and updates in disorder."""
    boxes = scene.boxes.astype(float)
    rows = {int(node): row for row, node in enumerate(scene.ids)}
    assert len(rows) == len(scene.ids)
    frames: dict[int, list[int]] = {}
    for node, row in rows.items():
        around = diagram.parents_of(node)
        frames.setdefault(around[-1] if around else -1, []).append(row)
        if around:
            outer = boxes[rows[around[-1]]]
            assert scene.opened[rows[around[-1]]]
            assert rows[around[-1]] < row
            assert boxes[row][0] >= outer[0] - 0.1
            assert boxes[row][1] >= outer[1] - 0.1
            assert (boxes[row][:2] + boxes[row][2:] <= outer[:2] + outer[2:] + 0.1).all()
        assert (boxes[row][:2] >= 0).all()
        assert (boxes[row][:2] + boxes[row][2:] <= [scene.width + 0.1, scene.height + 0.1]).all()
    for siblings in frames.values():
        _require_apart(boxes[siblings])
    _require_edges(diagram, scene, rows, boxes)
    if around:
        _require_ways_around_boxes(scene, boxes)
    if plain is not None:
        shown = {place for node in rows for place in diagram.operators_of(node)}
        assert shown == {(b["idx"], n) for b in plain["blocks"] for n in range(len(b["ops"]))}


def _require_apart(boxes: Any) -> None:
    order = np.argsort(boxes[:, 1], kind="stable")
    sorted_boxes = boxes[order]
    for place, (x, y, width, height) in enumerate(sorted_boxes):
        others = sorted_boxes[place + 1 :]
        apart = (
            (others[:, 0] >= x + width - 0.1)
            | (others[:, 0] + others[:, 2] <= x + 0.1)
            | (others[:, 1] >= y + height - 0.1)
        )
        assert apart.all()
        assert height > 0


def _require_edges(diagram: Diagram, scene: Scene, rows: dict[int, int], boxes: Any) -> None:
    """Each use of a value is an edge between the boxes in view that show both ends, found anew here."""
    closed = {node: row for node, row in rows.items() if not scene.opened[row]}
    box_of: dict[tuple[int, int], int] = {}
    for node, row in closed.items():
        for place in diagram.operators_of(node):
            assert place not in box_of  # in one box only
            box_of[place] = row
    drawn = {tuple(ends) for ends in scene.edge_ends.tolist()}
    assert len(drawn) == len(scene.edge_ends)
    for source, target in diagram.uses():
        first, second = box_of.get(source), box_of.get(target)
        if first is not None and second is not None and first != second:
            assert (first, second) in drawn, (scene.titles[first], scene.titles[second])
    assert len(scene.edge_texts) == len(drawn) == len(scene.edge_starts) - 1
    for edge, (source, target) in enumerate(scene.edge_ends.tolist()):
        points = scene.edge_points[scene.edge_starts[edge] : scene.edge_starts[edge + 1]]
        assert len(points) >= 2
        assert _is_on_edge(boxes[source], points[0])
        assert _is_on_edge(boxes[target], points[-1])


def _require_ways_around_boxes(scene: Scene, boxes: Any) -> None:
    """No edge runs behind a closed box: neither its straight parts nor the rectangles of its curves."""
    rows = np.flatnonzero(~scene.opened)
    left, top, width, height = boxes[rows].T
    points = scene.edge_points.astype(float)
    for start, end in zip(scene.edge_starts[:-1].tolist(), scene.edge_starts[1:].tolist(), strict=True):
        for (x, y), (next_x, next_y) in pairwise(points[start:end].tolist()):
            covered = (
                (left + 1 < max(x, next_x))
                & (left + width - 1 > min(x, next_x))
                & (top + 1 < max(y, next_y))
                & (top + height - 1 > min(y, next_y))
            )
            assert not covered.any(), [scene.titles[row] for row in rows[covered]]


def _is_on_edge(box: Any, point: Any) -> bool:
    (x, y, width, height), (across, down) = box, point
    inside = x - 0.1 <= across <= x + width + 0.1 and y - 0.1 <= down <= y + height + 0.1
    sides = min(abs(across - x), abs(across - x - width), abs(down - y), abs(down - y - height))
    return bool(inside and sides < 0.1)
