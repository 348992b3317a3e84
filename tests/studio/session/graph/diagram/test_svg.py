"""SVG of scenes: text, colours, a part of it, and names that XML can't hold."""

from __future__ import annotations

import math
import re
from base64 import b64decode
from xml.etree import ElementTree

import pytest

from resources import run_colors
from resources.color_map import map_colors, text_on
from studio.session.graph.diagram.diagram import Diagram
from studio.session.graph.diagram.svg import DARK, LIGHT, LOG, NodeValues, SvgTheme, write_svg
from studio.session.graph.diagram.svg_pictures import NodePicture
from tests.studio.session.graph.diagram.programs import operator, program, random_program

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    return [each.text or "" for each in ElementTree.fromstring(svg.encode()).iter(f"{SVG}text")]


def chain(count: int) -> Diagram:
    return Diagram(program([operator("relu", [f"v{n - 1}" if n else "x"], [f"v{n}"]) for n in range(count)]))


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_each_box_and_edge_is_drawn(theme: SvgTheme) -> None:
    diagram = Diagram(random_program(3, 60))
    diagram.open_all()
    scene = diagram.scene()
    svg = write_svg(scene, theme)
    tree = ElementTree.fromstring(svg.encode())
    found = texts(svg)
    for title in scene.titles:
        assert title in found
    lines = [each for each in tree.iter(f"{SVG}path") if "C" in each.attrib["d"] or "L" in each.attrib["d"]]
    assert len(lines) == len(scene.edge_ends)
    assert theme.text in svg


PNG = b"\x89PNG\r\n\x1a\n and more"


def test_channels_are_embedded_below_the_texts_of_their_box() -> None:
    diagram = chain(3)
    diagram.give_room(True)
    scene = diagram.scene()
    picture = NodePicture(PNG, 64, 16, words="2 \u00d7 16 < 16 & \x01")
    svg = write_svg(scene, pictures={1: picture})
    tree = ElementTree.fromstring(svg.encode())
    (image,) = tree.iter(f"{SVG}image")
    data = image.attrib["{http://www.w3.org/1999/xlink}href"]
    assert data.startswith("data:image/png;base64,")
    assert b64decode(data.split(",")[1]) == PNG
    x, y, width, height = scene.boxes[scene.ids.tolist().index(1)].tolist()
    left, top, wide, high = (float(image.attrib[name]) for name in ("x", "y", "width", "height"))
    assert wide / high == pytest.approx(4.0, rel=0.05)
    assert x < left < left + wide < x + width
    assert y + 44 <= top < top + high < y + height
    assert "2 \u00d7 16 < 16 & \ufffd" in texts(svg)
    places = [float(each.attrib["y"]) for each in tree.iter(f"{SVG}text") if each.text == scene.titles[1]]
    assert any(y < place < top for place in places)


def test_a_distribution_is_drawn_as_bars() -> None:
    diagram = chain(1)
    diagram.give_room(True)
    scene = diagram.scene()
    before = write_svg(scene)
    svg = write_svg(scene, pictures={0: NodePicture(counts=(0, 4, 2, 0))})
    (path,) = [line for line in svg.splitlines() if line not in before and "<path" in line]
    assert path.count("v-") == 2
    assert LIGHT.accent in path
    assert "<image" not in svg


def test_embedded_images_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.session.graph.diagram.svg.MOST_BYTES", 2 * len(PNG))
    diagram = chain(4)
    diagram.give_room(True)
    svg = write_svg(diagram.scene(), pictures=dict.fromkeys(range(4), NodePicture(PNG, 8, 8, words="8 x 8")))
    assert svg.count("<image") == 2
    assert texts(svg).count("8 x 8") == 4


def test_low_boxes_have_no_picture() -> None:
    svg = write_svg(chain(1).scene(), pictures={0: NodePicture(PNG, 8, 8)})
    assert "<image" not in svg


def test_names_that_xml_can_not_hold_are_replaced() -> None:
    plain = program([operator("<b>&\x00\x1b\ud800]]>", ["x"], ["y\ufffe<"])], outputs=["y\ufffe<"])
    svg = write_svg(Diagram(plain).scene(), title="a < b & \x01")
    found = texts(svg)
    assert any(text.startswith("<b>&") for text in found)
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", svg)
    svg.encode("utf-8")


def test_boxes_have_colours_by_values_with_a_legend() -> None:
    diagram = chain(4)
    scene = diagram.scene()
    values = NodeValues({0: 1.0, 1: 3.0, 2: math.nan, 3: None}, "Time", "ms")
    svg = write_svg(scene, LIGHT, values)
    colors = map_colors(False, 32)
    assert svg.count(f'fill="{colors[0]}"') == 2  # the box and the legend
    assert svg.count(f'fill="{colors[-1]}"') == 2
    found = texts(svg)
    assert "Time" in found
    assert {"1\u2009ms", "2\u2009ms", "3\u2009ms"} <= set(found)
    # Grey where nothing was measured, and every text readable on its box.
    boxes = re.findall(r'rx="6" fill="(#\w+)".*?fill="(#\w+)">relu', svg, re.S)
    assert len(boxes) == 4
    assert {boxes[2][0], boxes[3][0]} == {LIGHT.line}
    assert all(text_on(fill) == ink for fill, ink in boxes)


def test_a_scale_by_logarithms_has_the_middle_between_powers() -> None:
    values = NodeValues({0: 0.01, 1: 1.0, 2: 100.0, 3: 0.0}, "Gradient", "", LOG)
    assert values.share(1, 0.01, 100.0) == pytest.approx(0.5)
    assert values.share(3, 0.01, 100.0) is None
    assert "Gradient" in texts(write_svg(chain(4).scene(), DARK, values))


def test_labels_have_a_colour_each() -> None:
    values = NodeValues({0: 0, 1: 1, 2: 0}, "dtype", labels=("float32", "int8"))
    svg = write_svg(chain(4).scene(), LIGHT, values)
    assert svg.count(f'fill="{run_colors.LIGHT[0]}"') == 3  # two boxes and the legend
    assert svg.count(f'fill="{run_colors.LIGHT[1]}"') == 2
    assert texts(svg).count("float32") == 3


def test_of_a_part_only_what_is_in_it_is_written() -> None:
    scene = chain(200).scene()
    x, y, width, height = scene.boxes[150].tolist()
    svg = write_svg(scene, clip=(x, y, width, height))
    assert f'viewBox="{x:g} {y:g} {width:g} {height:g}"' in svg
    assert len([text for text in texts(svg) if text == "relu"]) == 1


@pytest.mark.parametrize("dark", [False, True])
def test_text_is_readable_on_each_colour(dark: bool) -> None:
    def luminance(color: str) -> float:
        parts = [int(color[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        red, green, blue = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    for color in map_colors(dark, 32):
        light, low = sorted((luminance(color), luminance(text_on(color))), reverse=True)
        assert (light + 0.05) / (low + 0.05) >= 4.2
