"""ModelEditor: the file of the page Code behind its view model: read, saved, watched, and its texts tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from resources.families import ModelSpec
from resources.local_code import LocalCode
from studio.session.code.code_view import CHANGED, GONE, CodeProblem, CodeViewModel
from studio.session.code.drafts import drop_draft, keep_draft, read_draft
from studio.session.code.dry_runs import DryRuns
from studio.session.code.edited_file import (
    CodeError,
    EditedFile,
    code_of_text,
    digest_of,
    digest_on_disk,
    read_edited,
)
from studio.session.code.inputs import fed_by, parse_inputs
from studio.session.code.job import CheckCode
from studio.session.code.model_trials import ModelTrials
from studio.session.code.syntax import syntax_problem
from studio.session.code.templates import DIGITS, template
from studio.session.code.user_models import is_outlined, model_classes, parsed
from studio.session.problem_view import problem_from_message
from studio.session.project.code_agreement import own_code

if TYPE_CHECKING:
    from studio.session.project.agreed_library import AgreedLibrary
    from studio.session.work.running_tasks import RunningTasks


T = TypeVar("T")
Then: TypeAlias = Callable[[], object] | None
Failed: TypeAlias = Callable[[Exception], object] | None


class ModelEditor:
    """What happens on the page Code. Nothing here waits.

    Args:
        library: has the settings, whose data defines the inputs; stores agreements and reports problems.
        change_setting: changes one, by its name.
        tasks: starts the jobs that try the text.
    """

    def __init__(
        self, library: AgreedLibrary, change_setting: Callable[[str, Any], None], tasks: RunningTasks
    ) -> None:
        self.view, self.text, self.last_file = CodeViewModel(), "", ""  # that of the last session
        self._library, self._change_setting = library, change_setting
        self._runs = DryRuns(tasks, self._checked, self._stuck)
        self.trials = ModelTrials(self, library, tasks)
        self._file = EditedFile()  # as it was last read or written here
        # The files that were agreed to, by their digests, so that what is typed into this one may run too;
        # None where it was not agreed to.
        self._agreed: Mapping[str, str] | None = None

    # ----- files: in a thread, in the order of the changes, so that a slow disk stops nothing -----

    def open(self, path: Path, then: Then = None, failed: Failed = None) -> None:
        """Edit another file; a text of it that was never saved comes back.

        The file before keeps its draft, and stays where the other can't be read.

        Args:
            then: called when the file is there.
            failed: called with the CodeError; without it, that is raised.
        """
        path = path.expanduser().absolute()

        def read() -> tuple[EditedFile, str | None]:
            return read_edited(path), parsed(read_draft(path))

        def take(found: tuple[EditedFile, str | None]) -> None:
            on_disk, draft = found
            self._take_file(on_disk)
            restored = draft is not None and draft != self._file.text
            self.text = draft if restored and draft is not None else self._file.text
            view = self.view
            view.clear_check()
            view.file, view.outside, view.restored = str(path), "", restored
            view.modified = restored
            view.state = "idle"
            self._choose_class()
            view.text_replaced.emit(self.text, False)
            self.check()
            self._library.remember_file(str(path))
            _call(then)

        self._do(read, take, failed, "open code")

    def forget(self) -> None:
        """Edit no file; text that was not saved stays as a draft."""
        self._runs.forget()
        self._file, self._agreed, self.text, self.last_file = EditedFile(), None, "", ""
        view = self.view
        view.clear_check()
        view.file, view.outside, view.restored, view.modified = "", "", False, False
        view.classes, view.class_name, view.inputs, view.input_problem = (), "", "", ""
        view.state, view.unagreed = "empty", ()
        view.text_replaced.emit("", False)

    def new(
        self,
        name: str,
        path: Path,
        spec: ModelSpec = DIGITS,
        failed: Failed = None,
    ) -> None:
        """Create a file from the template ``name``, fitted to data of this ``spec``, and edit it.

        Replaces a file that is there.

        Args:
            failed: called with the OSError where it can't be written: the message has the path and what to
                do; without it, that is raised.
        """
        from engine.files.atomic import atomic_write

        path = path.expanduser().absolute()
        if path.suffix != ".py":
            path = path.with_name(path.name + ".py")
        text = template(name).text(spec)

        def write() -> None:
            atomic_write(path, lambda out: out.write(text.encode()))
            drop_draft(path)

        def take(_: None) -> None:
            self._library.agree(own_code(path, text.encode()))
            self.open(path, self.use, failed)

        self._do(write, take, failed)

    def save(self, then: Callable[[bool], object] | None = None, failed: Failed = None) -> None:
        """Write the text to its file, atomically.

        What was changed outside is never replaced unasked: ``keep_mine`` or ``take_theirs`` comes first.

        Args:
            then: called with True when it is written, with False where the file was changed outside.
            failed: called with the OSError where it can't be written; without it, that is raised. The draft
                stays.
        """
        from engine.files.atomic import atomic_write

        view, text, seen = self.view, self.text, self._file.digest
        if not view.file:
            return
        path = Path(view.file)
        data = text.replace("\n", self._file.newline).encode()

        def write() -> LocalCode | bool | None:
            """The code of the text; False where the file was changed."""
            with suppress(CodeError):
                if digest_on_disk(path) != seen:
                    return False
            atomic_write(path, lambda out: out.write(data))
            drop_draft(path)
            with suppress(CodeError):
                return code_of_text(path, text)
            return None

        def take(found: LocalCode | bool | None) -> None:
            if view.file != str(path):
                return  # another one was opened meanwhile
            if found is False:
                self.look(lambda: then(self.text == self._file.text) if then is not None else None)
                return
            self._file = replace(self._file, text=text, digest=digest_of(data))
            if isinstance(found, LocalCode) and self.may_run(found):
                self._library.agree(replace(found, sources={**found.sources, found.file.name: data}))
            view.modified = self.text != text  # typed since
            view.restored = False
            view.outside = ""
            if then is not None:
                then(True)

        self._do(write, take, failed, f"save {path}")

    def look(self, then: Then = None) -> None:
        """Compare the file on disk with what is known of it.

        Without changes here it is read again; with changes here and there ``view.outside`` says so, and
        nothing is touched.
        """
        view = self.view
        if not view.file:
            return
        path, seen = Path(view.file), self._file.digest

        def read() -> EditedFile | str:
            """GONE, or an empty text for a file that can't be read or is known."""
            try:
                return "" if digest_on_disk(path) == seen else read_edited(path)
            except CodeError:
                return "" if path.exists() else GONE

        def take(found: EditedFile | str) -> None:
            if view.file != str(path) or self._file.digest != seen:
                return
            if isinstance(found, str):
                view.outside = found or ("" if view.outside == GONE else view.outside)
            elif view.modified:
                view.outside = CHANGED
            else:
                self._take_file(found)
                view.outside = ""
                self._replace(self._file.text)
            _call(then)

        self._do(read, take, None, "look at code")

    def keep_mine(self) -> None:
        """The text here counts, whatever the file holds now: the next save replaces that."""
        path = Path(self.view.file)

        def take(digest: str) -> None:
            self._file = replace(self._file, digest=digest or self._file.digest)
            self.view.outside = ""

        self._do(lambda: digest_on_disk(path) if path.exists() else "", take, self._refused)

    def take_theirs(self) -> None:
        """Take what the file holds now; undo leads back to the text before."""
        path = Path(self.view.file)

        def take(found: EditedFile) -> None:
            self._take_file(found)
            self._drop_draft(path)
            self.view.outside, self.view.restored = "", False
            self._replace(self._file.text)

        self._do(lambda: read_edited(path), take, self._refused)

    def discard(self) -> None:
        """Give up what was not saved; undo leads back to it."""
        self._drop_draft(Path(self.view.file))
        self.view.restored = False
        self._replace(self._file.text)

    def _do(
        self, work: Callable[[], T], then: Callable[[T], object], failed: Failed = None, key: str = ""
    ) -> None:
        """Carry out ``work``; its CodeError or OSError goes to ``failed``, or is raised without it."""

        import engine.files.atomic  # noqa: F401  (not for the first time in a thread)

        self._library.files.writing.attempt(work, then, failed, (CodeError, OSError), key)

    def _refused(self, error: Exception) -> None:
        self._report(str(error), "The file could not be read")

    def _drop_draft(self, path: Path) -> None:
        self._do(lambda: drop_draft(path), lambda _: None, None, f"draft {path}")

    def _take_file(self, found: EditedFile) -> None:
        self._file, self._agreed = found, None
        self._look_for_agreement()

    def _look_for_agreement(self) -> None:
        """Another page may have asked since the file was read."""
        code = self._file.code
        if self._agreed is None and code is not None and code.digest in self._library.preferences.agreed:
            self._agreed = code.digests

    def _replace(self, text: str) -> None:
        self.text = text
        self.view.modified = text != self._file.text
        self.when_parsed(self._choose_class)
        self.view.text_replaced.emit(text, True)
        self.check()

    # ----- typing -----

    def edit(self, text: str) -> None:
        """The text is another one now (after a pause in typing): keep it, and try it."""
        if not self.view.file or text == self.text:
            return
        self.text = text
        self.view.modified = text != self._file.text
        if not self.view.modified:
            self.view.restored = False
            self._drop_draft(Path(self.view.file))
        else:
            path = Path(self.view.file)
            self._do(lambda: keep_draft(path, text), lambda _: None, self._not_kept, f"draft {path}")
        self.when_parsed(self._choose_class)
        self.check()

    def _not_kept(self, error: Exception) -> None:
        self._report(str(error), "The unsaved text could not be kept as a draft")

    def choose_class(self, name: str) -> None:
        """Try another class of the text."""
        if name in self.view.classes and name != self.view.class_name:
            self.view.class_name = name
            self.view.clear_check()
            self.check()

    def choose_inputs(self, text: str) -> None:
        """Feed something else than an image of the data; an empty text goes back to that."""
        self.view.inputs = text.strip()
        self.check()

    def use(self) -> None:
        """Make the class the model of the settings."""
        if self.view.file and self.view.class_name:
            self._change_setting("model", f"{self.view.file}:{self.view.class_name}")

    def _choose_class(self) -> None:
        self.view.offer_classes(model_classes(self.text), self.text)

    # ----- dry runs -----

    def read_code(self, then: Callable[[LocalCode], object], failed: Callable[[Exception], object]) -> None:
        """Hand to ``then`` the text with what it imports from its folder; ``failed`` gets the CodeError.

        Neither is called where another file is edited then.
        """
        path, text = Path(self.view.file), self.text

        def if_edited(call: Callable[[T], object]) -> Callable[[T], object]:
            return lambda found: call(found) if self.view.file == str(path) else None

        self._do(lambda: code_of_text(path, text), if_edited(then), if_edited(failed))

    def new_files(self, code: LocalCode) -> list[str]:
        """The files of ``code`` that the user has not agreed to before."""
        return self._library.new_files(code)

    def agree(self, code: LocalCode) -> None:
        """The user agreed to run this code, and so what is typed into its file from now on."""
        self._agreed = {**(self._agreed or {}), **code.digests}
        self._library.agree(code)
        if self._file.code is not None and not self.view.modified:  # its line ends may differ
            self._library.agree(self._file.code)
        self.check()

    def agreed_elsewhere(self) -> None:
        """Try the text that waits for an agreement: another page has asked for one."""
        if self._agreed is None and self.view.state == "refused":
            self.check()

    def may_run(self, code: LocalCode) -> bool:
        """Whether the text may run: its file was agreed to, and all that the text imports from there."""
        agreed, others = self._agreed, list(code.digests.items())[1:]
        return agreed is not None and all(agreed.get(name) == digest for name, digest in others)

    def check(self) -> None:
        """Try the text as it is: its syntax at once, the model in a child process."""
        view = self.view
        if not view.file:
            return
        self._look_for_agreement()
        self.trials.edited(view.file, view.class_name, view.inputs, self.text)
        view.input_problem = ""
        view.stale = bool(view.notes or view.layers)
        self.when_parsed(self._check_text)

    def when_parsed(self, then: Callable[[], object]) -> None:
        """Call ``then`` when a thread has parsed the text, unless it is another one by then."""
        text = self.text
        if is_outlined(text):
            then()
        else:
            take = lambda _: then() if self.text == text else None  # noqa: E731
            self._library.files.reading.do(lambda: parsed(text), take)

    def _check_text(self) -> None:
        view = self.view
        try:
            inputs = parse_inputs(view.inputs)
        except ValueError as error:
            view.input_problem = str(error)
            inputs = None
        problem = syntax_problem(self.text, Path(view.file).name)
        if problem is None and not view.class_name:
            problem = CodeProblem("import", 0, "there is no class of nn.Layer in this text", "write one")
        if problem is not None or inputs is None:
            self._runs.forget()
            view.problems = (problem,) if problem is not None else ()
            view.state = "idle"
            return
        path, text, agreed = Path(view.file), self.text, self._agreed

        def take(code: LocalCode) -> None:
            if (view.file, self.text, self._agreed) == (str(path), text, agreed):
                self._check_code(code, inputs)

        def failed(error: Exception) -> None:
            self._runs.forget()
            view.problems, view.state = (CodeProblem("import", 0, str(error), ""),), "idle"

        self._do(lambda: code_of_text(path, text), take, failed, "check code")

    def _check_code(self, code: LocalCode, inputs: Sequence[Any]) -> None:
        view = self.view
        if not self.may_run(code):
            self._runs.forget()
            view.unagreed = tuple(self.new_files(code))
            view.problems, view.state = (), "refused"
            return
        view.state = "checking"
        self._runs.run(
            CheckCode(self.text, view.file, view.class_name, tuple(inputs), self.fed(), code.digest)
        )

    def fed(self) -> dict[str, Any]:
        """What the text is fed, and the arguments of its model, by the settings of the next run."""
        return fed_by(self._library.project.settings, f"{self.view.file}:{self.view.class_name}")

    def take(self) -> None:
        """Update the view models with the events of the child processes."""
        self._runs.take()
        self.trials.take()

    def close(self) -> None:
        """End the dry run and the trials."""
        self._runs.close()
        self.trials.close()

    def _checked(self, job: CheckCode, event: dict[str, Any]) -> None:
        # Of a text that has changed since, positions are wrong; the next run is on its way.
        if job.text == self.text and job.file == self.view.file:
            self.view.take_check(event)

    def _stuck(self, job: CheckCode, line: int, what: str, details: str) -> None:
        if job.text == self.text and job.file == self.view.file:
            self.view.problems = (CodeProblem("eager", line, what, "", details=details),)
            self.view.state = "stuck"

    def _report(self, message: str, title: str) -> None:
        self._library.problem.emit(problem_from_message(message, title))


def _call(then: Then) -> None:
    if then is not None:
        then()
