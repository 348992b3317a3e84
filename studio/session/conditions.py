"""When commands are possible: functions that give the sentence why not, for the rows of the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from studio.session.command import Condition
    from studio.session.runs.runs_folder import Run
    from studio.session.session import Session
    from studio.session.train.train_view import TrainViewModel

NO_RUN = "No run is selected."
TRAINS = "A training is running already."


def needs(value: Callable[[Session], object], reason: str) -> Condition:
    """Possible while ``value`` is true, not empty and not None."""
    return lambda session: "" if value(session) else reason


shows_program = needs(lambda session: session.graph.program, "No Program is shown.")

# ----- the training -----


@dataclass(frozen=True)
class TrainingCondition:
    """A condition on the training. ``TrainViewModel.why_not`` has the reasons, so changes of them are events.

    Args:
        reason: from the training alone.
        in_session: replaces ``reason`` where the session decides; it may ask ``reason`` itself.
    """

    reason: Callable[[TrainViewModel], str]
    in_session: Condition | None = None

    def __call__(self, session: Session) -> str:
        return self.in_session(session) if self.in_session is not None else self.reason(session.train)


def while_training(settled: str = "No training is running.", **reasons: str) -> TrainingCondition:
    """Possible while a training runs, except in the states that ``reasons`` names."""
    return TrainingCondition(lambda train: reasons.get(train.state, "" if train.busy else settled))


def _start(train: TrainViewModel) -> str:
    return TRAINS if train.busy or train.preparing else train.wrong_setting


def _unanswered(train: TrainViewModel) -> str:
    if not train.busy:
        return "No training is running."
    return "" if train.unanswered else "The training answers; Cancel or Stop early end it."


def _resume_training(train: TrainViewModel) -> str:
    if train.busy or train.preparing:
        return TRAINS
    if not train.last_checkpoint:
        return "There is no checkpoint to resume from."
    return "The run has finished." if train.state == "finished" and train.step >= train.total_steps else ""


def _resume_selected(session: Session) -> str:
    train = session.train
    if not train.busy and not train.preparing:
        run = session.listed_run(session.selected_run)
        if session.selected_run != train.folder:
            return run.resumable if run is not None else NO_RUN
        if run is not None and run.in_use:
            return run.in_use
    return _resume_training(train)


may_start = TrainingCondition(_start)
settings_are_valid = TrainingCondition(lambda train: train.wrong_setting)
does_not_answer = TrainingCondition(_unanswered)
may_resume = TrainingCondition(_resume_training, _resume_selected)


def may_train_corrected(session: Session) -> str:
    """The settings can be trained, and there are corrections."""
    return may_start(session) or ("" if session.mistakes.view.corrections else "Nothing is corrected yet.")


# ----- the labels of images -----

NO_LABELLING = "No folder of images is being labelled."


def may_label(session: Session) -> str:
    """The data is a folder of images whose labels a file has."""
    if session.labelling.view.folder is not None:
        return "The images are being labelled."
    return "" if session.data.facts.label_file else "The data is not a folder of images with labels.csv."


def of_selected_images(session: Session) -> str:
    """Images that are being labelled are selected."""
    folder = session.labelling.view.folder
    return NO_LABELLING if folder is None else "" if folder.selected else "No image is selected."


def may_train_labelled(session: Session) -> str:
    """There are labels enough for a training."""
    folder = session.labelling.view.folder
    if folder is None:
        return NO_LABELLING
    return "" if folder.is_enough else "Label at least two images in each of two classes first."


# ----- the selected run -----


def of_run(reason: Callable[[Session, Run], str] = lambda session, run: "") -> Condition:
    """Possible for a selected run that has written something, where ``reason`` is empty too."""

    def condition(session: Session) -> str:
        if not session.selected_run:
            return NO_RUN
        run = session.listed_run(session.selected_run)
        return "This run has written nothing yet." if run is None else reason(session, run)

    return condition


def no_script(session: Session, run: Run) -> str:
    """The run was started with settings, not by a script."""
    return f"It is a fit of {run.of_script}: its settings are there." if run.of_script else ""


def not_running(session: Session, run: Run) -> str:
    """No process works in the run's folder."""
    own = session.train.busy and session.selected_run == session.train.folder
    if own or run.state == "running":
        return run.in_use if run.in_use and not own else "This run is running; stop it first."
    return ""


def is_missing(session: Session, run: Run) -> str:
    """The run's folder has disappeared."""
    return "" if run.missing else "The folder of this run exists: delete the run."


def may_be_deleted(session: Session, run: Run) -> str:
    """The run's folder exists, and no process works in it."""
    return "This run has no folder: remove it from the list." if run.missing else not_running(session, run)


# ----- tasks -----


def no_task(session: Session) -> str:
    """No tracing, export or check is in progress."""
    return "Another task is running." if session.task_runs else ""


def may_export(session: Session) -> str:
    """The page Export is filled in, and no task runs."""
    return session.export.why_not or no_task(session)


def may_check(session: Session) -> str:
    """A saved model is shown or was exported, and none is being checked."""
    if session.model_check.running:
        return "A model is being checked."
    return "" if session.checkable_model else "Load a saved model or export a run first."


def may_find_rate(session: Session) -> str:
    """The settings are valid, and no search runs."""
    return "A search is running." if session.rate_finder.searching else session.train.wrong_setting


def may_suggest(session: Session) -> str:
    """The settings are valid, and nothing is being suggested."""
    return (
        "Settings are being suggested." if session.suggestions.view.working else session.train.wrong_setting
    )


queue_is_held = needs(
    lambda session: session.queue.waiting and session.queue.held, "Nothing is held in the queue."
)
report_is_shown = needs(
    lambda session: session.quantization.view.report is not None, "No quantization is shown on Export."
)
