"""What a Program is of, in words, and why there is none."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from resources.words import shown
from studio.session.graph.diagram.texts import DiagramWords
from studio.session.predict.model_choice import model_name
from studio.session.session import Session
from studio.session.train.run_settings import title_of

tr = QCoreApplication.translate


def subject_name(session: Session) -> str:
    """The run or model that the Program is of; another one than the selected one says what it is."""
    view = session.graph
    subject = view.subject
    if not subject:
        return tr("program", "{0}, next run").format(shown(title_of(view.model))) if view.program else ""
    if subject.kind == "model":
        name = model_name(subject.path, session.run_titles)
        return name if subject == session.selection.item else tr("program", "{0}, saved model").format(name)
    return session.run_title(subject.path)


def why_no_program(session: Session) -> tuple[str, str]:
    """Why there is no Program, and what a button offers; empty where it offers nothing."""
    view, name = session.graph, subject_name(session)
    if view.loading and view.subject:
        return tr("program", "Reading the Program of {0}…").format(name), ""
    if view.loading:
        return tr("program", "Tracing the model…"), ""
    if view.unagreed:
        return shown(view.why_empty), tr("program", "Allow and load…")
    if view.why_empty:
        return shown(view.why_empty), tr("program", "Try again")
    if view.subject:
        return tr("program", "The Program of {0} appears here.").format(name), ""
    return "", ""


def diagram_words() -> DiagramWords:
    """The words in boxes of the diagram."""
    return DiagramWords(
        operators=tr("program", "{0} operators"),
        first_of=tr("program", "{0} + {1}"),
        more=tr("program", "… {0} more"),
        condition=tr("program", "condition"),
        if_true=tr("program", "if true"),
        if_false=tr("program", "if false"),
        updates=tr("program", "updates"),
        tensors=tr("program", "{0} tensors"),
        scalar=tr("program", "scalar"),
    )
