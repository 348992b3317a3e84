"""`python -m widgets.program_diagram.demo`: a small network, coloured by time, with marks."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

import numpy as np
from PySide6.QtWidgets import QWidget

from widgets.cards import Card
from widgets.demo import run_demo
from widgets.program_diagram import PlainScene, ProgramDiagram
from widgets.program_diagram.scene import BRANCH, LAYER, LOOP, MORE, OPERATOR, VALUE

BOX_WIDE, BOX_HIGH, GAP_WIDE, GAP_HIGH = 170.0, 42.0, 36.0, 44.0


@dataclass
class SceneBuilder:
    """Collects boxes and edges. Rows of frames come before those of their children."""

    boxes: list[tuple[float, float, float, float]] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    phases: list[int] = field(default_factory=list)
    opened: list[bool] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    points: list[tuple[float, float]] = field(default_factory=list)
    starts: list[int] = field(default_factory=lambda: [0])
    ends: list[tuple[int, int]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def box(
        self,
        place: tuple[float, float, float, float],
        title: str,
        note: str = "",
        kind: int = OPERATOR,
        phase: int = 0,
        opened: bool = False,
    ) -> int:
        """Add a box; returns its row."""
        self.boxes.append(place)
        self.kinds.append(kind)
        self.phases.append(phase)
        self.opened.append(opened)
        self.titles.append(title)
        self.notes.append(note)
        return len(self.boxes) - 1

    def edge(self, begin: int, end: int, text: str = "", bend: float = 0.0) -> None:
        """Join two boxes from the bottom of one to the top of the other, past a bend at the side."""
        left, top, wide, high = self.boxes[begin]
        first = (left + wide / 2, top + high)
        left, top, wide, _ = self.boxes[end]
        last = (left + wide / 2, top)
        line = [first, last]
        if bend:
            line.insert(1, ((first[0] + last[0]) / 2 + bend, (first[1] + last[1]) / 2))
        self.points += line
        self.starts.append(len(self.points))
        self.ends.append((begin, end))
        self.texts.append(text)

    def scene(self, first_id: int = 0) -> PlainScene:
        """The scene; its nodes are numbered from ``first_id``."""
        boxes = np.array(self.boxes, np.float32).reshape(-1, 4)
        return PlainScene(
            width=float((boxes[:, 0] + boxes[:, 2]).max(initial=0)) + 20,
            height=float((boxes[:, 1] + boxes[:, 3]).max(initial=0)) + 20,
            ids=np.arange(first_id, first_id + len(boxes), dtype=np.int32),
            boxes=boxes,
            kinds=np.array(self.kinds, np.int8),
            phases=np.array(self.phases, np.int8),
            opened=np.array(self.opened, bool),
            titles=self.titles,
            notes=self.notes,
            edge_points=np.array(self.points, np.float32).reshape(-1, 2),
            edge_starts=np.array(self.starts, np.int32),
            edge_ends=np.array(self.ends, np.int32).reshape(-1, 2),
            edge_texts=self.texts,
        )


def layered_scene(boxes: int, across: int = 40, seed: int = 0, high: float = BOX_HIGH) -> PlainScene:
    """Boxes in rows, each joined to one or two of the row above; one in six is a closed layer."""
    random, made = np.random.default_rng(seed), SceneBuilder()
    for number in range(boxes):
        down, right = divmod(number, across)
        place = (20 + right * (BOX_WIDE + GAP_WIDE), 20 + down * (high + GAP_HIGH), BOX_WIDE, high)
        group = number % 6 == 5
        title = f"layer{down}.{right}" if group else f"conv{number} · conv2d"
        made.box(place, title, "12 operators" if group else "N×64×56×56", LAYER if group else OPERATOR)
        if down:
            above = number - across
            made.edge(above, number, "N×64×56×56")
            if random.random() < 0.5:
                other = above - right + int(np.clip(right + random.integers(-3, 4), 0, across - 1))
                made.edge(other, number, "N×64×56×56", bend=float(random.normal(0, 20)))
    return made.scene()


def residual_scene() -> PlainScene:
    """A small network with an opened layer, a loop, a branch, a backward part and an update."""
    made = SceneBuilder()
    shape = "N×64×56×56"
    image = made.box((190, 20, 120, 34), "image", "", VALUE)
    first = made.box((165, 100, 170, 42), "conv1 · conv2d", shape)
    made.box((40, 186, 420, 372), "layer1", "18 operators", LAYER, opened=True)
    made.box((60, 230, 310, 220), "layer1.0", "6 operators", LAYER, opened=True)
    conv = made.box((160, 274, 180, 42), "conv1 · conv2d", shape)
    norm = made.box((160, 352, 180, 42), "bn1 · batch_norm", shape)
    add = made.box((76, 404, 70, 30), "add")
    block = made.box((150, 490, 200, 46), "layer1.1", "12 operators", LAYER)
    loop = made.box((40, 620, 190, 46), "while", "until done · 9 operators", LOOP)
    branch = made.box((290, 620, 190, 46), "if", "2 branches", BRANCH)
    more = made.box((540, 620, 150, 40), "… 4\u2009000 more", "", MORE)
    loss = made.box((150, 730, 210, 42), "softmax_with_cross_entropy", "N×1")
    back = made.box((540, 730, 200, 46), "layer1.1", "24 operators", LAYER, phase=1)
    grad = made.box((540, 840, 200, 42), "conv2d_grad", shape, phase=1)
    step = made.box((540, 940, 200, 42), "momentum", "conv1.weight", phase=2)
    for begin, end in (
        (image, first), (first, conv), (conv, norm), (norm, add), (add, block), (block, loop),
        (block, branch), (block, more), (loop, loss), (branch, loss), (back, grad), (grad, step),
    ):  # fmt: skip
        made.edge(begin, end, shape if end != loss else "N×1")
    made.edge(first, add, shape, bend=-110.0)
    made.edge(more, back, shape)
    return made.scene()


def make() -> QWidget:
    """The diagram with a selected operator, a breakpoint and times of most operators."""
    card, diagram = Card("Program"), ProgramDiagram()
    scene = residual_scene()
    diagram.set_scene(scene)
    times = {node: 3e-6 * (node + 1) ** 2 for node in scene.ids.tolist() if node % 5}
    diagram.set_colors(times, "Time", "s", "log")
    diagram.set_marks({4: "breakpoint", 6: ("current", "alert")})
    diagram.select([4])
    card.body.addWidget(diagram)
    return card


if __name__ == "__main__":
    sys.exit(run_demo(make, "Program", (960, 640)))
