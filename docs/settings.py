"""Writes resources/settings/rules.json and docs/settings.md: ``python -m docs.settings``, in the top folder.

The first lists the optimizers and schedules that a run can use, read from the constructors of the engine, so
that the command line and the window know them before the engine is imported. The second is the page about all
settings; its translations in the guide are written with it, from the catalogues of the window. ``--check``
only checks whether all are current.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from docs.settings_texts import CHINESE, ENGLISH, PageTexts
from resources.help_pages import ENGLISH as ENGLISH_NAME
from resources.help_pages import stamp_of, translation
from resources.settings import RUN_SETTINGS, Rule, Setting, optimizers, schedules
from resources.settings.export import EXPORT_SETTINGS
from resources.settings.predict import PREDICT_SETTINGS
from resources.settings.quantize import QUANTIZE_SETTINGS
from resources.settings.rate import RATE_SETTINGS
from resources.settings.rules import FILE
from resources.settings.script import SCRIPT_SETTINGS
from resources.words.catalogue import read_catalogue

PAGE = Path(__file__).resolve().parent / "settings.md"
NAME = "../settings.md"  # as links of the guide name it
TEXTS = {ENGLISH_NAME: ENGLISH, "zh_CN": CHINESE}


def rules_text() -> str:
    """The content of rules.json as the engine has it."""
    from engine.training.rules.table import table

    return json.dumps(table(), indent=1) + "\n"


def page(language: str = ENGLISH_NAME) -> str:
    """The page about all settings, in a language of ``TEXTS``."""
    catalogue = None if language == ENGLISH_NAME else read_catalogue(language)
    return _Page(
        TEXTS[language], str if catalogue is None else lambda text: catalogue.find(text) or text
    ).text()


class _Page:
    """Writes the page with the texts of a language; ``tr`` translates those of settings and rules."""

    def __init__(self, texts: PageTexts, tr: Callable[[str], str]) -> None:
        self._texts, self._tr = texts, tr

    def text(self) -> str:
        texts = self._texts
        shown = [each for each in RUN_SETTINGS.values() if each.group != "window"]
        lines = [texts.head, *_head(texts.run_columns), *map(self._run_row, shown)]
        for head, rules in ((texts.optimizers, optimizers()), (texts.schedules, schedules())):
            lines.append(head)
            lines += [self._rule(rule, head is texts.schedules) for rule in rules.values()]
        # The settings of other tasks than a run, each below its heading.
        for head, settings in (
            (texts.export, EXPORT_SETTINGS),
            (texts.quantization, QUANTIZE_SETTINGS),
            (texts.rate, RATE_SETTINGS),
            (texts.prediction, PREDICT_SETTINGS),
            (texts.script, SCRIPT_SETTINGS),
        ):
            lines += [head, *_head(texts.task_columns)]
            lines += [self._task_row(setting) for setting in settings.values() if setting.group != "window"]
        return "\n".join(lines) + "\n"

    def _task_row(self, setting: Setting) -> str:
        tr = self._tr
        return _row(
            f"`{setting.name}`",
            _options(setting),
            setting.allowed(tr),
            setting.default_words(tr),
            tr(setting.help),
        )

    def _run_row(self, setting: Setting) -> str:
        tr, texts = self._tr, self._texts
        is_long = setting.kind == "parameters" or len(setting.choices) > 4
        takes = texts.see_below if is_long else setting.allowed(tr)
        default = setting.default_words(tr) if setting.kind != "parameters" else ""
        change = texts.yes if setting.changeable else ""
        return _row(f"`{setting.name}`", _options(setting), takes, default, change, tr(setting.help))

    def _rule(self, rule: Rule, is_schedule: bool) -> str:
        tr, texts = self._tr, self._texts
        moves = texts.advances[rule.each] if is_schedule and rule.class_name else ""
        head = f"### {rule.name}\n\n{tr(rule.help)}{moves}\n"
        if not rule.parameters:
            return head
        rows = [
            _row(
                f"`{setting.name}`",
                setting.allowed(tr),
                setting.default_words(tr) or texts.must_be_given,
                tr(setting.help),
            )
            for setting in rule.parameters
        ]
        return "\n".join([head, *_head(texts.rule_columns), *rows, ""])


def _options(setting: Setting) -> str:
    return f"`{setting.flag}`, `{setting.off_flag}`" if setting.kind == "bool" else f"`{setting.flag}`"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _head(columns: tuple[str, ...]) -> tuple[str, str]:
    return _row(*columns), "|" + "---|" * len(columns)


def pages() -> dict[Path, str]:
    """The text of the page and of its translations, by file."""
    english = page()
    texts = {PAGE: english}
    for language in TEXTS:
        if language != ENGLISH_NAME:
            texts[translation(NAME, language)] = f"{stamp_of(NAME, english)}\n{page(language)}"
    return texts


def main() -> int:
    """Write all files, or with ``--check`` say which are not current."""
    check = sys.argv[1:] == ["--check"]
    rules = rules_text()
    stale = [] if FILE.read_text(encoding="utf-8") == rules else [FILE.name]
    if stale and not check:
        FILE.write_text(rules, encoding="utf-8")
        # This process has read the rules as they were.
        return subprocess.run([sys.executable, "-m", "docs.settings"], check=False).returncode
    for file, text in pages().items():
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            stale.append("/".join(file.parts[-2:]))
            if not check:
                file.write_text(text, encoding="utf-8")
    if check and stale:
        print(f"not current: {', '.join(stale)}; run python -m docs.settings", file=sys.stderr)
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
