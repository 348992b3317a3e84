"""Draws the icon in the sizes that desktops ask for: draw_icon.py IMAGE.svg HICOLOR SIZE ..."""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = "offscreen"

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer


def main() -> None:
    """Write one PNG a size."""
    source, folder = Path(sys.argv[1]), Path(sys.argv[2])
    app = QGuiApplication(sys.argv[:1])
    renderer = QSvgRenderer(str(source))
    for size in map(int, sys.argv[3:]):
        image = QImage(size, size, QImage.Format.Format_ARGB32)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        renderer.render(painter)
        painter.end()
        target = folder / f"{size}x{size}/apps/{source.stem}.png"
        target.parent.mkdir(parents=True)
        image.save(str(target))
    del app


if __name__ == "__main__":
    main()
