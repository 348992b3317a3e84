"""An explanation in a panel: methods, the score that is explained, the map or bars, and their meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QObject

from resources import quantities
from resources.words import plural, shown
from studio.controllers.bindings import Bindings
from studio.controllers.drawing_files import save_drawing
from studio.controllers.predict.row_texts import row_texts
from studio.session.explain.explain_view import ANSWER, Explained
from studio.session.explain.explanations import MOST_TARGETS, Explanations
from studio.session.explain.maps import is_image, map_of, numbers_of, strongest
from studio.session.predict.model_input import ModelInput
from studio.session.session import Session
from studio.windows.explain.explain_panel import ExplainPanel
from widgets import theme
from widgets.delayed import delayed
from widgets.image_bytes import copy_image

FOLLOW_MS = 100  # at most ten maps a second follow a pen
SLOW_MS = 300  # a quicker map needs no progress


class ExplainController(QObject):
    """Joins ``explanations`` to a panel. Nothing is computed while the panel is hidden."""

    def __init__(self, session: Session, explanations: Explanations, panel: ExplainPanel) -> None:
        super().__init__(panel)
        self._session, self._explanations, self._panel = session, explanations, panel
        self._view = explanations.view
        self._bonds = Bindings()
        self._again = False  # something has changed since the last request
        self._pace = delayed(self, FOLLOW_MS, self._paced)
        self._slow = delayed(self, SLOW_MS, self._show_progress)
        panel.looked_at.connect(self._looked_at)
        panel.method_chosen.connect(lambda method: explanations.change(method=method))
        panel.target_chosen.connect(lambda target: explanations.change(target=target))
        panel.option_chosen.connect(lambda name, value: explanations.change(**{name: value}))
        panel.cancel_requested.connect(explanations.cancel)
        panel.more_requested.connect(explanations.allow_more)
        panel.copy_requested.connect(lambda: copy_image(panel.content()))
        panel.save_requested.connect(self.save)
        events = self._view.events
        for field in ("fed", "options", "input", "checkpoint"):
            self._bonds.follow(getattr(events, field), lambda _: self._changed())
        for field in ("found", "stopped"):
            self._bonds.follow(getattr(events, field), lambda _: self._show_found())
        for field in ("reasons", "targets", "outputs"):
            self._bonds.follow(getattr(events, field), lambda _: self._show_choices())
        self._bonds.follow(events.progress, lambda _: self._follow_progress())
        self._bonds.again(self._show_choices, now=True)
        self._bonds.again(self._show_found, now=True)

    # ----- what is asked -----

    def _looked_at(self, on: bool) -> None:
        self._explanations.look(on)
        if on:
            self._show_choices()
            self._changed()

    def _changed(self) -> None:
        """Ask now, or at the end of the pause since the last request."""
        self._show_choices()
        if not self._panel.isVisible():
            return
        if not self._view.fed or self._view.found is None:
            self._show_found()
        self._again = True
        if not self._pace.isActive():
            self._paced()

    def _paced(self) -> None:
        if self._again:
            self._again = False
            self._explanations.ask()
            self._pace.start()

    # ----- what is shown -----

    def _show_choices(self) -> None:
        view, panel = self._view, self._panel
        options = view.options
        panel.set_methods(options.method, {name: shown(why) for name, why in view.reasons.items()})
        panel.set_outputs([name for name, _ in view.outputs], options.output)
        names = [(n, name) for n, name in enumerate(self._explanations.target_names[:MOST_TARGETS])]
        if len(names) < 2:
            names = []
        elif view.classes or options.output:
            names.insert(0, (ANSWER, self.tr("The answer")))
        panel.set_targets(names, options.target)
        asked = self._explanations.asked
        image = asked is None or is_image(asked)
        size, stride = self._explanations.window()
        panel.show_options(
            options.method,
            image,
            steps=options.steps,
            size=size,
            stride=stride,
            baseline=self._explanations.baseline(),
            color=options.color,
        )
        panel.set_about(self._about(options.method, image))

    def _about(self, method: str, image: bool) -> str:
        """One line about a method: what it shows and what it does not."""
        if method == "saliency":
            return (
                self.tr(
                    "Shows how strongly the score reacts to a small change of each pixel. It does not show "
                    "whether a pixel speaks for the answer or against it."
                )
                if image
                else self.tr(
                    "Shows how strongly the score reacts to a small change of each value. It does not show "
                    "whether a value speaks for the answer or against it."
                )
            )
        if method == "integrated":
            return (
                self.tr(
                    "Shares the change of the score, from the baseline to the image, among the pixels. "
                    "Another baseline gives another map; it does not show how pixels act together."
                )
                if image
                else self.tr(
                    "Shares the change of the score, from the baseline to the sample, among the values. "
                    "Another baseline gives other shares; it does not show how values act together."
                )
            )
        return (
            self.tr(
                "Shows how much the score falls where a square covers the image. It does not show parts that "
                "only count together, and the model may never have seen such squares."
            )
            if image
            else self.tr(
                "Shows how much the score falls where a value is replaced. It does not show values that only "
                "count together."
            )
        )

    def _show_found(self) -> None:
        view, panel, asked = self._view, self._panel, self._explanations.asked
        found = view.found
        panel.offer_more(view.stopped == "limit")
        if asked is None or not view.fed:
            panel.show_nothing(self._why_none())
            return
        value = view.fed[view.input]
        if found is None or found.method != view.options.method:
            image = np.asarray(value) if is_image(asked) else None
            panel.show_nothing(self._why_none(), image)
            return
        value = found.fed[found.input]
        if is_image(asked):
            panel.show_map(value, map_of(asked, found.values, found.method), found.method != "saliency")
        else:
            panel.show_bars(self._rows(asked, value, found), found.method != "saliency")
        facts = (self._facts(found), "" if is_image(asked) else self._filled(found))
        panel.set_facts("\n".join(filter(None, facts)))

    def _why_none(self) -> str:
        """Why there is no map."""
        view = self._view
        if view.stopped == "nan":
            return plural(
                "No map: {0} value of the input is NaN or infinite.",
                "No map: {0} values of the input are NaN or infinite.",
                view.not_finite,
            ).format(quantities.count(view.not_finite))
        if view.stopped == "cancelled":
            return self.tr("Cancelled. Another input or option computes a map again.")
        if view.stopped:
            return shown(view.message)
        if self._explanations.asked is None:
            return self.tr("Load a model first.")
        return self.tr("Computing the map…") if view.fed else self.tr("Give the model an input first.")

    def _rows(self, asked: ModelInput, value: Any, found: Explained) -> list[tuple[str, str, float]]:
        numbers = numbers_of(asked, found.values, found.method)
        texts = row_texts(asked, value, self)
        return [(*texts[place], float(numbers[place])) for place in strongest(numbers).tolist()]

    def _filled(self, found: Explained) -> str:
        """What the values of a row were compared with, or replaced by."""
        if found.method == "integrated":
            words = {
                "mean": self.tr("Baseline: the mean of each column in the training."),
                "usual": self.tr("Baseline: what the training put for missing numbers."),
                "zero": self.tr("Baseline: zero."),
            }
        else:
            words = {
                "mean": self.tr("Replaced by the mean of each column in the training."),
                "usual": self.tr("Replaced by what the training put for missing numbers."),
                "zero": self.tr("Replaced by zero."),
            }
        return words.get(found.fill, "")

    def _facts(self, found: Explained) -> str:
        name, score = self._explanations.target_name(found.target), quantities.value(found.score)
        if found.share < 1 and found.score != found.score:
            return self.tr("{0} of the map is computed; the rest is hatched.").format(
                quantities.percent(found.share)
            )
        if found.share < 1:
            return self.tr("Score of {0}: {1}. Only {2} of the map is computed; the rest is hatched.").format(
                name, score, quantities.percent(found.share)
            )
        if found.difference == found.difference:
            apart = abs(found.gap / found.difference) if found.difference else float("nan")
            words = self.tr(
                "Score of {0}: {1}, {2} above the baseline's. The map sums to {3}: a gap of {4}. {5}"
            )
            if found.difference < 0:
                words = self.tr(
                    "Score of {0}: {1}, {2} below the baseline's. The map sums to {3}: a gap of {4}. {5}"
                )
            return words.format(
                name,
                score,
                quantities.value(abs(found.difference)),
                quantities.value(found.difference + found.gap),
                quantities.percent(apart) if apart == apart else quantities.value(abs(found.gap)),
                theme.format_duration(found.seconds),
            )
        return self.tr("Score of {0}: {1}. {2}").format(name, score, theme.format_duration(found.seconds))

    def _follow_progress(self) -> None:
        if not self._view.working:
            self._slow.stop()
            self._panel.show_progress(None)
        elif self._panel.is_working():
            self._show_progress()
        elif not self._slow.isActive():
            self._slow.start()

    def _show_progress(self) -> None:
        if self._view.working:
            self._panel.show_progress(self._view.progress)

    # ----- files -----

    def save(self) -> str:
        """Ask for a file and write the map into it."""
        found = self._view.found
        if found is None:
            return self.tr("No map yet.")
        name = f"{found.method}.png"
        titles = self.tr("Save the map"), self.tr("The map could not be saved")
        content = self._panel.content()
        save_drawing(self._panel.window(), self._session, titles, name, (".png",), lambda _: content)
        return ""

    def close(self) -> None:
        """Follow the view model no longer."""
        self._pace.stop()
        self._slow.stop()
        self._bonds.release()
