"""Diagrams of Programs: groups, edges, texts, and what is shown."""

from __future__ import annotations

from typing import Any

import pytest

from engine.core.errors import FormatError
from studio.session.graph.diagram.arrange import LayoutCache, LayoutCancelled
from studio.session.graph.diagram.diagram import Diagram
from studio.session.graph.diagram.layered import Contents
from studio.session.graph.diagram.scene import KINDS
from studio.session.graph.diagram.texts import DiagramWords
from studio.session.graph.diagram.view import MOST_EDGES
from tests.studio.session.graph.diagram.programs import (
    block,
    operator,
    program,
    random_program,
    require_sound,
)


def titles(diagram: Diagram) -> list[str]:
    return list(diagram.scene().titles)


def edges(diagram: Diagram) -> dict[tuple[str, str], str]:
    scene = diagram.scene()
    return {
        (scene.titles[a], scene.titles[b]): text
        for (a, b), text in zip(scene.edge_ends.tolist(), scene.edge_texts, strict=True)
    }


def node(diagram: Diagram, title: str) -> int:
    scene = diagram.scene()
    return int(scene.ids[list(scene.titles).index(title)])


def test_groups_are_layer_calls_and_open_in_place() -> None:
    plain = program(
        [
            operator("conv2d", ["x", "w"], ["a"], "stem.conv"),
            operator("relu", ["a"], ["b"], "stem.relu"),
            operator("conv2d", ["b"], ["c"], "body.0.conv"),
            operator("relu", ["c"], ["d"], "body.0.relu#2"),
            operator("relu", ["d"], ["e"], "body.0.relu#2"),
            operator("elementwise_add", ["b", "e"], ["y"]),
        ],
        parameters={"w": (8, 3, 3, 3)},
        variables={"x": (-1, 3, 8, 8), "a": (-1, 8, 6, 6), "y": (2, -1, -1)},
        outputs=["y"],
    )
    diagram = Diagram(plain)
    assert diagram.grouped_by == "layer"
    assert titles(diagram) == ["x", "stem", "body.0", "elementwise_add", "y"]
    assert edges(diagram)["x", "stem"] == "N×3×8×8"
    assert edges(diagram)["elementwise_add", "y"] == "2×?×?"
    assert diagram.open(node(diagram, "body.0"))
    assert titles(diagram) == ["x", "stem", "body.0", "conv · conv2d", "relu#2", "elementwise_add", "y"]
    assert set(edges(diagram)) == {
        ("x", "stem"),
        ("stem", "conv · conv2d"),
        ("conv · conv2d", "relu#2"),
        ("relu#2", "elementwise_add"),
        ("stem", "elementwise_add"),
        ("elementwise_add", "y"),
    }
    assert diagram.close(node(diagram, "body.0"))
    assert not diagram.open(node(diagram, "elementwise_add"))
    diagram.open_all()
    scene = diagram.scene()
    assert scene.notes[list(scene.titles).index("conv · conv2d")] == "8×3×3×3"
    require_sound(diagram, scene, plain)


def test_a_group_that_is_entered_again_makes_no_circle() -> None:
    plain = program(
        [
            operator("a", ["x"], ["1"], "block"),
            operator("b", ["1"], ["2"]),
            operator("c", ["2"], ["3"], "block"),
            operator("d", ["3"], ["4"], "block"),
        ]
    )
    diagram = Diagram(plain)
    assert titles(diagram) == ["x", "block · a", "b", "block (2)"]
    require_sound(diagram, diagram.scene(), plain)


def test_a_group_around_an_operator_without_a_circle_stays_one() -> None:
    plain = program(
        [
            operator("a", ["x"], ["1"], "block"),
            operator("b", ["x"], ["2"]),
            operator("c", ["1"], ["3"], "block"),
        ]
    )
    assert titles(Diagram(plain)) == ["x", "block", "b"]


def test_gradients_and_updates_have_their_own_groups_and_can_be_hidden() -> None:
    roles = [operator("adam", [f"g{n}"], [f"p{n}"], notes={"attrs": {"op_role": 2}}) for n in range(5)]
    plain = program(
        [
            operator("conv2d", ["x"], ["a"], "stem"),
            operator("relu", ["a"], ["b"], "stem"),
            operator("gradient", ["b"], ["a@GRAD"], "stem", notes={"type": "relu_grad"}),
            operator("gradient", ["a@GRAD"], ["g0"], "stem", notes={"type": "conv2d_grad"}),
            *roles,
        ]
    )
    diagram = Diagram(plain)
    scene = diagram.scene()
    assert list(scene.titles) == ["x", "stem", "stem", "updates"]
    assert scene.phases.tolist() == [0, 0, 1, 2]
    assert diagram.has_phases == {0, 1, 2}
    diagram.show(["forward"])
    assert titles(diagram) == ["x", "stem"]
    diagram.show(["backward", "update"])
    assert titles(diagram) == ["stem", "updates"]
    assert set(edges(diagram)) == {("stem", "updates")}


def test_loops_and_branches_are_groups_with_their_operators() -> None:
    condition = block(2, [operator("less_than", ["i"], ["go"])])
    body = block(3, [operator("relu", ["v"], ["w"], "rnn.cell"), operator("scale", ["w"], ["u"], "rnn.cell")])
    one, other = block(4, [operator("tanh", ["z"], ["s"])]), block(5, [operator("exp", ["z"], ["t"])])
    arguments = [[1, "i"], [1, "v"]]
    loop = operator(
        "while",
        ["x", "a"],
        ["n", "z"],
        "rnn",
        regions=[
            {"block": 2, "arguments": arguments, "results": [[2, "go"]]},
            {"block": 3, "arguments": arguments, "results": [[3, "u"], [3, "u"]]},
        ],
    )
    branch = operator(
        "conditional_block",
        ["n"],
        ["y"],
        regions=[
            {"block": 4, "arguments": [], "results": [[4, "s"]]},
            {"block": 5, "arguments": [], "results": [[5, "t"]]},
        ],
    )
    plain = program(
        [operator("relu", ["x"], ["a"]), loop, branch],
        blocks=[block(1, []), condition, body, one, other],
        outputs=["y"],
    )
    diagram = Diagram(plain)
    scene = diagram.scene()
    assert list(scene.titles) == ["x", "relu", "rnn · while", "conditional_block", "y"]
    kinds = [KINDS[kind] for kind in scene.kinds]
    assert kinds == ["value", "operator", "loop", "branch", "value"]
    diagram.open_all()
    assert titles(diagram) == [
        *("x", "relu", "rnn · while", "condition · less_than", "cell", "relu", "scale"),
        *("conditional_block", "if true · tanh", "if false · exp", "y"),
    ]
    found = set(edges(diagram))
    assert ("relu", "relu") in found  # from outside to within the loop
    assert ("scale", "if true · tanh") in found  # from the loop into a branch
    assert ("if false · exp", "y") in found
    assert ("scale", "conditional_block") in found  # its condition, which nothing within reads
    require_sound(diagram, diagram.scene(), plain)
    assert diagram.node_of(3, 1) in diagram.find("scale")


def test_without_paths_groups_are_lines_then_prefixes() -> None:
    lines = [operator("relu", ["x"], [f"v{n}"], line=n // 2 + 1) for n in range(8)]
    assert Diagram(program(lines)).grouped_by == "line"
    assert titles(Diagram(program(lines))) == ["x", "net.py:1", "net.py:2", "net.py:3", "net.py:4"]
    weights = {"layer1.0.conv.weight": (4, 4), "layer1.0.fc.weight": (4, 4), "fc.bias": (4,)}
    ops = [
        operator("conv2d", ["x", "layer1.0.conv.weight"], ["a"]),
        operator("relu", ["a"], ["b"]),
        operator("matmul", ["b", "layer1.0.fc.weight"], ["c"]),
        operator("elementwise_add", ["c", "fc.bias"], ["d"]),
    ]
    diagram = Diagram(program(ops, parameters=weights))
    assert diagram.grouped_by == "prefix"
    assert titles(diagram) == ["x", "layer1.0", "fc · elementwise_add"]
    diagram.open_all()
    assert "relu" in titles(diagram)


def test_the_first_thousand_children_are_shown_and_more_on_request() -> None:
    plain = program([operator("relu", [f"v{n - 1}" if n else "x"], [f"v{n}"]) for n in range(2_500)])
    diagram = Diagram(plain)
    scene = diagram.scene()
    assert len(scene.ids) == 1_001
    assert scene.titles[-1] == "… 1,501 more"
    assert len(diagram.operators_of(int(scene.ids[-1]))) == 1_501
    assert [999, 1_000] in scene.edge_ends.tolist()
    require_sound(diagram, scene, plain)
    assert diagram.more(int(scene.ids[-1]))
    assert diagram.scene().titles[-1] == "… 501 more"
    diagram.reveal(diagram.node_of(0, 2_400))
    assert len(diagram.scene().ids) == 2_501
    assert not diagram.more(int(scene.ids[-1]))


def test_groups_far_from_the_middle_are_shown_closed_where_many_are_open() -> None:
    ops = [operator("relu", [f"v{n - 1}" if n else "x"], [f"v{n}"], f"g{n // 50}") for n in range(1_000)]
    diagram = Diagram(program(ops))
    diagram.open_all()
    scene = diagram.scene(most=5_000)
    last = int(scene.ids[scene.opened][-1])
    row = scene.ids.tolist().index(last)
    x, y, width, height = scene.boxes[row].tolist()
    few = diagram.scene(middle=(x + width / 2, y + height / 2), most=300)
    assert len(few.ids) <= 300
    opened = few.ids[few.opened].tolist()
    assert last in opened
    assert len(opened) == 5
    assert len(diagram.scene(most=5_000).ids) == len(scene.ids)  # they are still open


def test_equal_groups_cost_one_layout() -> None:
    ops, value = [], "x"
    for n in range(20):
        for kind in ("conv2d", "relu"):
            ops.append(operator(kind, [value], [f"{kind}{n}"], f"block{n}"))
            value = f"{kind}{n}"
        ops.append(operator("elementwise_add", [value, f"conv2d{n}"], [f"sum{n}"], f"block{n}"))
        value = f"sum{n}"
    diagram = Diagram(program(ops, outputs=[value]))
    diagram.open_all()
    diagram.scene()
    assert diagram.layouts == (2, 19)


@pytest.mark.parametrize("lines", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_scenes_of_random_programs_are_sound_whatever_is_open(seed: int, lines: bool) -> None:
    plain = random_program(seed, 20 + 7 * seed, lines)
    diagram = Diagram(plain, by="line" if lines else "layer")
    require_sound(diagram, diagram.scene(), plain)
    groups = [n for n in range(10_000) if n < diagram.node_count and diagram.is_group(n)]
    for group in groups[seed % 3 :: 3]:
        diagram.open(group)
    require_sound(diagram, diagram.scene(), plain)
    diagram.open_all()
    require_sound(diagram, diagram.scene(), plain)


def test_a_cancelled_scene_is_not_made() -> None:
    with pytest.raises(LayoutCancelled):
        Diagram(random_program(1)).scene(cancelled=lambda: True)


def test_arrow_keys_follow_edges() -> None:
    plain = program([operator("a", ["x"], ["1"]), operator("b", ["1"], ["2"]), operator("c", ["1"], ["3"])])
    diagram = Diagram(plain)
    diagram.scene()
    a, b, c = (diagram.node_of(0, n) for n in range(3))
    assert set(diagram.neighbours(a, "down")) == {b, c}
    assert diagram.neighbours(c, "up") == [a]
    assert diagram.neighbours(b, "right") == [c]
    assert diagram.neighbours(c, "left") == [b]


def test_damaged_programs_are_shown_shortened_or_refused() -> None:
    circle = program([operator("a", ["late"], ["1"]), operator("b", ["1"], ["late"])])
    diagram = Diagram(circle)
    assert "'late'" in diagram.shortened
    assert "circle" in diagram.shortened
    require_sound(diagram, diagram.scene(), circle)
    missing = program([operator("a", ["x", "nowhere"], ["1"])])
    assert "no Variable for 1 names that it reads: 'nowhere'" in Diagram(missing).shortened
    itself = program([], blocks=[])
    region = {"block": 0, "arguments": [], "results": []}
    itself["blocks"][0]["ops"] = [operator("while", ["x"], ["y"], regions=[region])]
    assert "itself" in Diagram(itself).shortened
    for plain in ({}, {"blocks": []}, {"blocks": [{"idx": 0}]}, {"blocks": 3}, {"blocks": [None]}):
        with pytest.raises(FormatError, match="diagram: the Program is not as Model Studio writes it"):
            Diagram(plain)


def test_long_names_are_shortened() -> None:
    long = "n" * 100_000
    diagram = Diagram(
        program([operator(long, ["x"], [long], f"{long}.a"), operator("b", [long], ["y"], f"{long}.b")])
    )
    diagram.open_all()
    assert max(map(len, titles(diagram))) <= 130


def training(blocks: int) -> list[dict[str, Any]]:
    """Blocks with a residual each, forward, gradients and updates, as ``append_backward`` makes them."""
    ops, gradients = [], []
    for n in range(blocks):
        taken, made = f"v{n}" if n else "x", f"v{n + 1}"
        ops.append(operator("conv2d", [taken, f"w{n}"], [f"c{n}"], f"block{n}.conv"))
        ops.append(operator("elementwise_add", [f"c{n}", taken], [made], f"block{n}"))
        inner = [
            operator("gradient", [f"{made}@GRAD"], [f"a{n}@GRAD", f"b{n}@GRAD"], f"block{n}"),
            operator("gradient", [f"a{n}@GRAD", taken], [f"c{n}@GRAD", f"w{n}@GRAD"], f"block{n}.conv"),
            operator("sum", [f"b{n}@GRAD", f"c{n}@GRAD"], [f"{taken}@GRAD"]),
        ]
        gradients = [*inner, *gradients]
    ops += [operator("fill_constant", [], [f"v{blocks}@GRAD"]), *gradients]
    for n in range(blocks):
        ops.append(operator("sgd", [f"w{n}", f"w{n}@GRAD"], [f"w{n}"], notes={"attrs": {"op_role": 2}}))
    return ops


def test_gradients_are_next_to_what_they_are_of_and_go_up() -> None:
    plain = program(training(4), parameters={f"w{n}": (4, 4) for n in range(4)})
    diagram = Diagram(plain)
    scene = diagram.scene()
    rows = {(scene.titles[n], int(scene.phases[n])): scene.boxes[n] for n in range(len(scene.ids))}
    for n in range(4):
        forward, backward = rows[f"block{n}", 0], rows[f"block{n}", 1]
        assert forward[1] == pytest.approx(backward[1], abs=0.5)
        assert backward[0] > forward[0] + forward[2]
    assert rows["updates", 2][0] > rows["block0", 1][0]
    require_sound(diagram, scene, plain)
    first = int(scene.ids[list(scene.titles).index("block0")])
    assert "block0" in {diagram.title_of(n) for n in diagram.neighbours(first, "right")}
    diagram.open_all()
    require_sound(diagram, diagram.scene(), plain)
    diagram.show(["backward"])
    require_sound(diagram, diagram.scene())


def test_the_sum_of_gradients_belongs_to_the_call_that_made_them() -> None:
    diagram = Diagram(program(training(3), parameters={f"w{n}": (4, 4) for n in range(3)}))
    assert not [title for title in titles(diagram) if "(2)" in title or title == "sum"]


@pytest.mark.parametrize("count", [10_000, 100_000])
def test_large_programs_are_shown(count: int) -> None:
    ops = []
    for n in range(count):
        layer = f"a{n // (count // 20)}.b{n // 50}"
        ops.append(operator("relu", [f"v{n - 1}" if n else "x"], [f"v{n}"], layer))
    diagram = Diagram(program(ops))
    assert len(diagram.scene().ids) == 21
    diagram.open_all()
    scene = diagram.scene()
    assert 1_500 < len(scene.ids) <= 2_000
    require_sound(diagram, scene)
    assert diagram.operators_of(int(scene.ids[1]))[0] == (0, 0)


def test_of_a_million_operators_the_first_are_shown() -> None:
    one = operator("relu", ["x"], ["y"])
    plain = program([one])
    plain["blocks"][0]["ops"] = [one] * 1_000_000
    diagram = Diagram(plain)
    assert diagram.shortened == "the first 200,000 of 1,000,000 operators are shown"
    assert len(diagram.scene().ids) == 1_001


def test_of_very_many_edges_the_short_ones_are_drawn() -> None:
    ops = [operator("sum", [f"v{k}" for k in range(n)] or ["x"], [f"v{n}"]) for n in range(200)]
    diagram = Diagram(program(ops))
    assert diagram.shortened == ""
    scene = diagram.scene()
    assert len(scene.edge_texts) == MOST_EDGES
    assert diagram.shortened == "9,901 of the longer edges are not shown: there are too many"
    assert {(n, n + 1) for n in range(199)} <= {tuple(ends) for ends in scene.ids[scene.edge_ends].tolist()}


def test_open_sizes_are_the_batch_a_multiple_of_it_or_a_question() -> None:
    shapes: dict[str, tuple[int, ...]] = {
        "x": (-1, 16, 4),
        "flat": (-1, 4),  # samples and steps in one
        "wide": (-1, 8),
        "back": (-1, 16, 8),
        "turned": (16, -1, 8),  # the batch is the only open size
        "chosen": (-1, 8),
        "joined": (-1, 16, 8),
    }
    ops = [
        operator("reshape2", ["x"], ["flat"]),
        operator("matmul_v2", ["flat", "w"], ["wide"]),
        operator("reshape2", ["wide"], ["back"]),
        operator("transpose2", ["back"], ["turned"]),
        operator("masked_select", ["wide"], ["chosen"]),
        operator("concat", ["back", "back"], ["joined"], attrs={"axis": 0}),
    ]
    outputs = ["flat", "wide", "back", "turned", "chosen", "joined"]
    plain = program(ops, shapes, outputs=outputs, parameters={"w": (4, 8)})
    scene = Diagram(plain).scene()
    notes = {title: note.split()[0] for title, note in zip(scene.titles, scene.notes, strict=True) if note}
    assert {name: notes[name] for name in outputs} == {
        **{"flat": "16N×4", "wide": "16N×8", "back": "N×16×8"},
        **{"turned": "16×N×8", "chosen": "?×8", "joined": "?×16×8"},
    }


def test_updates_are_next_to_the_layers_that_they_are_of() -> None:
    """As in the Program of a step of a ``to_static`` training, whose updates are rows in their layers."""
    ops = training(6)[:-6]
    for op in ops:
        op["layer"] = op.get("layer") or "(loss)"
    for n in range(6):
        more = {"layer": f"block{n}.conv", "notes": {"attrs": {"op_role": 2}}}
        ops.append(operator("adam", [f"w{n}", f"w{n}@GRAD"], [f"w{n}"], **more))
    plain = program(ops, parameters={f"w{n}": (4, 4) for n in range(6)})
    diagram = Diagram(plain)
    scene = diagram.scene()
    require_sound(diagram, scene, plain)
    rows = {
        (scene.titles[n].split(" ")[0], int(scene.phases[n])): scene.boxes[n] for n in range(len(scene.ids))
    }
    for n in range(6):
        middles = [rows[name, phase][1] + rows[name, phase][3] / 2 for name, phase in name_in_each_phase(n)]
        assert max(middles) - min(middles) < 1


def name_in_each_phase(number: int) -> list[tuple[str, int]]:
    return [(f"block{number}", 0), (f"block{number}", 1), (f"block{number}.conv", 2)]


def test_words_are_those_that_are_given() -> None:
    words = DiagramWords(operators="{0} Operatoren", updates="Schritte", scalar="Zahl")
    ops = training(5)
    diagram = Diagram(
        program(ops, {"v5@GRAD": ()}, parameters={f"w{n}": (4, 4) for n in range(5)}), words=words
    )
    scene = diagram.scene()
    assert "Schritte" in scene.titles
    assert "5 Operatoren" in scene.notes
    assert "Zahl" in scene.edge_texts


def test_the_cache_of_layouts_is_bounded() -> None:
    cache = LayoutCache(most=100)
    for n in range(1, 60):
        contents = Contents(((10.0, 10.0),) * n, (0,) * n, ())
        layout = cache.get(contents, lambda: False)
        assert cache.get(contents, lambda: False) is layout
        assert sum(len(known.sizes) for known in cache._found) <= 100
    assert (cache.made, cache.reused) == (59, 59)


def test_a_loop_has_no_group_of_a_parameter_that_its_operators_read() -> None:
    body = block(1, [operator("mul", ["x", "fc_0.w_0"], ["a"]), operator("tanh", ["a"], ["b"])])
    region = {"block": 1, "arguments": [], "results": [[1, "b"]]}
    loop = operator("while", ["x", "fc_0.w_0"], ["y"], regions=[region])
    plain = program([loop], blocks=[body], outputs=["y"], parameters={"fc_0.w_0": (4, 4)})
    diagram = Diagram(plain, by="prefix")
    diagram.open_all()
    assert titles(diagram) == ["x", "while", "fc_0 · mul", "tanh", "y"]


def test_boxes_get_room_for_pictures_and_lose_it_again() -> None:
    diagram = Diagram(program([operator("relu", ["x"], ["y"])]))
    before = diagram.scene().boxes[:, 3].max()
    diagram.give_room(True)
    assert diagram.scene().boxes[:, 2].min() >= 192
    assert diagram.scene().boxes[:, 3].max() == 104
    diagram.give_room(False)
    assert diagram.scene().boxes[:, 3].max() == before < 104
