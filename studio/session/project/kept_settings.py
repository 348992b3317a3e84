"""Settings of a project that view models hold: each change goes to the project and is a step of undo."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from psygnal import SignalInstance

from resources.settings import Setting
from resources.settings.export import EXPORT_SETTINGS
from resources.settings.quantize import QUANTIZE_SETTINGS
from resources.settings.rate import RATE_SETTINGS
from studio.session.export.export_view import ExportViewModel
from studio.session.project.project_session import ProjectSession
from studio.session.project.undo import Change
from studio.session.train.rate_finder_view import RateViewModel


def store_settings(session: ProjectSession, export: ExportViewModel, rate: RateViewModel) -> None:
    """Store the settings of the page Export and of the learning-rate finder in the project, with undo."""

    def use_rate(settings: Any) -> None:
        rate.settings = settings

    _store(
        session,
        "export",
        export.events.settings,
        lambda settings: export.change(**vars(settings)),
        _titles(EXPORT_SETTINGS),
        lambda: not export.follows_data,
    )
    _store(
        session,
        "quantize",
        export.events.choices,
        lambda choices: export.choose(**vars(choices)),
        _titles(QUANTIZE_SETTINGS),
    )
    _store(session, "rate", rate.events.settings, use_rate, _titles(RATE_SETTINGS))
    _store(
        session,
        "export_prefix",
        export.events.chosen_prefix,
        export.choose_prefix,
        lambda before, now: "" if now == before else "folder and name of the files",
    )


def _titles(table: Mapping[str, Setting]) -> Callable[[Any, Any], str]:
    """Names the settings of ``table`` that differ between two dataclasses."""

    def titles(before: Any, now: Any) -> str:
        names = [each for each, value in vars(now).items() if value != getattr(before, each)]
        return ", ".join(table[each].title for each in names)

    return titles


def _store(
    session: ProjectSession,
    name: str,
    changed: SignalInstance,
    use: Callable[[Any], object],
    difference: Callable[[Any, Any], str],
    is_edit: Callable[[], bool] = lambda: True,
) -> None:
    """Store the settings that ``changed`` carries in the project as its field ``name``.

    Args:
        use: shows other settings; called by undo and redo.
        difference: names what differs between the settings before and now; empty where nothing does.
        is_edit: whether a user changed them; else there is no step of undo.
    """

    def store(settings: Any) -> None:
        before = getattr(session.project, name)
        setattr(session.project, name, settings)
        titles = difference(before, settings)
        if titles and is_edit():
            undo, redo = (lambda: use(before)), (lambda: use(settings))
            session.undo_stack.push(Change(f"Change {titles}", undo, redo, f"{name} {titles}"))

    changed.connect(store)
