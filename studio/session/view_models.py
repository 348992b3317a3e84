"""The view models under one name: what each page shows, as plain values without Qt.

Each is a dataclass whose fields tell their real changes: ``model.events.loss.connect(function)`` calls
``function(new)`` or ``function(new, old)``; setting a field to its current value emits nothing.
"""

from studio.session.code.code_view import CodeViewModel
from studio.session.data.data_view import DataViewModel
from studio.session.debug.debug_view import DebugViewModel
from studio.session.export.export_view import ExportViewModel, Verification
from studio.session.graph.graph_view import GraphViewModel
from studio.session.predict.model_info import ModelInfo
from studio.session.predict.predict_view import PredictViewModel
from studio.session.problem_view import ProblemView
from studio.session.train.train_view import TrainViewModel

__all__ = [
    "DataViewModel",
    "CodeViewModel",
    "DebugViewModel",
    "ExportViewModel",
    "GraphViewModel",
    "ModelInfo",
    "PredictViewModel",
    "ProblemView",
    "TrainViewModel",
    "Verification",
]
