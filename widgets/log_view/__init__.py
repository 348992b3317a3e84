"""What happened: a log of lines and a list of problems."""

from widgets.log_view.log import LogView
from widgets.log_view.problems import ProblemData, ProblemList

__all__ = ["LogView", "ProblemData", "ProblemList"]
