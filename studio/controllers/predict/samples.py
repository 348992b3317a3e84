"""Test samples on Predict, and what is drawn or corrected there kept as data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QObject

from resources.words import shown
from studio.controllers.bindings import Bindings
from studio.controllers.predict.inputs import InputsController
from studio.session.data.collecting import collect_image
from studio.session.predict.test_samples import Sample
from studio.session.session import Session
from studio.windows.predict.predict_page import PredictPage
from studio.windows.predict.sample_tools import SampleTools
from widgets import theme


class SamplesController(QObject):
    """Steps through the test split of the loaded model's data, and adds images to the collected ones."""

    def __init__(self, session: Session, page: PredictPage, inputs: InputsController) -> None:
        super().__init__(page)
        self._session, self._page, self._inputs = session, page, inputs
        self._view, self._samples = session.predict, session.samples
        self.tools = SampleTools()
        page.extras.addWidget(self.tools)
        self._bonds = Bindings()
        self.tools.step_requested.connect(self.step)
        self.tools.collect_requested.connect(self.collect)
        self._bonds.follow(self._samples.view.events.sample, self._show)
        self._bonds.show(self._samples.view, "reading", self._show_reading)
        self._bonds.follow(self._view.events.model, self._show_classes)
        self._show_classes()
        self._bonds.show(self._view, "fed", lambda _: self._fed())
        self._bonds.again(lambda: self.tools.words.setText(self._words()))

    # ----- samples -----

    def step(self, by: int) -> None:
        """Feed the next test sample (1), the one before (-1), or any (0)."""
        self._samples.use(self._config())
        self._samples.step(by)

    def _config(self) -> dict[str, Any]:
        """The settings of the data that the loaded model was trained with; without a model those chosen."""
        chosen = self._session.train.settings.as_config("")
        info = self._view.model
        if info is None:
            return chosen
        path = Path(info.prefix)
        folder = (
            path if info.choice.of_run else path.parent.parent if path.parent.name == "inference" else None
        )
        run = self._session.listed_run(str(folder)) if folder is not None else None
        if run is not None:
            return run.config
        data = info.info.get("data")
        return {**chosen, "data": data} if isinstance(data, str) and data else chosen

    def _show(self, sample: Sample | None) -> None:
        if sample is None:
            self._say(str)
            return

        def origin() -> str:
            return self.tr("test sample {0} of {1}").format(
                theme.format_number(sample.place + 1), theme.format_number(sample.total)
            )

        why_not = self._inputs.give_sample((sample.values, *sample.others), origin)
        if why_not:
            self._say(lambda: why_not)
            return
        self.tools.show_label(sample.label)
        self._say(lambda: self.tr("{0}: {1}").format(origin(), sample.label))

    _words = staticmethod(str)

    def _say(self, words: Callable[[], str]) -> None:
        """Show what ``words`` gives, in another language too."""
        self._words = words
        self.tools.words.setText(words())

    def _show_reading(self, reading: bool) -> None:
        for button in (self.tools.before_button, self.tools.next_button, self.tools.random_button):
            button.setEnabled(not reading)

    # ----- collecting -----

    def _show_classes(self) -> None:
        info = self._view.model
        self.tools.set_labels(list(info.classes) if info is not None else [str(n) for n in range(10)])
        self._fed()

    def _fed(self) -> None:
        """An image that is not a sample has no label yet; it can be collected."""
        view = self._view
        first, *others = view.inputs
        image = not others and first.form in ("digit", "picture") and first.channels in (1, 3)
        self.tools.offer_collecting(image, image and view.fed[0] is not None)
        if not self._inputs.is_sample(0):
            self._say(str)
            if view.fed[0] is None:
                self.tools.show_label("")

    def collect(self, label: str) -> None:
        """Keep the image that is fed, as it is fed, under ``label``."""
        image = self._view.fed[0]
        if image is None or not label:
            return
        if self._session.moving:
            self.tools.words.setText(shown(self._session.moving))
            return
        pixels = np.rint(np.clip(image, 0.0, 1.0) * 255.0).astype(np.uint8)
        origin = self._inputs.origin(0)[:900]

        def added(count: int) -> None:
            number = theme.format_number(count)
            self._say(lambda: self.tr("added as {0}: {1} collected").format(label, number))

        writing = self._session.files.writing
        collect_image(self._session, pixels, label, origin, added)
        if writing.working:
            self._say(lambda: self.tr("adding…"))

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()
