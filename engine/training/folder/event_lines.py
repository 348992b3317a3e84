"""Events of a training as lines: plain values without images, one line for each step."""

from __future__ import annotations

from typing import Any

from resources.training_events import TrainingEvent


def as_lines(event: TrainingEvent) -> list[dict[str, Any]]:
    """The event as in a journal and in JSON lines: without images, ``steps`` one by one.

    Each of ``scalars`` is a field ``scalar:NAME``, so that a journal has a column of it; ``ranks`` is a line
    of its own.
    """
    if event["event"] != "steps":
        plain = {name: value for name, value in event.items() if name not in ("pictures", "scalars")}
        named = event.get("scalars", {}) if event["event"] == "epoch" else {}
        return [{**plain, **{f"scalar:{name}": value for name, value in named.items()}}]
    columns, accuracies = event.get("scalars", {}), event.get("accuracies", [])
    shared = {
        "time": event["time"],
        "epoch": event["epoch"],
        "samples_per_second": event["samples_per_second"],
        "elapsed": event["elapsed"],
        "learning_rate": event["learning_rate"],
        **({"memory": event["memory"]} if "memory" in event else {}),
    }
    lines: list[dict[str, Any]] = [
        {
            "event": "step",
            "step": step,
            "loss": loss,
            **({"accuracy": accuracies[place]} if accuracies else {}),
            **shared,
            **{f"scalar:{name}": values[place] for name, values in columns.items()},
        }
        for place, (step, loss) in enumerate(zip(event["steps"], event["losses"], strict=True))
    ]
    if "ranks" in event:
        lines.append(
            {
                "event": "ranks",
                "time": event["time"],
                "step": event["step"],
                "epoch": event["epoch"],
                "ranks": event["ranks"],
            }
        )
    return lines
