"""AgreedLibrary: a library of runs, and which code of the user may run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from resources.local_code import LocalCode
from studio.session.predict.model_choice import ModelChoice, run_choice
from studio.session.problem_view import problem_from_message
from studio.session.project.code_agreement import CodeCheck, changed_in, check_code, check_run_code
from studio.session.project.library import Library
from studio.session.project.run_look import RunLook
from studio.session.train.run_settings import RunSettings


class AgreedLibrary(Library):
    """A library whose own code, and that of its runs, may run once the user has agreed to it.

    Args:
        runs_folder: where runs go while there is no project file.
    """

    def check_agreement(
        self, then: Callable[[CodeCheck], object], settings: RunSettings | None = None
    ) -> None:
        """Hand to ``then`` whether the user's code that would be imported may run.

        The window asks, and calls ``agree``; start, resume and export refuse until then.
        """
        settings = settings or self.project.settings
        if settings.user_file:
            self.files.reading.do(lambda: self._check(settings), then)
        else:
            then(CodeCheck())

    def check_agreement_of(self, folder: str, then: Callable[[CodeCheck], object]) -> None:
        """The same for the code that the run in ``folder`` keeps: resuming and exporting run it.

        None needs an agreement where there is a link among it: the job refuses to follow one, and says so.
        """
        # Here, not in the thread: two threads that import the engine at once can lock each other out.
        import engine.files.run_source  # noqa: F401

        self.files.reading.do(lambda: self._check_of(folder), then)

    def _check(self, settings: RunSettings | None) -> CodeCheck:
        text = (settings or self.project.settings).user_file
        return check_code(Path(text), tuple(self.preferences.agreed)) if text else CodeCheck()

    def _check_of(self, folder: str) -> CodeCheck:
        from engine.core.errors import DataError

        try:
            return check_run_code(Path(folder), tuple(self.preferences.agreed))
        except DataError:
            return CodeCheck()

    def needs_agreement(self, settings: RunSettings | None = None) -> LocalCode | None:
        """The user's code that was not agreed to yet, read now; None where there is none."""
        return self._check(settings).code

    def needs_agreement_of(self, folder: str) -> LocalCode | None:
        """The same for the code that the run in ``folder`` keeps."""
        return self._check_of(folder).code

    def agreed(self, settings: RunSettings | None = None) -> str:
        """The digest of the user's code that may run with these settings; empty where none may."""
        return self._check(settings).digest

    def agreed_of(self, folder: str) -> str:
        """The same for the code that the run in ``folder`` keeps."""
        return self._check_of(folder).digest

    def new_files(self, code: LocalCode) -> list[str]:
        """Those of ``code`` that the user has not agreed to before."""
        return changed_in(code, self.preferences.agreed)

    def with_code(self, start: Callable[[str], object]) -> None:
        """Call ``start`` with the digest of the user's code of the settings shown, if that may run."""
        self.check_agreement(lambda check: None if self._refuse(check.code) else start(check.digest))

    def with_code_of(self, folder: str, start: Callable[[str], object]) -> None:
        """Call ``start`` with the digest of the code of the run in ``folder``, if that may run."""
        self.check_agreement_of(
            folder, lambda check: None if self._refuse(check.code) else start(check.digest)
        )

    def _refuse(self, code: LocalCode | None) -> bool:
        if code is None:
            return False
        first = code.folder / self.new_files(code)[0]
        self._report(
            problem_from_message(
                f"{first}: this file is code that was not agreed to yet; agree to running it, then try again",
                "Your agreement is needed",
            )
        )
        return True

    # ----- runs with their code -----

    def look_at_run(self, folder: str, then: Callable[[RunLook], object]) -> None:
        """Read what is needed to resume the run in ``folder``."""
        # Here, not in the thread: two threads that import the engine at once can lock each other out.
        import engine.files.journal
        import engine.files.run_source  # noqa: F401

        def read() -> RunLook:
            return RunLook(self.run_in(folder), self._check_of(folder), self._history_or_error(folder))

        self.files.reading.do(read, then)

    def read_choice(self, folder: str, then: Callable[[ModelChoice | None], object]) -> None:
        """Hand to ``then`` the run in ``folder`` with its best weights; None where it has no checkpoint."""
        # Here, not in the thread: two threads that import the engine at once can lock each other out.
        import engine.files.run_source  # noqa: F401

        self.files.reading.do(lambda: run_choice(folder, self._check_of(folder).digest), then)
