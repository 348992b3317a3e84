"""Why a command can't be given now, in a sentence for tooltips, the palette and scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.session.run_changes import NEEDS_RUN

if TYPE_CHECKING:
    from studio.session.session import Session


def why_not(session: Session, command_id: str) -> str:
    """The reason; empty where the command can be given."""
    if command_id == "export":
        return session.export.why_not or _task(session)
    if command_id in ("quantization_report", "save_quantization"):
        return "" if session.quantization.view.report is not None else "No quantization is shown on Export."
    if command_id == "find_rate":
        return "A search is running." if session.rate_finding.searching else session.train.wrong_setting
    if command_id == "show_graph":
        return _task(session)
    if command_id == "cancel_task":
        return "" if session.task_runs else "No task is running."
    if command_id == "resume_run" and not session.train.busy:
        run = session.listed_run(session.selected_run)
        if session.selected_run != session.train.folder:
            return run.resumable if run is not None else "No run is selected."
        if run is not None and run.in_use:
            return run.in_use
    if command_id == "undo":
        return "" if session.undo_stack.undoable else "There is nothing to undo."
    if command_id == "redo":
        return "" if session.undo_stack.redoable else "There is nothing to redo."
    if command_id == "start_queue":
        return "" if session.queue.waiting and session.queue.held else "Nothing is held in the queue."
    if command_id in NEEDS_RUN:
        return session.run_changes.why_not(command_id)
    if command_id == "report":
        return "" if session.listed_run(session.selected_run) is not None else "No run is selected."
    if command_id == "export_script":
        return "" if session.script.steps else "Nothing was trained or exported yet."
    if command_id == "train_corrected":
        nothing = "" if session.mistakes.view.corrections else "Nothing is corrected yet."
        return session.train.why_not.get("start", "") or nothing
    if command_id == "new_project":
        return "A training is running." if session.train.busy else ""
    return session.train.why_not.get(command_id, "")


def _task(session: Session) -> str:
    return "Another task is running." if session.task_runs else ""
