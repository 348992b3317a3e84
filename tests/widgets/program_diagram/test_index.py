"""SceneIndex finds what a look at each box and edge would find."""

from __future__ import annotations

import numpy as np
import pytest

from widgets.program_diagram.demo import SceneBuilder, layered_scene, residual_scene
from widgets.program_diagram.index import SceneIndex
from widgets.program_diagram.view import Bounds


@pytest.fixture(scope="module")
def index() -> SceneIndex:
    return SceneIndex(layered_scene(300, 17, seed=3))


def test_boxes_and_edges_in_a_rectangle_are_those_that_meet_it(index: SceneIndex) -> None:
    random = np.random.default_rng(1)
    for _ in range(20):
        left, top = random.uniform(0, 2000, 2).tolist()
        part = Bounds(left, top, left + random.uniform(1, 900), top + random.uniform(1, 600))
        boxes = [
            row
            for row, (x, y, wide, high) in enumerate(index.scene.boxes.tolist())
            if x < part.right and x + wide > part.left and y < part.bottom and y + high > part.top
        ]
        assert index.boxes_in(part).tolist() == boxes
        edges = []
        for edge in range(index.edge_count):
            (x, y), (right, bottom) = index.line(edge).min(axis=0), index.line(edge).max(axis=0)
            if x <= part.right and right >= part.left and y <= part.bottom and bottom >= part.top:
                edges.append(edge)
        assert index.edges_in(part).tolist() == edges


def test_segments_are_all_straight_parts_of_the_edges(index: SceneIndex) -> None:
    edges = np.array([0, 3, 4, index.edge_count - 1])
    expected = [
        point for edge in edges.tolist() for point in range(index.starts[edge], index.starts[edge + 1] - 1)
    ]
    assert index.segments(edges).tolist() == expected
    assert index.segments(np.zeros(0, np.intp)).tolist() == []


def test_the_innermost_box_is_found_at_a_point() -> None:
    index = SceneIndex(residual_scene())
    conv, block = (index.box(row) for row in (4, 7))
    assert index.box_at(conv.left + 5, conv.top + 5) == 4
    assert index.box_at(block.left + 5, block.top + 5) == 7
    assert index.box_at(conv.left - 10, conv.top) == 3, "the frame around it"
    assert index.box_at(-5, -5) is None


def test_the_nearest_edge_is_found_near_a_point() -> None:
    made = SceneBuilder()
    first, second = made.box((0, 0, 100, 40), "a"), made.box((300, 200, 100, 40), "b")
    made.edge(first, second)
    index = SceneIndex(made.scene())
    assert index.edge_at(200, 120, 5) == 0
    assert index.edge_at(200, 132, 5) is None
    assert index.edges_of(np.array([first])).tolist() == [0]


def test_depths_count_the_frames_around_a_frame() -> None:
    index = SceneIndex(residual_scene())
    assert index.depths[[2, 3]].tolist() == [0, 1]


def test_nodes_without_a_box_have_no_row(index: SceneIndex) -> None:
    assert index.row(None) is None
    assert index.row(10_000) is None
    assert index.rows([5, 10_000, 2]).tolist() == [2, 5]
