"""The page of a report as a PDF file: its texts and charts, and nothing from elsewhere."""

from __future__ import annotations

import base64
import re

import pytest
from PySide6.QtCore import QBuffer, QIODevice
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication

from studio.controllers.runs import report_pdf
from studio.controllers.runs.report_pdf import _SimplePage, pdf_of


def png(width: int, height: int, color: str = "#ff0000") -> str:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor(color))
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(bytes(buffer.data().data())).decode()


def simple(page: str) -> _SimplePage:
    found = _SimplePage()
    found.feed(page)
    found.close()
    return found


def test_a_page_becomes_a_pdf_file_with_its_title(qapp: QApplication) -> None:
    content = pdf_of(
        "<html><head><title>Run 3</title></head><body><h1>Run 3</h1><p>97.50 %</p></body></html>"
    )
    assert content.startswith(b"%PDF-1.")
    assert content.rstrip().endswith(b"%%EOF")
    assert "Run 3".encode("utf-16-be") in content
    assert len(re.findall(rb"/Type /Page\b", content)) == 1
    assert b"begincmap" in content  # text that can be searched, not an image of it


def test_a_long_page_is_broken_into_several(qapp: QApplication) -> None:
    content = pdf_of("<main>" + "<p>a line</p>" * 200 + "</main>")
    assert len(re.findall(rb"/Type /Page\b", content)) > 3


def test_cards_and_small_images_become_tables(qapp: QApplication) -> None:
    cards = "".join(f"<div><span>a{n}</span><b>{n}</b></div>" for n in range(6))
    images = "".join(
        f'<figure><img src="{png(4, 4)}"><figcaption>{n}</figcaption></figure>' for n in range(7)
    )
    page = simple(
        f'<main><div class="figures">{cards}</div><section><div class="hard">{images}</div></section></main>'
    )
    text = "".join(page.parts)
    assert text.count("<table") == text.count("</table>") == 2
    assert text.count("</tr><tr>") == 2  # five in a row
    assert text.count("<td") == text.count("</td>") == 13
    assert len(page.images) == 7


def test_charts_are_drawn_in_the_colours_of_print(qapp: QApplication) -> None:
    chart = '<svg viewBox="0 0 10 10" role="img"><path class="line s0" d="M0 5H10" stroke-width="4"/></svg>'
    ((name, image),) = simple(f"<section>{chart}</section>").images.items()
    assert name == "image:0"
    assert image.width() == report_pdf.CHART * report_pdf.DENSITY
    assert image.pixelColor(image.width() // 2, image.height() // 2).name().upper() == "#3B5BDB"
    assert image.pixelColor(5, 5).name().upper() == "#FFFFFF"


def test_cells_have_the_share_of_their_colour(qapp: QApplication) -> None:
    text = "".join(
        simple('<table class="matrix"><tr><td class="c" style="--s:100%">9</td></tr></table>').parts
    )
    assert 'bgcolor="#9daded"' in text
    text = "".join(simple('<table class="matrix"><tr><td class="c" style="url(x)">9</td></tr></table>').parts)
    assert 'bgcolor="#ffffff"' in text


@pytest.mark.parametrize(
    "source",
    [
        "/etc/passwd",
        "file:///etc/hostname",
        "http://127.0.0.1:1/a.png",
        "data:image/png;base64,AAAA",
        "data:image/png;base64,%",
    ],
)
def test_no_image_is_loaded_from_elsewhere(qapp: QApplication, source: str) -> None:
    page = simple(f'<p><img src="{source}"></p>')
    assert page.images == {}
    assert "img" not in "".join(page.parts)


def test_names_stay_texts(qapp: QApplication) -> None:
    evil = "&lt;img src=/etc/passwd&gt;&lt;script&gt;"
    text = "".join(simple(f"<h1>{evil}</h1><script>alert(1)</script><style>b{{}}</style>").parts)
    assert "<img" not in text
    assert "<script" not in text
    assert evil in text


def test_an_empty_chart_is_omitted(qapp: QApplication) -> None:
    page = simple('<section><svg viewBox="0 0 0 0"></svg></section>')
    assert page.images == {}
