"""How an image is placed into the input of a model, in words."""

from __future__ import annotations

from PySide6.QtCore import QObject


def placing_words(placing: str, of: QObject) -> str:
    """The name of a way of placing."""
    return {
        "digit": of.tr("As a digit"),
        "cover": of.tr("Middle"),
        "whole": of.tr("Whole"),
        "stretch": of.tr("Stretched"),
    }[placing]


def placing_help(placing: str, of: QObject) -> str:
    """What a way of placing does; empty for none."""
    return {
        "": of.tr("as it is"),
        "digit": of.tr("longer side 20 pixels, centre of mass in the middle, like MNIST's digits"),
        "cover": of.tr("scaled to fill the input and cropped to the centre"),
        "whole": of.tr("fitted into the input, with black borders"),
        "stretch": of.tr("stretched to the size of the input"),
    }[placing]
