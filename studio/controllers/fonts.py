"""Fonts for the languages of the window: a family that has their characters, and how to install one."""

from __future__ import annotations

import platform
import sys

from PySide6.QtGui import QFontDatabase, QFontInfo
from PySide6.QtWidgets import QApplication

from resources.words.languages import ENGLISH

# Families with the Chinese forms of characters. Without one of them first, the system may take Japanese ones.
CHINESE = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "Microsoft YaHei",
    "PingFang SC",
    "WenQuanYi Micro Hei",
)
# What to type, by the names in /etc/os-release of a system or of those that it is like.
COMMANDS = {
    "debian": "sudo apt install fonts-noto-cjk",
    "ubuntu": "sudo apt install fonts-noto-cjk",
    "fedora": "sudo dnf install google-noto-sans-cjk-fonts",
    "rhel": "sudo dnf install google-noto-sans-cjk-fonts",
    "arch": "sudo pacman -S noto-fonts-cjk",
    "suse": "sudo zypper install google-noto-sans-cjk-fonts",
    "opensuse": "sudo zypper install google-noto-sans-cjk-fonts",
    "alpine": "sudo apk add font-noto-cjk",
}


def prefer_chinese_forms(app: QApplication) -> None:
    """Let characters that the font of ``app`` lacks come from a family with their Chinese forms.

    It is set once, before there are widgets: the font of Latin letters stays what it is.
    """
    present = set(_families())
    chosen = next((name for name in CHINESE if name in present), "")
    font = app.font()
    if chosen and chosen not in font.families():
        # The first one may be the name of a role, such as Sans Serif.
        font.setFamilies([QFontInfo(font).family(), *font.families()[1:], chosen])
        app.setFont(font)


def missing_font(language: str) -> str:
    """What to install so that a language can be read, in English; empty where a font has its characters."""
    if language == ENGLISH or _families():
        return ""
    command = _command()
    how = f": {command}, then start again" if command else ", such as Noto Sans CJK, then start again"
    return f"No font on this computer has Chinese characters. Install one{how}."


def _families() -> list[str]:
    return QFontDatabase.families(QFontDatabase.WritingSystem.SimplifiedChinese)


def _command() -> str:
    """The command that installs a font on this system; empty where it is not known."""
    if sys.platform != "linux":
        return ""
    try:
        values = platform.freedesktop_os_release()
    except (OSError, ValueError):  # absent or damaged
        return ""
    names = [values.get("ID", ""), *values.get("ID_LIKE", "").split()]
    # ``opensuse-leap`` is ``opensuse``.
    return next((COMMANDS[name] for each in names if (name := each.partition("-")[0]) in COMMANDS), "")
