"""A plugin that looks for untranslated texts in each state in which the tests of the window leave it.

``pytest -p tests.studio.language.every_state tests/studio/windows/train`` writes what stays in English after
a switch to the pseudo-translation, with the test, to the file that MODEL_STUDIO_UNTRANSLATED names.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from studio.controllers.language import begin_language
from tests.studio.language.marked import Language
from tests.studio.language.untranslated import untranslated

OUT = Path(os.environ.get("MODEL_STUDIO_UNTRANSLATED", "untranslated.txt"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    try:
        return (yield)
    finally:
        found = _found()
        if found:
            with OUT.open("a", encoding="utf-8") as file:
                file.writelines(f"{text}  [{item.nodeid}]\n" for text in sorted(found))


def _found() -> set[str]:
    """The texts of all windows that are shown."""
    windows: list[QWidget] = [
        each for each in QApplication.topLevelWidgets() if isValid(each) and each.isVisible()
    ]
    if not windows:
        return set()
    begin_language(cast(QApplication, QApplication.instance()), "en")
    Language.marked()
    try:
        with pytest.MonkeyPatch.context() as patch:
            return {text for window in windows for text in untranslated(window, patch)}
    finally:
        Language.english()
