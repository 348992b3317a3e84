"""Asks for the agreement to code before something that runs it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from studio.session.project.code_agreement import CodeCheck
from studio.session.session import Session
from studio.windows.agreement_dialog import ask_agreement


def after_agreement(
    session: Session,
    window: QWidget,
    then: Callable[[], object],
    run: str = "",
    refused: Callable[[], object] | None = None,
    asking: Callable[[], object] | None = None,
) -> None:
    """Call ``then`` once the user's code of the settings shown may run, or that of the run in a folder.

    The user is asked where it may not. The code is read again after a yes: it may have changed meanwhile.

    Args:
        run: the folder of the run.
        refused: called after a no.
        asking: called before the question.
    """

    def check() -> None:
        if run:
            session.check_agreement_of(run, take)
        else:
            session.check_agreement(take)

    def take(found: CodeCheck) -> None:
        code = found.code
        if code is None:
            then()
            return
        if asking is not None:
            asking()
        new = session.new_files(code)
        ask_agreement(window, code, new, lambda: (session.agree(code), check()), refused)

    check()
