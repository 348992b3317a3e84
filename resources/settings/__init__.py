"""What can be set for a run, declared once; imports neither the engine nor Qt, so that both can read it."""

from resources.settings.checking import moves_each, parse_model_params, parse_parameters, problems
from resources.settings.data import as_recorded, with_tuples
from resources.settings.rules import CONSTANT, Rule, optimizers, schedules
from resources.settings.run import (
    CHANGEABLE,
    DATA_SETTINGS,
    OUT,
    RULES_OF,
    RUN_SETTINGS,
    SETTINGS,
    SUGGESTED,
    TRAIN_SETTINGS,
    Settings,
    rule_of,
)
from resources.settings.setting import Setting

__all__ = [
    "CHANGEABLE",
    "CONSTANT",
    "DATA_SETTINGS",
    "OUT",
    "RULES_OF",
    "RUN_SETTINGS",
    "SETTINGS",
    "SUGGESTED",
    "TRAIN_SETTINGS",
    "Rule",
    "Setting",
    "Settings",
    "as_recorded",
    "moves_each",
    "optimizers",
    "parse_model_params",
    "parse_parameters",
    "problems",
    "rule_of",
    "schedules",
    "with_tuples",
]
