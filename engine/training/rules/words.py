"""What constructors don't say about their parameters: help, range and a value to start from, by name."""

from __future__ import annotations

from typing import Any

# Parameters that a run does not offer, with the reason. Functions are omitted by their type: a setting is a
# plain value, which a file can hold.
LEFT_OUT: dict[str, str] = {
    "learning_rate": "is a setting of the run itself",
    "parameters": "are those of the model",
    "grad_clip": "is the setting clip_norm of the run",
    "name": "names the state in files; the run does that",
    "lazy_mode": "has no effect here: gradients are dense",
    "multi_precision": "has no effect here: the weights of a run are float32",
    "use_multi_tensor": "has no effect here: how Paddle launches its kernels",
    "last_epoch": "is where the schedule begins; a checkpoint restores it",
    "verbose": "prints; the run reports the learning rate in its events",
    "scale_mode": "says what scale_fn takes, and a function is not a plain value",
}
# The same for one optimizer or schedule alone.
LEFT_OUT_OF: dict[tuple[str, str], str] = {
    ("ReduceOnPlateau", "mode"): "follows from the parameter metric: a loss falls, accuracy and R² rise",
}

# How often a schedule advances unless the run sets it: those whose numbers are counted in steps by
# their authors advance with each batch, all others with each epoch.
EACH_BATCH = ("NoamDecay", "LinearWarmup", "LinearLR", "OneCycleLR", "CyclicLR")

METRICS = (
    ("validation_loss", "Test loss"),
    ("validation_accuracy", "Test accuracy"),
    ("validation_r2", "Test R²"),
    ("train_loss", "Training loss"),
)

_SHARE: dict[str, Any] = {"minimum": 0, "below": 1}
_NOT_NEGATIVE: dict[str, Any] = {"minimum": 0}
_COUNT: dict[str, Any] = {"minimum": 1}
_OF_RUN: dict[str, Any] = {"minimum": 0, "default": 0, "zero": "run"}
_BETWEEN: dict[str, Any] = {"above": 0, "below": 1}

WORDS: dict[str, dict[str, Any]] = {
    # optimizers
    "beta1": {"help": "Decay rate of the running mean of gradients.", **_SHARE},
    "beta2": {"help": "Decay rate of the running mean of squared gradients.", **_SHARE},
    "epsilon": {"help": "Added to the denominator, so that it is never zero.", "above": 0},
    "rho": {"help": "Decay rate of the running means.", **_SHARE},
    "momentum": {"help": "Share of the previous step that is added to the next one.", **_SHARE},
    "use_nesterov": {"help": "Look ahead along the velocity (Nesterov)."},
    "centered": {"help": "Divide by the variance of the gradients instead of their mean square."},
    "rescale_grad": {"help": "Factor by which each gradient is multiplied before the update.", "above": 0},
    "weight_decay": {
        "help": "L2 penalty: the weights times this factor are added to the gradient; 0 for none.",
        "kind": "float",
        **_NOT_NEGATIVE,
    },
    "lamb_weight_decay": {"help": "The weights times this factor are added to Adam's step.", **_NOT_NEGATIVE},
    "always_adapt": {"help": "Also scale the steps of weights without decay."},
    "initial_accumulator_value": {"help": "The sum of squares before the first step.", **_NOT_NEGATIVE},
    "max_iter": {"help": "The largest number of iterations in each step.", "minimum": 1, "maximum": 10_000},
    "max_eval": {
        "help": "The largest number of loss evaluations in each step; 0 for 5/4 of the iterations.",
        "zero": "other",
        "minimum": 0,
        "maximum": 100_000,
    },
    "tolerance_grad": {"help": "A step ends when no gradient exceeds this.", **_NOT_NEGATIVE},
    "tolerance_change": {
        "help": "A step ends when loss and weights change by less than this.",
        **_NOT_NEGATIVE,
    },
    "history_size": {
        "help": "The number of past steps from which the direction is estimated.",
        "minimum": 1,
        "maximum": 10_000,
    },
    "line_search_fn": {
        "help": "How to find the length of a step.",
        "choices": (("none", "None"), ("strong_wolfe", "Strong Wolfe")),
    },
    # schedules
    "d_model": {"help": "Width of the model.", "default": 128, **_COUNT},
    "warmup_steps": {
        "help": "The number of steps in which the learning rate rises.",
        "default": 100,
        **_COUNT,
    },
    "boundaries": {
        "help": "The counts at which the learning rate changes, in increasing order.",
        "default": [2, 4],
        **_NOT_NEGATIVE,
    },
    "values": {
        "help": "The learning rates, one more than boundaries. The learning rate of the run is not used.",
        "default": [0.001, 0.0005, 0.0001],
        **_NOT_NEGATIVE,
    },
    "gamma": {"help": "Factor by which the learning rate is multiplied.", "default": 0.9, **_BETWEEN},
    "decay_steps": {"help": "The length of the decay; 0 for the whole run.", **_OF_RUN},
    "end_lr": {"help": "The learning rate at the end.", **_NOT_NEGATIVE},
    "start_lr": {
        "help": "The learning rate at the start.",
        "default": 0.0,
        "required": False,
        **_NOT_NEGATIVE,
    },
    "power": {"help": "The power of the curve; 1 is a straight line.", "above": 0},
    "cycle": {"help": "Restart at the end, with a longer period each time."},
    "milestones": {
        "help": "The counts at which the learning rate decreases, in increasing order.",
        "default": [2, 4],
        "minimum": 1,
    },
    "step_size": {"help": "The length of each period with a constant learning rate.", "default": 2, **_COUNT},
    "T_max": {"help": "The length of the decrease to the minimum; 0 for the whole run.", **_OF_RUN},
    "eta_min": {"help": "The lowest learning rate.", **_NOT_NEGATIVE},
    "start_factor": {"help": "Factor on the learning rate at the start.", "above": 0, "maximum": 1},
    "end_factor": {"help": "Factor on the learning rate at the end.", "minimum": 0, "maximum": 1},
    "total_steps": {"help": "The length of the change; 0 for the whole run.", **_OF_RUN},
    "divide_factor": {"help": "The run starts with the learning rate divided by this.", "above": 0},
    "end_learning_rate": {"help": "The learning rate at the end.", **_NOT_NEGATIVE},
    "phase_pct": {"help": "The share of the steps in which the learning rate rises.", **_BETWEEN},
    "anneal_strategy": {
        "help": "The shape of the curve.",
        "choices": (("cos", "Cosine"), ("linear", "Linear")),
    },
    "three_phase": {"help": "Return to the first learning rate before the decay to the last one."},
    "max_learning_rate": {"help": "The highest learning rate of each cycle.", "default": 0.01, "above": 0},
    "step_size_up": {"help": "The number of steps of each rise.", "default": 100, **_COUNT},
    "step_size_down": {
        "help": "The number of steps of each fall; 0 for as many as of each rise.",
        "zero": "other",
        **_COUNT,
        "minimum": 0,
    },
    "exp_gamma": {"help": "The base of the power in mode exp_range.", "above": 0, "maximum": 1},
    "mode": {
        "help": "The height of the cycles: constant, halved each time, or a power of exp_gamma.",
        "choices": (
            ("triangular", "Triangular"),
            ("triangular2", "Halved each time"),
            ("exp_range", "Exponential"),
        ),
    },
    "T_0": {"help": "The length of the first cycle.", "default": 2, **_COUNT},
    "T_mult": {"help": "Factor between the lengths of successive cycles.", **_COUNT},
    "factor": {"help": "Factor on the learning rate when the metric stops improving.", **_BETWEEN},
    "patience": {
        "help": "The number of epochs without improvement before the learning rate decreases.",
        **_COUNT,
        "minimum": 0,
    },
    "threshold": {"help": "Smaller changes do not count as an improvement.", **_NOT_NEGATIVE},
    "threshold_mode": {
        "help": "Whether the threshold is a share of the best value or a difference.",
        "choices": (("rel", "Share"), ("abs", "Difference")),
    },
    "cooldown": {"help": "The number of epochs after a decrease that do not count.", **_COUNT, "minimum": 0},
    "min_lr": {"help": "The lowest learning rate.", **_NOT_NEGATIVE},
}

# Titles where the name in words is too long for the label of a form.
TITLES: dict[str, str] = {
    "use_nesterov": "Nesterov",
    "rescale_grad": "Rescale",
    "weight_decay": "Decay",
    "lamb_weight_decay": "Decay",
    "always_adapt": "Adapt all",
    "initial_accumulator_value": "Start sum",
    "max_iter": "Iterations",
    "max_eval": "Max eval",
    "tolerance_grad": "Tol. grad",
    "tolerance_change": "Tol. change",
    "history_size": "History",
    "line_search_fn": "Search",
    "d_model": "Width",
    "warmup_steps": "Warm-up",
    "decay_steps": "Length",
    "end_lr": "Last rate",
    "start_lr": "First rate",
    "step_size": "Length",
    "T_max": "Length",
    "eta_min": "Lowest rate",
    "start_factor": "First share",
    "end_factor": "Last share",
    "total_steps": "Length",
    "divide_factor": "Divide by",
    "end_learning_rate": "Last rate",
    "phase_pct": "Rise share",
    "anneal_strategy": "Shape",
    "three_phase": "3 phases",
    "max_learning_rate": "Top rate",
    "step_size_up": "Steps up",
    "step_size_down": "Steps down",
    "exp_gamma": "Gamma",
    "T_0": "Length",
    "T_mult": "Longer by",
    "threshold_mode": "Measure",
    "min_lr": "Lowest rate",
}
# The same for schedules: all of them change the rate.
RULE_TITLES: dict[str, str] = {
    "CosineAnnealingWarmRestarts": "Cosine restarts",
    "ReduceOnPlateau": "On plateau",
}

# Where a parameter means something else, or takes another range, in one optimizer or schedule.
WORDS_OF: dict[tuple[str, str], dict[str, Any]] = {
    ("AdamW", "weight_decay"): {
        "help": "Each step reduces the weights by this share times the learning rate.",
    },
    ("Adamax", "beta2"): {"help": "Decay rate of the largest past gradient."},
    ("NaturalExpDecay", "gamma"): {
        "help": "The learning rate is multiplied by exp(-gamma).",
        "default": 0.1,
        "below": None,
    },
    ("InverseTimeDecay", "gamma"): {
        "help": "The learning rate is divided by 1 + gamma times the count.",
        "default": 0.1,
        "minimum": 0,
        "above": None,
        "below": None,
    },
    ("LinearWarmup", "end_lr"): {
        "help": "The learning rate at the end of the rise; 0 for that of the run.",
        "default": 0.0,
        "zero": "rate",
        "required": False,
    },
    ("ReduceOnPlateau", "epsilon"): {
        "help": "Smaller decreases are ignored.",
        "minimum": 0,
        "above": None,
    },
}

# What a run itself offers with a schedule, beyond the parameters of the constructor.
MORE_OF: dict[str, dict[str, dict[str, Any]]] = {
    "ReduceOnPlateau": {
        "metric": {
            "kind": "choice",
            "default": "validation_loss",
            "choices": METRICS,
            "help": "The metric to follow, measured at the end of each epoch.",
        },
    }
}

# Help where the first line of the class says something else than what it does in a run.
HELP_OF: dict[str, str] = {
    "Adam": "Steps scaled by running means of the gradient and of its square.",
    "LBFGS": "Steps along an estimated Newton direction; computes the loss of each batch many times.",
    "ReduceOnPlateau": "Reduces the learning rate when the metric has not improved for patience epochs.",
    "PiecewiseDecay": "The first of the values up to the first boundary, then the second, and so on.",
    "LinearWarmup": "From start_lr to end_lr evenly in warmup_steps, then the learning rate of the run.",
}

# Optimizers and schedules that no run can use, with the reason.
NOT_OFFERED: dict[str, str] = {
    "LambdaDecay": "takes a Python function, and a setting is a plain value that files and forms can hold",
    "MultiplicativeDecay": "takes a Python function, as LambdaDecay does",
}
# Optimizers that refuse grad_clip.
NO_CLIPPING = ("LBFGS",)
# They take weight_decay only to refuse it.
LEFT_OUT_OF[("LBFGS", "weight_decay")] = "is refused: the loss would not fit its gradient"
