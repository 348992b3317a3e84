"""Records what summary and flops of PaddlePaddle 2.6.2 print: run with an interpreter that has it.

python tests/engine/hapi/record_tables.py
"""

import contextlib
import io
import json
import sys
from pathlib import Path

import paddle

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from table_calls import cases  # noqa: E402

found = {}
for name, call in cases(paddle).items():
    text = io.StringIO()
    with paddle.utils.unique_name.guard(), contextlib.redirect_stdout(text):
        result = call()
    if isinstance(result, dict):
        result = {key: int(count) for key, count in result.items()}
    found[name] = {
        "result": result if isinstance(result, dict) else int(result),
        "lines": text.getvalue().split("\n"),
    }
(HERE / "recorded_tables.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
