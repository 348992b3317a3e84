"""Writes resources/settings/rules.json and docs/settings.md: ``python -m docs.settings``, in the top folder.

The first lists the optimizers and schedules that a run can use, read from the constructors of the engine, so
that the command line and the window know them before the engine is imported. The second is the page about all
settings. ``--check`` only checks whether both are current.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from resources.settings import RUN_SETTINGS, Rule, Setting, optimizers, schedules
from resources.settings.export import EXPORT_SETTINGS
from resources.settings.quantize import QUANTIZE_SETTINGS
from resources.settings.rate import RATE_SETTINGS
from resources.settings.rules import FILE

PAGE = Path(__file__).resolve().parent / "settings.md"
HEAD = """\
# Settings of a run

Made by `python -m docs.settings` from `resources/settings` and the constructors of the engine; not edited by
hand.

The same settings stand in the window's form, in project files and in run folders. On the command line
`model-studio train` takes them as options. Those marked *may change* can differ when a run is continued
(`--resume`); a change of any other would make it another run, and is refused.

| Setting | Option | Takes | Default | May change | What it does |
|---|---|---|---|---|---|
"""
OPTIMIZERS = """
## Optimizers

`--optimizer NAME`, and each parameter as `--optimizer-param NAME=VALUE`:
`--optimizer momentum --optimizer-param momentum=0.95 --optimizer-param weight_decay=1e-4`.
"""
SCHEDULES = """
## Schedules of the learning rate

`--schedule NAME`, and each parameter as `--schedule-param NAME=VALUE`; a list as
`--schedule-param milestones=2,4`. A schedule moves on after each batch or after each epoch, as the line below
its name says; `--schedule-each` decides otherwise. Parameters that count, such as `T_max`, count the same.
`reduce_on_plateau` looks at the parameter `metric` after the test images of each epoch were read.
"""
EXPORT = """
## Settings of an export

`model-studio export` takes them as options; the window asks for them on the page Export.
"""
QUANTIZATION = """
## Settings of a quantization

`model-studio quantize` takes them as options; the window asks for most of them in the card Quantization of
the page Export.
"""
RATE = """
## Settings of the search for a learning rate

`model-studio find-rate` takes them as options, with those of a run.
"""
# The settings of other tasks than a run, each below its heading.
TASKS = (
    (EXPORT, EXPORT_SETTINGS),
    (QUANTIZATION, QUANTIZE_SETTINGS),
    (RATE, RATE_SETTINGS),
)


def rules_text() -> str:
    """The content of rules.json as the engine has it."""
    from engine.training.rule_table import table

    return json.dumps(table(), indent=1) + "\n"


def page() -> str:
    """The page about all settings."""
    lines = [HEAD + "\n".join(_run_row(setting) for setting in RUN_SETTINGS.values())]
    for head, rules in ((OPTIMIZERS, optimizers()), (SCHEDULES, schedules())):
        lines.append(head)
        lines += [_rule(rule, head is SCHEDULES) for rule in rules.values()]
    for head, settings in TASKS:
        rows = [_task_row(setting) for setting in settings.values() if setting.group != "window"]
        lines.append(f"{head}\n| Setting | Option | Takes | Default | What it does |\n|---|---|---|---|---|")
        lines += rows
    return "\n".join(lines) + "\n"


def _task_row(setting: Setting) -> str:
    return _row(
        f"`{setting.name}`", _options(setting), setting.allowed(), setting.default_words(), setting.help
    )


def _options(setting: Setting) -> str:
    return f"`{setting.flag}`, `{setting.off_flag}`" if setting.kind == "bool" else f"`{setting.flag}`"


def _run_row(setting: Setting) -> str:
    takes = "see below" if setting.kind == "parameters" or len(setting.choices) > 4 else setting.allowed()
    default = setting.default_words() if setting.kind != "parameters" else ""
    change = "yes" if setting.changeable else ""
    return _row(f"`{setting.name}`", _options(setting), takes, default, change, setting.help)


def _rule(rule: Rule, is_schedule: bool) -> str:
    moves = f" Moves on with each {rule.each}." if is_schedule and rule.class_name else ""
    head = f"### {rule.name}\n\n{rule.help}{moves}\n"
    if not rule.parameters:
        return head
    rows = [
        _row(f"`{setting.name}`", setting.allowed(), setting.default_words() or "must be given", setting.help)
        for setting in rule.parameters
    ]
    return "\n".join([head, "| Parameter | Takes | Default | What it does |", "|---|---|---|---|", *rows, ""])


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def main() -> int:
    """Write both files, or with ``--check`` say which is not current."""
    check = sys.argv[1:] == ["--check"]
    rules = rules_text()
    stale = [] if FILE.read_text(encoding="utf-8") == rules else [FILE.name]
    if stale and not check:
        FILE.write_text(rules, encoding="utf-8")
        # This process has read the rules as they were.
        return subprocess.run([sys.executable, "-m", "docs.settings"], check=False).returncode
    text = page()
    if not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != text:
        stale.append(PAGE.name)
        if not check:
            PAGE.write_text(text, encoding="utf-8")
    if check and stale:
        print(f"not current: {', '.join(stale)}; run python -m docs.settings", file=sys.stderr)
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
