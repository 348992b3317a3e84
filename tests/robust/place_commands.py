"""A child of test_places.py: commands of the command line in one folder, one after the other, in this locale.

``python place_commands.py FOLDER`` prints a line ``STATUS COMMAND`` after each; FOLDER has data and a model.
"""

from __future__ import annotations

import os
import sys

from studio.cli import main

FOLDER = sys.argv[1]
COMMON = ["--batch-size", "8", "--threads", "1", "--kernels", "numpy"]


def at(name: str) -> str:
    return os.path.join(FOLDER, name)


COMMANDS = [
    [
        "train",
        "--data",
        at("d.npz"),
        "--model",
        at("m.py:Ince"),
        "--epochs",
        "1",
        *COMMON,
        "--out",
        at("run"),
    ],
    ["train", "--resume", "--out", at("run"), "--epochs", "2"],
    ["runs", "--in", FOLDER],
    ["runs", "describe", at("run"), "--name", "\u0131\u0130", "--note", "I i"],
    ["export", at("run")],
    ["inspect", at("run/inference/model")],
    ["predict", at("run/inference/model"), at("i.png")],
    ["report", at("run"), "--out", at("report.html")],
]

if __name__ == "__main__":
    for words in COMMANDS:
        sys.argv = ["model-studio", *words]
        status: object = 0
        try:
            main()
        except SystemExit as ended:
            status = ended.code or 0
        print(f"\n{status} {words[0]}", flush=True)
