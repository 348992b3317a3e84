"""The job that quantizes a run, and which of the choices it needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from resources.export_events import Quantized, QuantizeProgress
from resources.settings.quantize import QUANTIZE_SETTINGS
from resources.settings.setting import words_of
from studio.session.export.quantization.choices import QuantizeChoices
from studio.session.work.job import Emit, Inbox, job

if TYPE_CHECKING:
    from studio.session.project.session_script import SessionScript


@job
class Quantize:
    """Quantize the run in ``folder`` into files under ``prefix`` and measure them."""

    TITLE: ClassVar = "Quantizing {0}"
    PAGE: ClassVar = "export"
    EVENTS: ClassVar = (QuantizeProgress, Quantized)

    folder: str
    prefix: str
    checkpoint: str
    choices: QuantizeChoices
    agreed: str = ""

    @property
    def subject(self) -> str:
        return Path(self.prefix).name

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report the progress and one event ``quantized``.

        Raises:
            ArgumentError, DataError, FormatError, SaveError: nothing is written then.
        """
        from engine.training.quantize.choices import Choices
        from engine.training.quantize.run import quantize_run

        choices = Choices.of(self.choices)
        emit(quantize_run(Path(self.folder), self.prefix, choices, emit, checkpoint=self.checkpoint))

    def record(self, script: SessionScript) -> None:
        """Quantize again."""
        from studio.session.project.session_script import Out, checkpoint_words

        choices = self.choices
        words: list[str | Out] = ["quantize", script.run(self.folder)]
        words += {"qat": ["--qat"], "weights_only": ["--weights-only"]}.get(choices.method, [])
        words += words_of(QUANTIZE_SETTINGS, choices.as_dict(), choices.method, defaults=True)
        words += checkpoint_words(self.checkpoint)
        script.add(*words, "--out", script.out(self.folder, self.prefix))
