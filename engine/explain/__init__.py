"""Why a model answers as it does: the activations of its operators for a sample, and which values of the
sample its answer depends on (saliency, integrated gradients, occlusion)."""

from engine.explain.answers import METHODS, Activation, Attribution, Value
from engine.explain.guarded.process import open_saved
from engine.explain.sources import of_layer, of_run, of_saved
from engine.explain.subject import Subject

__all__ = [
    "METHODS",
    "Activation",
    "Attribution",
    "Subject",
    "Value",
    "of_layer",
    "of_run",
    "of_saved",
    "open_saved",
]
