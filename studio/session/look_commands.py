"""The commands that choose how the window looks: its theme and its language."""

from __future__ import annotations

from resources.words.languages import LANGUAGES as NAMES
from studio.session.command import Command

# Mode of the theme -> the command that uses it.
THEMES: dict[str, Command] = {
    "system": Command(
        "theme_system",
        "Follow the system",
        "View",
        "Use the system's light or dark theme.",
        separate=True,
        choice="theme",
        group="Theme",
    ),
    "light": Command("theme_light", "Light", "View", "Use the light theme.", choice="theme", group="Theme"),
    "dark": Command("theme_dark", "Dark", "View", "Use the dark theme.", choice="theme", group="Theme"),
}
# Language -> the command that uses it. A language has its own name in all of them.
LANGUAGES: dict[str, Command] = {
    "system": Command(
        "language_system",
        "System language",
        "View",
        "Use the language of the computer, where the window has it.",
        choice="language",
        group="Language",
    ),
    "en": Command(
        "language_english", NAMES["en"], "View", "Use English.", choice="language", group="Language"
    ),
    "zh_CN": Command(
        "language_chinese",
        NAMES["zh_CN"],
        "View",
        "Use Simplified Chinese.",
        choice="language",
        group="Language",
    ),
}
