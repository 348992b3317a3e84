"""Records what the scenarios print: run with an interpreter that has Paddle 2.6.2, without PYTHONPATH."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import paddle

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import scenarios  # noqa: E402

warnings.simplefilter("ignore")
found = {each.__name__: scenarios.transcript(paddle, each) for each in scenarios.SCENARIOS}
(HERE / "recorded.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
