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
from resources.words import marked

_MODELS = (("auto", "auto"), *((family.name, family.title) for family in FAMILIES.values()))


def _titles(rules: dict[str, Rule]) -> tuple[tuple[str, str], ...]:
    return tuple((rule.name, rule.title) for rule in rules.values())


@dataclass(frozen=True)
class Settings(DataSettings):
    """What is chosen before a training, apart from the folder that it writes into."""

    model: str = declared(
        "name",
        "auto",
        "Model",
        "The network to train: auto, which suggests a network and its settings; lenet, cnn, linear, mlp, "
        "resnet8, resnet18, mobilenet, lstm, gru, transformer; or your own as FILE.py:Class.",
        choices=_MODELS,
        example=marked("auto, lenet, mlp or FILE.py:Class"),
    )
    model_params: dict[str, Any] = declared(
        "parameters",
        {},
        "Model parameters",
        "Parameters of the network, each as NAME=VALUE. The others are derived from the data.",
        option="model-param",
        keyword_only=True,
    )
    start_from: str = declared(
        "path",
        "",
        "Start from",
        "The initial weights: the folder of a run, an exported model or a file of weights (.pdparams, "
        ".safetensors, .npz, or PyTorch's .pth). Layers that do not fit, such as the last one for other "
        "classes, are initialized as usual.",
        example="runs/a or models/lenet",
        advanced=True,
        keyword_only=True,
    )
    freeze: int = declared(
        "int",
        0,
        "Freeze layers",
        "The number of layers with weights, counted from the first, that are not trained; 0 trains all.",
        minimum=0,
        maximum=10_000,
        zero="none",
        example="e.g. 3, or 0 to train all",
        advanced=True,
        keyword_only=True,
    )
    optimizer: str = declared(
        "choice",
        "adam",
        "Optimizer",
        "The algorithm that updates the weights.",
        choices=_titles(optimizers()),
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
        "Learning rate",
        "The learning rate, such as 0.001.",
        above=0,
        example="e.g. 0.001",
        option="lr",
    )
    schedule: str = declared(
        "choice",
        CONSTANT,
        "Schedule",
        "How the learning rate changes during the run.",
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
        "Schedule step",
        "When the schedule advances: after each batch, after each epoch, or auto, as is usual for the "
        "schedule.",
        choices=(("auto", "Automatic"), ("batch", "Each batch"), ("epoch", "Each epoch")),
    )
    clip_norm: float = declared(
        "float",
        0.0,
        "Clip norm",
        "Scale all gradients by the same factor so that their global norm is at most this; 0 disables "
        "clipping.",
        minimum=0,
        zero="none",
        example="e.g. 1.0, or 0 for no clipping",
    )
    loss: str = declared(
        "choice",
        "auto",
        "Loss",
        "The loss that training minimizes; auto is cross_entropy for classes and mse for numbers. For "
        "classes: cross_entropy; label_smoothing, cross entropy with a tenth of the probability shared "
        "among all classes; margin, a hinge loss on the lead of the true class. For numbers: mse, mae or "
        "huber. The test loss is always cross entropy or mse, so that runs can be compared.",
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
        "int",
        64,
        "Batch size",
        "The number of training samples in each step.",
        minimum=1,
        maximum=1_000_000,
        example="e.g. 64",
    )
    epochs: int = declared(
        "int",
        5,
        "Epochs",
        "The number of passes over all training samples.",
        minimum=1,
        maximum=1_000_000,
        example="e.g. 5",
        changeable=True,
    )
    static: bool = declared(
        "bool",
        True,
        "Mode",
        "Static runs the Program that to_static converts the model to; eager runs Python line by line.",
        choices=((True, "Static"), (False, "Eager")),
        off="eager",
    )
    device: str = declared(
        "device",
        "cpu",
        "Device",
        "The device that computes: cpu, gpu (the first), gpu:1, or auto: a GPU if one is available, else "
        "the CPU.",
        choices=(("cpu", "CPU"), ("auto", "GPU if available"), ("gpu", "GPU")),
        changeable=True,
    )
    workers: int = declared(
        "int",
        1,
        "Workers",
        "The number of processes that share each batch. More than one requires the extra distributed.",
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
        "The seed of the initial weights, the order of the samples and dropout.",
        minimum=0,
        maximum=MAX_SEED,
        example="e.g. 2026",
    )
    samples: int = declared(
        "int",
        0,
        "Samples",
        "Use only this number of training samples, from the first on; 0 uses all.",
        minimum=0,
        maximum=1_000_000_000,
        example="e.g. 1000, or 0 for all",
        advanced=True,
    )
    threads: int = declared(
        "int",
        0,
        "Threads",
        "The number of threads for matrix products and kernels; 0 for one per core that this process may "
        "use. The run stores the number, because the last bits of sums may depend on it. "
        "OPENBLAS_NUM_THREADS and similar variables take precedence.",
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
        "The kernels for the CPU: numpy; fast, which waits until kernels are compiled for this CPU; or auto, "
        "which uses NumPy for the first 20 steps, then compiled kernels if llvmlite can be loaded, and waits "
        "for them if they are not ready. Repeated runs with the same seed and number of "
        "threads on the same machine are bitwise identical.",
        choices=(("auto", "Automatic"), ("numpy", "NumPy"), ("fast", "Compiled")),
        changeable=True,
        advanced=True,
    )
    recompute: bool = declared(
        "bool",
        False,
        "Recompute",
        "Save memory: compute values inside the network's blocks again for the gradients instead of storing"
        " them. Steps take longer. The results are bitwise identical.",
        choices=((False, "No"), (True, "Yes")),
        changeable=True,
        advanced=True,
    )
    corrections: str = declared(
        "path",
        "",
        "Corrections",
        "A file of corrected labels and excluded images to apply to the data. Empty for none.",
        example="data/corrections.json",
        advanced=True,
    )
    checkpoint_every: int = declared(
        "int",
        200,
        "Checkpoint",
        "The number of steps between checkpoints, in addition to those at the end of each epoch; 0 for "
        "those only.",
        minimum=0,
        maximum=1_000_000_000,
        example="e.g. 200, or 0 for the end of epochs only",
        changeable=True,
        advanced=True,
    )
    keep: int = declared(
        "int",
        3,
        "Keep last",
        "The number of step checkpoints to keep on disk, in addition to the best one.",
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
        "The size limit in megabytes of the run's journal and checkpoints; 0 for no limit. The oldest "
        "checkpoints are deleted first.",
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
        "The number of steps between records of layer statistics (histograms, sizes of updates, dead "
        "units), in addition to those at the first step and at the end of each epoch; 0 for those only. A "
        "record takes about as long as a step.",
        minimum=0,
        maximum=1_000_000_000,
        example="e.g. 500, or 0 for the end of epochs only",
        changeable=True,
        advanced=True,
    )
    on_divergence: str = declared(
        "choice",
        "stop",
        "On divergence",
        "What to do if the loss is not a finite number: stop the run, or continue.",
        choices=(("stop", "Stop"), ("continue", "Continue")),
        changeable=True,
        advanced=True,
    )
    given: tuple[str, ...] = declared(
        "patterns",
        (),
        "Given",
        "Settings that a suggestion leaves as they are although they have their defaults.",
        group="window",
        changeable=True,
        keyword_only=True,
    )


OUT = Setting(
    "path",
    "",
    "Folder",
    "The folder of the run. If empty, nothing is saved.",
    name="out",
    example="e.g. 'runs/a'",
    changeable=True,
)

SUGGESTED = (
    "model_params", "resize", "fit", "normalize", "shift", "optimizer", "optimizer_params", "learning_rate",
    "schedule", "schedule_params", "batch_size", "clip_norm", "epochs",
)  # fmt: skip
"""The settings that are suggested with the model where they are not given."""
RUN_SETTINGS: dict[str, Setting] = settings_of(Settings)
# Those that the page Train asks for, and those of the page Data.
TRAIN_SETTINGS, DATA_SETTINGS = (
    {name: setting for name, setting in RUN_SETTINGS.items() if setting.group == group}
    for group in ("", "data")
)
SETTINGS: dict[str, Setting] = {**RUN_SETTINGS, "out": OUT}
# A continued run must be the same run, so only these may differ from what its checkpoint recorded.
CHANGEABLE: tuple[str, ...] = tuple(name for name, setting in SETTINGS.items() if setting.changeable)
# The settings that hold parameters, the setting that says which rule they belong to, and the table of rules.
RULES_OF = {"optimizer_params": ("optimizer", optimizers), "schedule_params": ("schedule", schedules)}


def rule_of(name: str, chosen: Any) -> Rule | None:
    """The rule that ``chosen`` names for ``optimizer_params`` or ``schedule_params``."""
    return RULES_OF[name][1]().get(chosen) if isinstance(chosen, str) else None
