"""docs/settings.md and resources/settings/rules.json are what the engine and the declaration give now."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

from resources.settings import SETTINGS, optimizers, schedules
from resources.settings.rules import FILE

ROOT = Path(__file__).resolve().parents[2]


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("model_studio_docs_settings", ROOT / "docs" / "settings.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


page = _load()


def test_the_rules_are_those_of_the_engine() -> None:
    assert FILE.read_text(encoding="utf-8") == page.rules_text(), "run python -m docs.settings"


def test_the_pages_are_current() -> None:
    pages = page.pages()
    assert [file.name for file in pages] == ["settings.md", "settings.md"]
    for file, text in pages.items():
        assert file.read_text(encoding="utf-8") == text, "run python -m docs.settings"


def test_the_translation_has_no_english_sentence() -> None:
    cells = [cell for line in page.page("zh_CN").splitlines() for cell in line.split(" | ")]
    plain = re.compile(r"[a-z]{2,} (is|are|of|the|for|with|to|a) [a-z]+").search
    assert [cell for cell in cells if plain(cell)] == []


def test_the_page_has_every_setting_and_every_parameter() -> None:
    text = page.page()
    for name, setting in SETTINGS.items():
        assert (f"| `{name}` |" in text) == (name != "out" and setting.group != "window")
    for rule in (*optimizers().values(), *schedules().values()):
        section = text.partition(f"### {rule.name}\n")[2].partition("###")[0]
        assert section
        for setting in rule.parameters:
            assert f"| `{setting.name}` |" in section
