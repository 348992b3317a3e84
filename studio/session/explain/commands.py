"""The commands of explanations, which :mod:`studio.session.commands` lists."""

from __future__ import annotations

from studio.session.command import Command
from studio.session.conditions import needs

EXPLAIN = Command(
    "explain", "Explain prediction", "File",
    "Show on the page Predict which pixels or values the answer depends on.", icon="search",
    group="Saved model"
)
SAVE_MAP = Command(
    "save_map", "Save map…", "File", "Write the map that explains a prediction as a PNG file.",
    icon="download",
    possible=needs(
        lambda session: session.explaining.predict.view.found,
        "No map yet. Choose Explain prediction first."
    ), group="Reports"
)
