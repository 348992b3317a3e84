"""The view models under one name: what each page shows, as plain values without Qt.

Each is a dataclass whose fields tell their real changes: ``model.events.loss.connect(function)`` calls
``function(new)`` or ``function(new, old)``; setting a field to what it is tells nothing.
"""

from studio.session.code_view import CodeViewModel
from studio.session.data_view import DataViewModel
from studio.session.export_view import ExportViewModel, Verification
from studio.session.graph_view import GraphViewModel
from studio.session.predict_view import PredictViewModel
from studio.session.problems import ProblemView
from studio.session.saved_model import ModelInfo
from studio.session.train_view import TrainViewModel

__all__ = [
    "DataViewModel",
    "CodeViewModel",
    "ExportViewModel",
    "GraphViewModel",
    "ModelInfo",
    "PredictViewModel",
    "ProblemView",
    "TrainViewModel",
    "Verification",
]
