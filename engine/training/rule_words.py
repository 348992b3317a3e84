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

# How often a schedule moves on unless the run says otherwise: those whose numbers are counted in steps by
# their authors move on with each batch, all others with each epoch.
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
    "beta1": {"help": "Share of the running mean of gradients that each step keeps.", **_SHARE},
    "beta2": {"help": "Share of the running mean of squared gradients that each step keeps.", **_SHARE},
    "epsilon": {"help": "Added to the denominator, so that it is never zero.", "above": 0},
    "rho": {"help": "Share of the running means that each step keeps.", **_SHARE},
    "momentum": {"help": "Share of the last step that the next one keeps.", **_SHARE},
    "use_nesterov": {"help": "Look ahead along the velocity (Nesterov)."},
    "centered": {"help": "Divide by the variance of the gradient instead of its mean square."},
    "rescale_grad": {"help": "Factor on every gradient before the update.", "above": 0},
    "weight_decay": {
        "help": "L2 penalty: this times the weights is added to the gradient; 0 for none.",
        "kind": "float",
        **_NOT_NEGATIVE,
    },
    "lamb_weight_decay": {"help": "This times the weights is added to Adam's step.", **_NOT_NEGATIVE},
    "always_adapt": {"help": "Scale the step of weights that do not decay, too."},
    "initial_accumulator_value": {"help": "The sum of squares before the first step.", **_NOT_NEGATIVE},
    "max_iter": {"help": "Iterations in each step.", "minimum": 1, "maximum": 10_000},
    "max_eval": {
        "help": "Evaluations of the loss in each step; 0 for 5/4 of the iterations.",
        "zero": "other",
        "minimum": 0,
        "maximum": 100_000,
    },
    "tolerance_grad": {"help": "A step ends where no gradient exceeds this.", **_NOT_NEGATIVE},
    "tolerance_change": {"help": "A step ends where loss and weights change by less.", **_NOT_NEGATIVE},
    "history_size": {"help": "How many past steps shape the direction.", "minimum": 1, "maximum": 10_000},
    "line_search_fn": {
        "help": "How the length of a step is found.",
        "choices": (("none", "None"), ("strong_wolfe", "Strong Wolfe")),
    },
    # schedules
    "d_model": {"help": "Width of the model.", "default": 128, **_COUNT},
    "warmup_steps": {"help": "Steps in which the rate rises.", "default": 100, **_COUNT},
    "boundaries": {"help": "Where the rate changes, in rising order.", "default": [2, 4], **_NOT_NEGATIVE},
    "values": {
        "help": "The rates: one more than there are boundaries; the learning rate of the run is not used.",
        "default": [0.001, 0.0005, 0.0001],
        **_NOT_NEGATIVE,
    },
    "gamma": {"help": "Factor on the rate.", "default": 0.9, **_BETWEEN},
    "decay_steps": {"help": "How long the rate falls; 0 for the whole run.", **_OF_RUN},
    "end_lr": {"help": "The rate at the end.", **_NOT_NEGATIVE},
    "start_lr": {"help": "The rate at the start.", "default": 0.0, "required": False, **_NOT_NEGATIVE},
    "power": {"help": "Power of the curve; 1 is a straight line.", "above": 0},
    "cycle": {"help": "Begin again after the end, ever longer."},
    "milestones": {"help": "Where the rate falls, in rising order.", "default": [2, 4], "minimum": 1},
    "step_size": {"help": "How long the rate stays before it falls.", "default": 2, **_COUNT},
    "T_max": {"help": "How long the rate falls to its minimum; 0 for the whole run.", **_OF_RUN},
    "eta_min": {"help": "The lowest rate.", **_NOT_NEGATIVE},
    "start_factor": {"help": "Factor on the rate at the start.", "above": 0, "maximum": 1},
    "end_factor": {"help": "Factor on the rate at the end.", "minimum": 0, "maximum": 1},
    "total_steps": {"help": "How long the rate changes; 0 for the whole run.", **_OF_RUN},
    "divide_factor": {"help": "The first rate is the learning rate divided by this.", "above": 0},
    "end_learning_rate": {"help": "The rate at the end.", **_NOT_NEGATIVE},
    "phase_pct": {"help": "Share of the steps in which the rate rises.", **_BETWEEN},
    "anneal_strategy": {
        "help": "The shape of rise and fall.",
        "choices": (("cos", "Cosine"), ("linear", "Linear")),
    },
    "three_phase": {"help": "Fall back to the first rate, then on to the end."},
    "max_learning_rate": {"help": "The highest rate of each cycle.", "default": 0.01, "above": 0},
    "step_size_up": {"help": "Steps of the rise.", "default": 100, **_COUNT},
    "step_size_down": {
        "help": "Steps of the fall; 0 for as many as the rise.",
        "zero": "other",
        **_COUNT,
        "minimum": 0,
    },
    "exp_gamma": {"help": "Base of the height of each cycle in mode exp_range.", "above": 0, "maximum": 1},
    "mode": {
        "help": "The height of the cycles: always full, half each time, or along a power.",
        "choices": (
            ("triangular", "Triangular"),
            ("triangular2", "Halved each time"),
            ("exp_range", "Exponential"),
        ),
    },
    "T_0": {"help": "Length of the first cycle.", "default": 2, **_COUNT},
    "T_mult": {"help": "Each cycle is so many times as long as the one before.", **_COUNT},
    "factor": {"help": "Factor on the rate where nothing has improved.", **_BETWEEN},
    "patience": {"help": "Epochs without improvement before the rate falls.", **_COUNT, "minimum": 0},
    "threshold": {"help": "A smaller change does not count as an improvement.", **_NOT_NEGATIVE},
    "threshold_mode": {
        "help": "Whether the threshold is a share of the best value.",
        "choices": (("rel", "Share"), ("abs", "Difference")),
    },
    "cooldown": {"help": "Epochs after a fall that are not counted.", **_COUNT, "minimum": 0},
    "min_lr": {"help": "The lowest rate.", **_NOT_NEGATIVE},
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
        "help": "This times the learning rate is the share of the weights that each step takes off.",
    },
    ("Adamax", "beta2"): {"help": "Share of the largest past gradient that each step keeps."},
    ("NaturalExpDecay", "gamma"): {
        "help": "The rate is multiplied by exp(-gamma).",
        "default": 0.1,
        "below": None,
    },
    ("InverseTimeDecay", "gamma"): {
        "help": "The rate is divided by 1 + gamma times the count.",
        "default": 0.1,
        "minimum": 0,
        "above": None,
        "below": None,
    },
    ("LinearWarmup", "end_lr"): {
        "help": "The rate at the end of the rise; 0 for the learning rate of the run.",
        "default": 0.0,
        "zero": "rate",
        "required": False,
    },
    ("ReduceOnPlateau", "epsilon"): {
        "help": "A fall smaller than this is not made.",
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
            "help": "What must improve, measured at the end of each epoch.",
        },
    }
}

# Help where the first line of the class says something else than what it does in a run.
HELP_OF: dict[str, str] = {
    "Adam": "Steps scaled by running means of the gradient and of its square.",
    "LBFGS": "Steps along an estimated Newton direction; computes the loss of each batch many times.",
    "ReduceOnPlateau": "The rate falls by a factor when the metric has not improved for patience epochs.",
    "PiecewiseDecay": "The first of the values up to the first boundary, then the next, and so on.",
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
