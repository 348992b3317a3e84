"""The settings of a run: each with type, range, default, title and help, in this one place.

Command line, window, checks, resume rules and documentation are made from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from resources.settings.rules import CONSTANT, Rule, optimizers, schedules
from resources.settings.setting import Setting, declared, settings_of

MAX_SEED = 2**63 - 1


def _titles(rules: dict[str, Rule]) -> tuple[tuple[str, str], ...]:
    return tuple((rule.name, rule.title) for rule in rules.values())


@dataclass(frozen=True)
class Settings:
    """What is chosen before a training, apart from the folder that it writes into."""

    data: str = declared(
        "name",
        "digits",
        "Data",
        "What the model learns from: digits, mnist, fashion-mnist, or the path of a folder with IDX files, "
        "of a folder of images, or of an NPZ, HDF5 or CSV file.",
        choices=(("digits", "Digits (built in)"), ("mnist", "MNIST"), ("fashion-mnist", "FashionMNIST")),
        example="digits, mnist or the path of a folder or file",
    )
    model: str = declared(
        "name",
        "lenet",
        "Model",
        "The network to train: lenet, linear, cnn, or FILE.py:Class.",
        choices=(("lenet", "LeNet"), ("linear", "Linear"), ("cnn", "Small CNN")),
        example="lenet, linear, cnn or FILE.py:Class",
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
        "cross_entropy",
        "Loss",
        "What training makes small: cross_entropy; label_smoothing, the same with a tenth of the truth "
        "shared among all classes; or margin, by which the true class should lead. The test loss is always "
        "cross entropy, so that runs can be compared.",
        choices=(
            ("cross_entropy", "Cross entropy"),
            ("label_smoothing", "Label smoothing"),
            ("margin", "Margin"),
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
    extra_data: str = declared(
        "path",
        "",
        "Also",
        "More training samples of the same classes, in any of these forms, such as the images collected in "
        "the project; the test stays as it is.",
        group="data",
    )
    input_name: str = declared(
        "text",
        "",
        "Inputs in",
        "The array of an NPZ or HDF5 file that holds the inputs; found by its name where this is empty.",
        group="data",
    )
    label_name: str = declared(
        "text",
        "",
        "Labels in",
        "The array of an NPZ or HDF5 file, or the column of a CSV file, that holds the labels; found by its "
        "name where this is empty.",
        group="data",
    )
    test_share: float = declared(
        "float",
        0.2,
        "Test share",
        "The share of each class that is kept for the test where the data has no test split of its own.",
        minimum=0.01,
        maximum=0.9,
        example="e.g. 0.2",
        group="data",
    )
    split_seed: int = declared(
        "int",
        0,
        "Split seed",
        "Another number gives another split where the data has no test split of its own.",
        minimum=0,
        maximum=MAX_SEED,
        example="e.g. 1",
        group="data",
    )
    resize: int = declared(
        "int",
        0,
        "Resize",
        "Scale images to squares of so many pixels a side; 0 leaves them as they are.",
        minimum=0,
        maximum=4096,
        zero="none",
        example="e.g. 32, or 0 for images as they are",
        group="data",
    )
    color: str = declared(
        "choice",
        "auto",
        "Colour",
        "Whether images are fed as they are, in grey, or in red, green, blue.",
        choices=(("auto", "As they are"), ("grey", "Grey"), ("rgb", "Red, green, blue")),
        group="data",
    )
    normalize: str = declared(
        "choice",
        "none",
        "Normalise",
        "none feeds images from 0 to 1 and numbers as they are; symmetric feeds images from -1 to 1; "
        "statistics gives every channel or column mean 0 and deviation 1.",
        choices=(("none", "No"), ("symmetric", "From -1 to 1"), ("statistics", "Mean 0, deviation 1")),
        group="data",
    )
    shift: int = declared(
        "int",
        0,
        "Shift",
        "Move each training image at random by up to so many pixels each way.",
        minimum=0,
        maximum=1000,
        zero="none",
        example="e.g. 2, or 0 for none",
        group="data",
    )
    rotate: float = declared(
        "float",
        0.0,
        "Rotate",
        "Turn each training image at random by up to so many degrees each way.",
        minimum=0,
        maximum=180,
        zero="none",
        example="e.g. 10, or 0 for none",
        group="data",
    )
    flip: str = declared(
        "choice",
        "none",
        "Mirror",
        "Mirror each training image at random: none, horizontal (left and right), vertical, or both.",
        choices=(
            ("none", "No"),
            ("horizontal", "Left and right"),
            ("vertical", "Up and down"),
            ("both", "Both"),
        ),
        group="data",
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
