"""The page of a report as a PDF file: text that can be searched, tables, and charts in print resolution.

Qt's text documents know neither grids nor inline SVG. The page is written in simpler elements first: cards
and small images become tables, charts become images. Nothing is loaded: an image counts only where its bytes
are in the page.
"""

from __future__ import annotations

import base64
import binascii
import re
from html import escape
from html.parser import HTMLParser

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QRectF, QUrl
from PySide6.QtGui import QGuiApplication, QImage, QPageSize, QPainter, QPdfWriter, QTextDocument
from PySide6.QtSvg import QSvgRenderer

from widgets.tokens import LIGHT

ACROSS = 5  # small images of a row
CHART, SMALL = 480, 80  # widths in points
DENSITY = 3  # pixels of a chart to a point
MOST_PIXELS = 4096
_KEPT = frozenset(["h1", "h2", "p", "table", "tr", "td", "th", "br", "b", "i", "span"])
_PNG = "data:image/png;base64,"
_PAGE = """
body{font-size:9pt;color:#1B1F27} h1{font-size:15pt} h2{font-size:11pt;margin-top:14px}
p,.mute{color:#667085} th{text-align:left;font-weight:600} td,th{padding:2px 6px} .bad{color:#C0392B}
.number{font-size:13pt;font-weight:600} .cells{font-size:8pt} .s0{color:#3B5BDB} .s1{color:#D9480F}
.changed td,.changed th{background-color:#E7ECFF}
"""
_CHART = """
text{fill:#667085;font-size:11px}.grid{stroke:#ccc}.line{fill:none;stroke-width:1.6}.band{opacity:.18}
.s0{stroke:#3B5BDB}.s1{stroke:#D9480F;stroke-dasharray:6 4}
.band.s0,.dot.s0{fill:#3B5BDB;stroke:none}.band.s1,.dot.s1{fill:#D9480F;stroke:none}
"""


def pdf_of(page: str) -> bytes:
    """The page as a PDF file of the format A4. Needs a QGuiApplication; may be called in any thread."""
    simple = _SimplePage()
    simple.feed(page)
    simple.close()
    document = QTextDocument()
    document.setDefaultStyleSheet(_PAGE)
    for name, image in simple.images.items():
        document.addResource(QTextDocument.ResourceType.ImageResource, QUrl(name), image)
    document.setHtml(f"<body>{''.join(simple.parts)}</body>")
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setTitle(simple.title)
    writer.setCreator("Model Studio")
    writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    writer.setPageMargins(QMarginsF())  # the document has some of its own, for the page's number
    document.print_(writer)
    del writer  # ends the file
    return bytes(buffer.data().data())


def pdf_without_window(page: str) -> bytes:
    """The page as a PDF file, in a process that has neither a window nor a screen."""
    application = QGuiApplication.instance() or QGuiApplication(["model-studio", "-platform", "offscreen"])
    content = pdf_of(page)
    del application  # alive until here
    return content


class _SimplePage(HTMLParser):
    """Reads the page; ``parts`` are its simpler elements, ``images`` the pixels by their names."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.images: dict[str, QImage] = {}
        self.title = ""
        self._open: list[tuple[str, str]] = []  # the elements around, and what ends each
        self._chart: list[str] | None = None
        self._in_row = 0
        self._keys = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "svg" or self._chart is not None:
            self._chart = [*(self._chart or []), self.get_starttag_text() or ""]
            if tag == "svg":
                self._chart.append(f"<style>{_CHART}</style>")
            return
        given = {name: value or "" for name, value in attributes}
        kinds = given.get("class", "").split()
        if tag in ("img", "br", "meta"):
            self.parts.append(self._image(given.get("src", ""), "matrix" in kinds) if tag == "img" else "")
            self.parts.append("<br>" if tag == "br" else "")
            return
        begin, end = self._simple(tag, kinds, given.get("style", ""))
        self.parts.append(begin)
        self._open.append((tag, end))

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if self._chart is not None:
            self._chart.append(self.get_starttag_text() or "")
        else:
            self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag: str) -> None:
        if self._chart is not None:
            self._chart.append(f"</{tag}>")
            if tag == "svg":
                drawn, self._chart = "".join(self._chart), None
                self.parts.append(self._drawn(drawn, self._is_inside("figure")))
            return
        while self._open:
            name, end = self._open.pop()
            self.parts.append(end)
            if name == tag:
                return

    def handle_data(self, data: str) -> None:
        if self._chart is not None:
            self._chart.append(escape(data))
        elif self._is_inside("title"):
            self.title += data
        elif not self._is_inside("style"):
            self.parts.append(escape(data))

    def _is_inside(self, tag: str) -> bool:
        return any(name == tag for name, _ in self._open)

    def _simple(self, tag: str, kinds: list[str], style: str) -> tuple[str, str]:
        """What begins and ends the element in the simpler page."""
        if tag == "div" and ("figures" in kinds or "hard" in kinds):
            self._in_row = 0
            return '<table width="100%"><tr>', "</tr></table>"
        if tag == "figure" or (tag == "div" and self._open and self._open[-1][0] == "div" and not kinds):
            turned = "</tr><tr>" if self._in_row and self._in_row % ACROSS == 0 else ""
            self._in_row += 1
            return f'{turned}<td align="{"center" if tag == "figure" else "left"}">', "</td>"
        if tag == "b" and self._in_row and not self._is_inside("section"):
            return '<br><span class="number">', "</span>"
        if tag == "div" and "key" in kinds:
            self._keys = 0
        if tag == "b" and self._open and self._open[-1][0] == "div":  # of the key below a chart
            self._keys += 1
            return f"<b class=s{self._keys - 1}>", "</b>"
        if tag == "td" and "c" in kinds:
            return f'<td align="center" bgcolor="{_tint(style)}">', "</td>"
        if tag == "table":
            kind = "class=cells" if "matrix" in kinds else 'width="100%"'
            return f'<table cellspacing="0" {kind}>', "</table>"
        if tag == "figcaption":
            return "<br>", ""
        if tag not in _KEPT:
            return ("<div>", "</div>") if tag in ("section", "div", "main") else ("", "")
        shown = [each for each in kinds if each in ("bad", "mute", "changed")]
        return f"<{tag}{f' class={shown[0]}' if shown else ''}>", f"</{tag}>"

    def _drawn(self, chart: str, small: bool) -> str:
        renderer = QSvgRenderer(chart.encode())
        size = renderer.defaultSize()
        if not renderer.isValid() or size.isEmpty():
            return ""
        width = SMALL if small else CHART
        height = round(width * size.height() / size.width())
        image = QImage(width * DENSITY, height * DENSITY, QImage.Format.Format_RGB32)
        image.fill(LIGHT.panel)
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        renderer.render(painter, QRectF(image.rect()))
        painter.end()
        return self._placed(image, width, height)

    def _image(self, source: str, large: bool) -> str:
        """A PNG file within the page; anything else is omitted."""
        if not source.startswith(_PNG):
            return ""
        try:
            image = QImage.fromData(base64.b64decode(source[len(_PNG) :], validate=True), "PNG")
        except binascii.Error:
            return ""
        if image.isNull() or max(image.width(), image.height()) > MOST_PIXELS:
            return ""
        width = CHART // 2 if large else SMALL
        return self._placed(image, width, max(1, round(width * image.height() / image.width())))

    def _placed(self, image: QImage, width: int, height: int) -> str:
        name = f"image:{len(self.images)}"
        self.images[name] = image
        return f'<img src="{name}" width="{width}" height="{height}">'


def _tint(style: str) -> str:
    """The colour of a cell whose style gives the share of the accent: ``--s:40%``."""
    found = re.fullmatch(r"--s:(\d{1,3})%", style)
    share = min(int(found[1]), 100) / 100 if found else 0.0
    accent = [int(LIGHT.accent[place : place + 2], 16) for place in (1, 3, 5)]
    # Half of it: print keeps black figures readable on every cell.
    return "#" + "".join(f"{round(255 + (part - 255) * share / 2):02x}" for part in accent)
