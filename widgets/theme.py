"""The theme at run time: which tokens hold now, the palette and style sheet made of them, and its change."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QDir, QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QPalette
from PySide6.QtWidgets import QApplication

import resources
from resources.color_map import text_on
from resources.quantities import duration as format_duration
from resources.quantities import number as format_number
from resources.run_colors import color_in
from widgets.style import style_sheet
from widgets.tokens import (
    BODY_PX,
    CONTROL_HEIGHT,
    DARK,
    FIGURE_PX,
    ICON_SIZE,
    LIGHT,
    PAGE_PADDING,
    RADIUS_CARD,
    RADIUS_CONTROL,
    SECTION_PX,
    SPACE_L,
    SPACE_M,
    SPACE_S,
    SPACE_XL,
    SPACE_XS,
    Syntax,
    Tokens,
)

__all__ = [
    "BODY_PX",
    "CONTROL_HEIGHT",
    "DARK",
    "FIGURE_PX",
    "ICON_SIZE",
    "LIGHT",
    "PAGE_PADDING",
    "RADIUS_CARD",
    "RADIUS_CONTROL",
    "SECTION_PX",
    "SPACE_L",
    "SPACE_M",
    "SPACE_S",
    "SPACE_XL",
    "SPACE_XS",
    "Mode",
    "Syntax",
    "Tokens",
    "apply_theme",
    "changed",
    "contrast",
    "current",
    "font",
    "format_duration",
    "format_number",
    "ink_on",
    "luminance",
    "mix",
    "mode",
    "mono_font",
    "rgb",
    "run_color",
]

Mode = Literal["system", "light", "dark"]


class _Theme(QObject):
    """The one theme of the process."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.mode: Mode = "system"
        self.tokens = LIGHT
        self.app: QApplication | None = None

    def apply(self, app: QApplication, mode: Mode) -> None:
        schemes = {
            "system": Qt.ColorScheme.Unknown,
            "light": Qt.ColorScheme.Light,
            "dark": Qt.ColorScheme.Dark,
        }
        if mode not in schemes:
            raise ValueError(f"apply_theme: unknown mode: {mode!r}; use 'system', 'light' or 'dark'")
        self.mode = mode
        if self.app is not app:
            self.app = app
            QDir.setSearchPaths("icons", [resources.folder("icons")])
            app.setStyle("Fusion")
            app.styleHints().colorSchemeChanged.connect(self._system_changed)
            app.setFont(_body_font(app))
        app.styleHints().setColorScheme(schemes[mode])
        self._install()

    def _system_changed(self) -> None:
        if self.mode == "system":
            self._install()

    def _install(self) -> None:
        assert self.app is not None
        scheme = self.app.styleHints().colorScheme()
        dark = self.mode == "dark" or (self.mode == "system" and scheme == Qt.ColorScheme.Dark)
        self.tokens = DARK if dark else LIGHT
        # While a style sheet holds, each widget that gets the new one hands its palette on to all widgets in
        # it, which takes a second in the main window; without one the palette reaches each widget once.
        self.app.setStyleSheet("")
        self.app.setPalette(_palette(self.tokens))
        self.app.setStyleSheet(style_sheet(self.tokens))
        self.changed.emit()


def _body_font(app: QApplication) -> QFont:
    font = QFont(app.font())
    font.setPixelSize(BODY_PX)
    return font


def _palette(tokens: Tokens) -> QPalette:
    roles = QPalette.ColorRole
    colors = {
        roles.Window: tokens.ground,
        roles.WindowText: tokens.text,
        roles.Base: tokens.panel,
        roles.AlternateBase: tokens.ground,
        roles.Text: tokens.text,
        roles.Button: tokens.panel,
        roles.ButtonText: tokens.text,
        roles.BrightText: tokens.bad,
        roles.ToolTipBase: tokens.panel,
        roles.ToolTipText: tokens.text,
        roles.PlaceholderText: tokens.mute,
        roles.Highlight: tokens.selection,
        roles.HighlightedText: tokens.text,
        roles.Accent: tokens.accent,
        roles.Link: tokens.accent,
        roles.LinkVisited: tokens.accent,
        roles.Light: tokens.panel,
        roles.Midlight: tokens.hover,
        roles.Mid: tokens.line,
        roles.Dark: tokens.mute,
        roles.Shadow: tokens.line,
    }
    palette = QPalette()
    for role, color in colors.items():
        palette.setColor(role, QColor(color))
    for role in (roles.WindowText, roles.Text, roles.ButtonText, roles.HighlightedText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(tokens.disabled))
    return palette


_theme = _Theme()
# Emitted after palette and style sheet hold the new tokens. Widgets that paint by hand connect their
# `update`.
changed = _theme.changed


def current() -> Tokens:
    """The tokens that hold now (light before the first `apply_theme`)."""
    return _theme.tokens


def mode() -> Mode:
    """What was asked for: "system", "light" or "dark"."""
    return _theme.mode


def apply_theme(app: QApplication, mode: Mode = "system") -> None:
    """Dress the application; may be called again at run time. Raises ValueError for an unknown mode."""
    _theme.apply(app, mode)


def run_color(color: int | str) -> str:
    """The colour of a run in the theme that holds now, by its place or as the user chose it."""
    return color_in(current().runs, color)


def font(px: int = BODY_PX, bold: bool = False) -> QFont:
    """The interface font with tabular figures, so that a number that changes doesn't move its neighbours."""
    result = QFont(QApplication.font())
    result.setPixelSize(px)
    result.setFeature(QFont.Tag("tnum"), 1)
    if bold:
        result.setWeight(QFont.Weight.DemiBold)
    return result


def mono_font(px: int = BODY_PX - 1) -> QFont:
    """The system's monospace font, for code and tensor names."""
    result = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    result.setStyleHint(QFont.StyleHint.Monospace)
    result.setPixelSize(px)
    return result


def luminance(color: QColor) -> float:
    """Relative luminance, 0 black to 1 white (WCAG 2); above 0.18, dark text is the more readable."""
    linear = []
    for part in (color.redF(), color.greenF(), color.blueF()):
        linear.append(part / 12.92 if part <= 0.03928 else float(((part + 0.055) / 1.055) ** 2.4))
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: QColor, second: QColor) -> float:
    """The contrast of two colours, 1 to 21 (WCAG 2); text needs 4.5."""
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def ink_on(ground: QColor) -> QColor:
    """Black or white, whichever can be read better on a colour: the contrast is at least 4.58."""
    return QColor(text_on(ground.name()))


def mix(first: str, second: str, share: float) -> QColor:
    """The colour `share` (0..1) of the way from the first to the second."""
    old, new = rgb(first), rgb(second)
    return QColor(*[round(a + (b - a) * share) for a, b in zip(old, new, strict=True)])


def rgb(color: str | QColor) -> tuple[int, int, int]:
    """Red, green and blue, 0 to 255."""
    color = QColor(color)
    return color.red(), color.green(), color.blue()
