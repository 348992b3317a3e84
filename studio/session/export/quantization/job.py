"""The job that quantizes a run, and which of the choices it needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from studio.session.export.quantization.choices import QuantizeChoices
from studio.session.work.job import Emit, Inbox, job

if TYPE_CHECKING:
    from studio.session.project.session_script import SessionScript


@job
class Quantize:
    """Quantize the run in ``folder`` into files under ``prefix`` and measure them."""

    folder: str
    prefix: str
    checkpoint: str
    choices: QuantizeChoices

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report the progress and one event ``quantized``.

        Raises:
            ArgumentError, DataError, FormatError, SaveError: nothing is written then.
        """
        from engine.quantization.options import QuantizeOptions
        from engine.training.quantize_choices import Choices
        from engine.training.quantize_run import quantize_run

        chosen = self.choices
        options = QuantizeOptions(
            algo=chosen.algo,
            samples=chosen.samples,
            weight_bits=chosen.weight_bits,
            activation_bits=chosen.activation_bits,
            weight_type=chosen.weight_type,
            skip=chosen.skip,
        )
        method = chosen.method
        choices = Choices(
            options,
            target_drop=chosen.target_drop,
            weights_only=method == "weights_only",
            epochs=chosen.epochs if method == "qat" else 0,
        )
        emit(quantize_run(Path(self.folder), self.prefix, choices, emit, checkpoint=self.checkpoint))

    def record(self, script: SessionScript) -> None:
        """Quantize again."""
        from studio.session.project.session_script import Out, checkpoint_words

        choices = self.choices
        words: list[str | Out] = ["quantize", script.run(self.folder)]
        words += {"qat": ["--qat"], "weights_only": ["--weights-only"]}.get(choices.method, [])
        for name in ("algo", "samples", "epochs", "weight_bits", "activation_bits", "weight_type"):
            if choices.asks(name):
                words += [f"--{name.replace('_', '-')}", str(getattr(choices, name))]
        for pattern in choices.skip:
            words += ["--skip", pattern]
        if choices.target_drop is not None:
            words += ["--target-drop", f"{choices.target_drop:g}"]
        words += checkpoint_words(self.checkpoint)
        script.add(*words, "--out", script.out(self.folder, self.prefix))
