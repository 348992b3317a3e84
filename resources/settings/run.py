"""The settings of a run: each with type, range, default, title and help, in this one place.

Command line, window, checks, resume rules and documentation are made from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from resources.families import FAMILIES
from resources.settings.data import MAX_SEED, DataSettings
from resources.settings.rules import CONSTANT, Rule, optimizers, schedules
from resources.settings.setting import Setting, declared, settings_of

_MODELS = (("auto", "Suggested"), *((family.name, family.title) for family in FAMILIES.values()))


def _titles(rules: dict[str, Rule]) -> tuple[tuple[str, str], ...]:
    return tuple((rule.name, rule.title) for rule in rules.values())


@dataclass(frozen=True)
class Settings(DataSettings):
    """What is chosen before a training, apart from the folder that it writes into."""

    model: str = declared(
        "name",
        "auto",
        "Model",
        "The network to train: auto suggests one and its settings; "
        + ", ".join(FAMILIES)
        + "; or FILE.py:Class.",
        choices=_MODELS,
        example="auto, lenet, mlp or FILE.py:Class",
    )
    model_params: dict[str, Any] = declared(
        "parameters",
        {},
        "Model parameters",
        "Parameters of the network, each as NAME=VALUE; the others follow from the data.",
        option="model-param",
        keyword_only=True,
    )
    start_from: str = declared(
        "path",
        "",
        "Start from",
        "Weights to begin with: the folder of a run, an exported model or a .pdparams file. Layers that do "
        "not fit, such as the last one for other classes, begin anew.",
        example="runs/a or models/lenet",
        advanced=True,
        keyword_only=True,
    )
    freeze: int = declared(
        "int",
        0,
        "Freeze",
        "So many of the first layers with weights keep those that they start from; 0 trains all.",
        minimum=0,
        maximum=10_000,
        zero="none",
        example="e.g. 3, or 0 to train all",
        advanced=True,
        keyword_only=True,
    )
    optimizer: str = declared(
        "choice", "adam", "Optimizer", "How the weights are updated.", choices=_titles(optimizers())
    )
    optimizer_params: dict[str, Any] = declared(
        "parameters",
        {},
        "Optimizer parameters",
        "Parameters of the optimizer, each as NAME=VALUE.",
        option="optimizer-param",
    )
    learning_rate: float = declared(
        "float",
        0.001,
        "Rate",
        "The learning rate, such as 0.001.",
        above=0,
        example="e.g. 0.001",
        option="lr",
    )
    schedule: str = declared(
        "choice",
        CONSTANT,
        "Schedule",
        "How the learning rate changes in the course of the run.",
        choices=_titles(schedules()),
    )
    schedule_params: dict[str, Any] = declared(
        "parameters",
        {},
        "Schedule parameters",
        "Parameters of the schedule, each as NAME=VALUE.",
        option="schedule-param",
    )
    schedule_each: str = declared(
        "choice",
        "auto",
        "Moves on",
        "When the schedule moves on: after each batch, after each epoch, or as is usual for the schedule.",
        choices=(("auto", "As usual for it"), ("batch", "Each batch"), ("epoch", "Each epoch")),
    )
    clip_norm: float = declared(
        "float",
        0.0,
        "Clip norm",
        "Scale gradients down together so that their global norm is at most this; 0 leaves them as they are.",
        minimum=0,
        zero="none",
        example="e.g. 1.0, or 0 for no clipping",
    )
    loss: str = declared(
        "choice",
        "auto",
        "Loss",
        "What training makes small: auto is cross_entropy for classes and mse for numbers. cross_entropy; "
        "label_smoothing, the same with a tenth of the truth shared among all classes; margin, by which the "
        "true class should lead; mse, mae or huber for numbers. The test loss is always cross entropy or "
        "mse, so that runs can be compared.",
        choices=(
            ("auto", "Automatic"),
            ("cross_entropy", "Cross entropy"),
            ("label_smoothing", "Label smoothing"),
            ("margin", "Margin"),
            ("mse", "Squared error"),
            ("mae", "Absolute error"),
            ("huber", "Huber"),
        ),
    )
    batch_size: int = declared(
        "int", 64, "Batch", "Images in each step.", minimum=1, maximum=1_000_000, example="e.g. 64"
    )
    epochs: int = declared(
        "int",
        5,
        "Epochs",
        "Passes over all training images.",
        minimum=1,
        maximum=1_000_000,
        example="e.g. 5",
        changeable=True,
    )
    static: bool = declared(
        "bool",
        True,
        "Mode",
        "Static runs the Program that to_static makes; eager runs Python line by line.",
        choices=((True, "Static"), (False, "Eager")),
        off="eager",
    )
    device: str = declared(
        "device",
        "cpu",
        "Device",
        "Where the numbers are computed: cpu, gpu (the first), gpu:1, or auto: a GPU where there is one, "
        "else the CPU.",
        choices=(("cpu", "CPU"), ("auto", "GPU if there is one"), ("gpu", "GPU")),
        changeable=True,
    )
    workers: int = declared(
        "int",
        1,
        "Workers",
        "Processes that share each batch; more than one needs the extra distributed.",
        minimum=1,
        maximum=1024,
        example="e.g. 2, or 1 for a single process",
        changeable=True,
        advanced=True,
    )
    seed: int = declared(
        "int",
        0,
        "Seed",
        "Fixes the initial weights, the order of the images and every dropout.",
        minimum=0,
        maximum=MAX_SEED,
        example="e.g. 2026",
    )
    samples: int = declared(
        "int",
        0,
        "Pictures",
        "Take only the first so many training images; 0 takes all.",
        minimum=0,
        maximum=1_000_000_000,
        example="e.g. 1000, or 0 for all",
        advanced=True,
    )
    threads: int = declared(
        "int",
        0,
        "Threads",
        "Threads that compute the products of matrices and the kernels; 0 for as many as this process may "
        "use cores. The run keeps the number, since the last bits of sums may depend on it. "
        "OPENBLAS_NUM_THREADS and its like go first.",
        minimum=0,
        maximum=1024,
        zero="cores",
        example="e.g. 2, or 0 for all cores",
        changeable=True,
        advanced=True,
    )
    kernels: str = declared(
        "choice",
        "auto",
        "Kernels",
        "Who computes on the CPU: auto begins with NumPy and takes kernels that are compiled for this CPU as "
        "soon as they are there, where the extra fast is installed; numpy; or fast, which waits for them. A "
        "resumed run takes them at the same step. Two runs are the same to the bit with numpy or fast.",
        choices=(("auto", "Automatic"), ("numpy", "NumPy"), ("fast", "Compiled")),
        changeable=True,
        advanced=True,
    )
    recompute: bool = declared(
        "bool",
        False,
        "Recompute",
        "Yes keeps less of each batch in memory: what the network's blocks compute inside is computed again "
        "for the gradients. A step takes longer, its results are the same to the bit.",
        choices=((False, "No"), (True, "Yes")),
        changeable=True,
        advanced=True,
    )
    corrections: str = declared(
        "path",
        "",
        "Corrections",
        "A file of corrected labels and dropped images, which are applied to the data; empty for none.",
        example="data/corrections.json",
        advanced=True,
    )
    checkpoint_every: int = declared(
        "int",
        200,
        "Checkpoint",
        "Steps between checkpoints, in addition to those at the end of each epoch; 0 for those only.",
        minimum=0,
        maximum=1_000_000_000,
        example="e.g. 200, or 0 for the end of epochs only",
        changeable=True,
        advanced=True,
    )
    keep: int = declared(
        "int",
        3,
        "Keep",
        "How many step checkpoints stay on disk; the best one stays as well.",
        minimum=1,
        maximum=1_000_000,
        example="e.g. 3",
        changeable=True,
        advanced=True,
    )
    max_size: int = declared(
        "int",
        0,
        "Max size",
        "Megabytes for the run's journal and checkpoints; the oldest checkpoints go first. 0 for no limit.",
        minimum=0,
        maximum=1_000_000_000,
        zero="none",
        example="e.g. 500, or 0 for no limit",
        changeable=True,
        advanced=True,
    )
    layers_every: int = declared(
        "int",
        0,
        "Layers",
        "Steps between looks at the layers (histograms, sizes of updates, dead units), besides those at the "
        "first step and at the end of each epoch; 0 for those only. A look takes about as long as a step.",
        minimum=0,
        maximum=1_000_000_000,
        example="e.g. 500, or 0 for the end of epochs only",
        changeable=True,
        advanced=True,
    )
    on_divergence: str = declared(
        "choice",
        "stop",
        "Diverged",
        "What to do when the loss is not a finite number: stop the run, or continue.",
        choices=(("stop", "Stop"), ("continue", "Continue")),
        changeable=True,
        advanced=True,
    )


OUT = Setting(
    "path",
    "",
    "Folder",
    "The folder of the run; empty writes nothing at all.",
    name="out",
    example="e.g. 'runs/a'",
    changeable=True,
)

RUN_SETTINGS: dict[str, Setting] = settings_of(Settings)
# Those that the page Train asks for, and those of the page Data.
TRAIN_SETTINGS, DATA_SETTINGS = (
    {name: setting for name, setting in RUN_SETTINGS.items() if setting.group == group}
    for group in ("", "data")
)
SETTINGS: dict[str, Setting] = {**RUN_SETTINGS, "out": OUT}
# A continued run must be the same run, so only these may differ from what its checkpoint recorded.
CHANGEABLE: tuple[str, ...] = tuple(name for name, setting in SETTINGS.items() if setting.changeable)
# The settings that hold parameters, the setting that says whose they are, and the table it chooses from.
RULES_OF = {"optimizer_params": ("optimizer", optimizers), "schedule_params": ("schedule", schedules)}


def rule_of(name: str, chosen: Any) -> Rule | None:
    """The rule that ``chosen`` names for ``optimizer_params`` or ``schedule_params``."""
    return RULES_OF[name][1]().get(chosen) if isinstance(chosen, str) else None
