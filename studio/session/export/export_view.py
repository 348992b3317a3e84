"""ExportViewModel: what shall be exported under which name, how far it is, and what reloading it showed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from psygnal import SignalGroupDescriptor

from resources.settings.export import EXPORT_SETTINGS, FOLDER, WINDOW_EXPORT, ExportSettings
from resources.settings.model_inputs import ModelInputRow
from studio.session.export.quantization.choices import QuantizeChoices
from studio.session.problem_view import ProblemView, problem_from_event

# Not in names of files on Windows, where such files may be carried to.
_REFUSED = frozenset('<>:"/\\|?*')
NO_RUN = "Select a run to export."
QUANTIZED_FORMATS = ("native", "packed")
_DEVICES = frozenset(
    ("con", "prn", "aux", "nul", *(f"{kind}{n}" for kind in ("com", "lpt") for n in range(10)))
)


@dataclass(frozen=True)
class Verification:
    """What came out when the files were loaded in another process.

    ``difference`` is the largest absolute difference of any output over ``samples`` images of the test
    split (``images`` is ``noise`` where the data is not here); ``latency`` is seconds for one image;
    ``sizes`` are bytes by file name; ``operators`` is how many there were before and after optimization,
    empty for files that are not optimized; ``saved`` is the share of bytes that compression saved.
    """

    difference: float
    samples: int
    latency: float
    sizes: dict[str, int]
    accuracy: float
    images: str = "test"
    operators: tuple[int, ...] = ()
    r2: float = math.nan
    mae: float = math.nan
    saved: float = 0.0

    @property
    def total_size(self) -> int:
        return sum(self.sizes.values())


@dataclass(frozen=True)
class _Result:
    """What an export of a run came to."""

    state: str = "idle"
    message: str = ""
    verification: Verification | None = None
    quantized: Mapping[str, Any] | None = None
    prefix: str = ""
    save_id: str = ""
    problem: ProblemView | None = None


@dataclass
class ExportViewModel:
    """What the page Export shows. ``data_shape`` is the input shape of the run's data, -1 for the batch;
    empty if it is unknown. ``inputs`` are those of a model that takes several.

    ``state`` is idle, exporting, done or failed; ``why_not`` says why Export can't be given now, empty if it
    can. ``chosen_prefix`` is the place of the files that the user chose, empty for the run's usual one.
    ``exporting`` is the run that is being exported, which need not be the chosen one. ``done`` of
    ``total`` samples, steps or layers are done of a quantization (0 of 0 where nothing is counted);
    ``quantized`` is the event that ended one, with its report.
    """

    run_folder: str = ""
    refused: str = ""
    exporting: str = ""
    chosen_prefix: str = ""
    settings: ExportSettings = WINDOW_EXPORT
    data_shape: tuple[int, ...] = ()
    inputs: tuple[ModelInputRow, ...] = ()
    choices: QuantizeChoices = field(default_factory=QuantizeChoices)
    state: str = "idle"
    message: str = ""
    done: int = 0
    total: int = 0
    why_not: str = NO_RUN
    verification: Verification | None = None
    quantized: Mapping[str, Any] | None = None
    exported_prefix: str = ""
    save_id: str = ""
    last_problem: ProblemView | None = None

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()

    def __post_init__(self) -> None:
        self._results: dict[str, _Result] = {}  # of earlier exports, by the folder of the run
        # The newest shape and inputs of a run's data, which those that were entered are for.
        self._known: tuple[tuple[int, ...], tuple[ModelInputRow, ...]] = ((), ())
        self.follows_data = False  # while a setting changes because a run of other data was chosen

    @property
    def prefix(self) -> str:
        """The folder and name of the files: the chosen ones, else the run's usual ones."""
        return self.chosen_prefix or default_prefix(self.run_folder, self.choices)

    @prefix.setter
    def prefix(self, prefix: str) -> None:
        usual = default_prefix(self.run_folder, self.choices)
        self.chosen_prefix = "" if prefix == usual else prefix

    def choose_run(
        self,
        folder: str,
        shape: tuple[int, ...] = (),
        refused: str = "",
        inputs: tuple[ModelInputRow, ...] = (),
    ) -> None:
        """Export the run in ``folder``: into its ``inference/`` unless the user chose another place. What the
        last export of this run came to is shown again.

        Args:
            shape: that of a sample that its model is fed; empty where it is not known.
            refused: why the run can't be exported; empty where it can.
            inputs: those of a model that takes several.
        """
        self.refused = refused
        if folder != self.run_folder:
            self._use_data_shape((-1, *shape) if shape else (), inputs)
            self.run_folder = folder
            if self.state != "exporting":
                self._show(self._results.get(folder, _Result()))
        elif shape and not self.data_shape:  # it has begun to train since
            self._use_data_shape((-1, *shape), inputs)
        self.update_why_not()

    def _show(self, result: _Result) -> None:
        self.verification, self.quantized = result.verification, result.quantized
        self.exported_prefix, self.save_id = result.prefix, result.save_id
        self.last_problem, self.message, self.state = result.problem, result.message, result.state

    def forget(self) -> None:
        """Forget the run and all results: another project is open."""
        self._results.clear()
        if self.state != "exporting":
            self._show(_Result())
        self.choose_run("")

    def _use_data_shape(self, shape: tuple[int, ...], inputs: tuple[ModelInputRow, ...]) -> None:
        """A shape, or inputs, that were entered for other data do not apply to this run."""
        changes: dict[str, Any] = {}
        known_shape, known_inputs = self._known
        if shape and known_shape and shape != known_shape:
            changes["input_shape"] = None
        if inputs and known_inputs and inputs != known_inputs:
            changes["inputs"] = ""
        self._known = (shape or known_shape, inputs or known_inputs)
        if changes:
            self.follows_data = True
            self.settings = replace(self.settings, **changes)
            self.follows_data = False
        self.data_shape = shape
        self.inputs = inputs

    def run_settings(self) -> ExportSettings:
        """The settings for the run that is chosen: those of one input do not apply to a model that takes
        several, and the reverse."""
        usual = ExportSettings()
        if not self.inputs:
            return replace(self.settings, inputs=usual.inputs)
        return replace(
            self.settings,
            input_name=usual.input_name,
            input_shape=usual.input_shape,
            dtype=usual.dtype,
        )

    def use(self, settings: ExportSettings, choices: QuantizeChoices, chosen_prefix: str) -> None:
        """Use those of a project that was opened."""
        self.data_shape, self.inputs = (), ()  # of a run of the project before
        self._known = ((), ())
        self.change(**vars(settings))
        self.choose(**vars(choices))
        self.choose_prefix(chosen_prefix)

    def choose_prefix(self, prefix: str) -> None:
        """Choose where the files go; an empty text for the run's usual place."""
        self.chosen_prefix = prefix
        self.update_why_not()

    def change(self, **changes: Any) -> None:
        """Change settings of the export."""
        self.settings = replace(self.settings, **changes)
        self.update_why_not()

    def choose(self, **changes: Any) -> None:
        """Change what is chosen of a quantization; where the files have the usual name, it follows."""
        self.choices = replace(self.choices, **changes)
        self.update_why_not()

    def leave_in_float(self, layer: str, leave: bool) -> None:
        """Leave a layer in float in quantizations to come, or no longer."""
        skip = tuple(each for each in self.choices.skip if each != layer)
        self.choose(skip=self.choices.without([layer]).skip if leave else skip)

    def update_why_not(self) -> None:
        """Work out anew why Export can't be given."""
        if self.state == "exporting":
            self.why_not = "The export is running."
        elif not self.run_folder:
            self.why_not = NO_RUN
        elif self.refused:
            self.why_not = self.refused
        elif not Path(self.prefix).name:
            self.why_not = "Give the files a name."
        elif wrong := name_problem(Path(self.prefix).name):
            self.why_not = wrong
        elif not self.settings.input_name.isidentifier():
            self.why_not = "Give the input a name of letters, digits and underscores."
        elif self.inputs and self.choices.wanted:
            self.why_not = "Only models with one input are quantized here."
        elif self.inputs and self.settings.format == FOLDER:
            self.why_not = "A folder to deploy predicts with one input: export the model as ONNX."
        elif self.choices.wanted and self.settings.format not in QUANTIZED_FORMATS:
            self.why_not = "Quantized models are written as one file or three files; convert them afterwards."
        else:
            self.why_not = self._setting_problem()

    def _setting_problem(self) -> str:
        for name, value in vars(self.settings).items():
            problem = EXPORT_SETTINGS[name].problem(value)
            if problem:
                return f"{EXPORT_SETTINGS[name].title}: {problem}"
        return ""

    def begin(self) -> None:
        """An export was asked for."""
        self.verification, self.quantized, self.last_problem = None, None, None
        self.done = self.total = 0
        self.exporting = self.run_folder
        self.state, self.message = "exporting", "Starting…"
        self.update_why_not()

    def take(self, event: Mapping[str, Any]) -> None:
        """Follow one event of the worker."""
        if event["event"] == "export_progress":
            self.message = event["message"]
        elif event["event"] == "quantize_progress":
            self.total, self.done, self.message = event["total"], event["done"], event["message"]
        elif event["event"] == "quantized":
            self.exported_prefix, self.save_id = event["prefix"], event["save_id"]
            self.quantized = event
            self.state, self.message = "done", "Quantized and checked"
        elif event["event"] == "exported":
            self.verification = Verification(
                event["difference"],
                event["samples"],
                event["latency"],
                event["sizes"],
                event.get("accuracy", math.nan),
                event["pictures"],
                tuple(event["operators"]),
                event.get("r2", math.nan),
                event.get("mae", math.nan),
                event.get("saved", 0.0),
            )
            self.exported_prefix, self.save_id = event["prefix"], event.get("save_id", "")
            self.state, self.message = "done", "Exported and checked"
        elif event["event"] == "failed":
            title = "The quantization failed" if self.choices.wanted else "The export failed"
            self.last_problem = problem_from_event(event, title)
            self.state, self.message = "failed", "Failed"
        elif event["event"] == "worker_ended" and self.state == "exporting":
            if event["killed"]:
                self.state, self.message = "idle", "Cancelled"
            else:
                self.last_problem = problem_from_event(event, "The export process has died")
                self.state, self.message = "failed", "Failed"
        if self.state != "exporting" and self.exporting:
            self._keep_result()
        self.update_why_not()

    def _keep_result(self) -> None:
        """An export has ended; another run may be chosen by now, which has its own result."""
        run, self.exporting = self.exporting, ""
        self._results[run] = _Result(
            self.state,
            self.message,
            self.verification,
            self.quantized,
            self.exported_prefix,
            self.save_id,
            self.last_problem,
        )
        if run != self.run_folder:
            self._show(self._results.get(self.run_folder, _Result()))


def default_prefix(folder: str, choices: QuantizeChoices | None = None) -> str:
    """The default prefix of a run's inference files; quantized ones are next to those in float."""
    wanted = choices is not None and choices.wanted
    name = f"model-int{choices.weight_bits}" if choices is not None and wanted else "model"
    return str(Path(folder) / "inference" / name) if folder else ""


def name_problem(name: str) -> str:
    """Why files can't be called ``name``, on any system they may be carried to; empty where they can."""
    refused = [character for character in dict.fromkeys(name) if character in _REFUSED]
    if refused:
        return f"A file name can't have {' '.join(refused)}"
    control = next((character for character in name if not character.isprintable()), "")
    if control:
        return f"A file name can't have the control character U+{ord(control):04X}"
    if name.endswith((" ", ".")):
        return "A file name can't end with a space or a dot"
    if name.partition(".")[0].lower() in _DEVICES:
        return f"Windows keeps the name {name.partition('.')[0]} for a device"
    return ""
