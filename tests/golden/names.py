"""Names that users' files and scripts contain, as the program has them now.

``python -m tests.golden.names`` adds those that names.json does not have; none is ever taken from it.
"""

from __future__ import annotations

import ast
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints, is_typeddict

from typer.main import get_command
from typer.testing import CliRunner

from tests.golden.golden_files import HERE, KEY, RUN, SWEEP, copy_to, use_key, versions
from tests.golden.results import PREFIXES

Names = dict[str, list[str]]

RECORD = HERE / "names.json"
ROOT = HERE.parent.parent
PRODUCT = ("engine", "resources", "studio", "widgets")
# A file without any of these names no variable, so it is not parsed.
_MARKS = ("MODEL_STUDIO_", "PADDLE_", "FLAGS_", "environ", "getenv")
_VARIABLE = re.compile(r"(?:MODEL_STUDIO|PADDLE|FLAGS)_[A-Za-z0-9_]+")
# Events between a child process and the window, which no file contains and no command prints.
_INTERNAL = ("steps", "program", "export_progress", "quantize_progress")


def recorded_names() -> Names:
    """The names that must stay, by what they are of."""
    names: Names = json.loads(RECORD.read_text())
    return names


def names_now(project: Path) -> Names:
    """The names that the program has now. ``project`` is a copy of the golden one and the working folder."""
    found = {**declared_names(), **program_keys(), **printed_names(project)}
    return {what: sorted(set(names)) for what, names in sorted(found.items())}


# ----- what is declared -----------------------------------------------------------------------------------


def declared_names() -> Names:
    """Commands, options, settings, events, environment variables, fields of documents."""
    from resources import export_events, training_events
    from resources.settings import RUN_SETTINGS, SETTINGS, optimizers, schedules
    from studio.cli import app
    from studio.session.commands import COMMANDS
    from studio.session.project.project_file import Preferences, Project
    from studio.session.sweep.document import Sweep

    found: Names = {
        "command ids": [command.id for command in COMMANDS],
        "settings": list(SETTINGS),
        "options of settings": [setting.flag for setting in RUN_SETTINGS.values()],
        "parameters of optimizers and schedules": [
            f"{rule.name}.{parameter.name}"
            for rule in (*optimizers().values(), *schedules().values())
            for parameter in rule.parameters
        ],
        "environment variables": sorted(environment_variables()),
    }
    for kind in (Project, Preferences, Sweep):
        found[f"fields of {kind.__name__.lower()} files"] = list(schema_fields(kind.model_json_schema()))
    found |= {f"options of {name}": options for name, options in command_options(get_command(app))}
    for value in {**vars(training_events), **vars(export_events)}.values():
        if is_typeddict(value) and "event" in get_type_hints(value):
            hints = get_type_hints(value)
            for event in {*get_args(hints["event"])} - {*_INTERNAL}:
                found[f"fields of the event {event}"] = list(hints)
    return found


def schema_fields(schema: Any) -> Iterator[str]:
    """The names of all properties in a JSON schema."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for value in schema.values():
            yield from schema_fields(value)


def command_options(command: Any, path: str = "model-studio") -> Iterator[tuple[str, list[str]]]:
    """Each command of the command line with its options."""
    options = [
        name for each in command.params for name in (*each.opts, *each.secondary_opts) if name[0] == "-"
    ]
    yield path, options
    for name, each in getattr(command, "commands", {}).items():
        yield from command_options(each, f"{path} {name}")


def environment_variables() -> set[str]:
    """The environment variables and flags that the product's sources name."""
    found: set[str] = set()
    for top in PRODUCT:
        for path in (ROOT / top).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            if any(mark in text for mark in _MARKS):
                found.update(_variables_in(ast.parse(text)))
    return found


def _variables_in(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _VARIABLE.fullmatch(node.value):
            yield node.value
        if not isinstance(node, ast.Call | ast.Subscript):
            continue
        reader = ast.unparse(node.func if isinstance(node, ast.Call) else node.value)
        if "environ" in reader or reader.endswith("getenv"):
            key = node.slice if isinstance(node, ast.Subscript) else next(iter(node.args), None)
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and key.value.isidentifier():
                yield key.value


# ----- what files contain and commands print --------------------------------------------------------------


def program_keys() -> Names:
    """The keys of a Program as plain values; a training Program replays keys and loops."""
    import engine as paddle
    from engine.program.saved.serialize import to_plain
    from tests.golden.networks import build_program

    paddle.enable_static()
    try:
        plain: Any = to_plain(build_program()[0])
    finally:
        paddle.disable_static()
    operators = [each for block in plain["blocks"] for each in block["ops"]]
    return {
        "keys of a Program": list(plain),
        "keys of a Program's block": list(plain["blocks"][0]),
        "keys of a Program's variable": list(plain["blocks"][0]["vars"][0]),
        "keys of a Program's operator": list(operators[0]),
        "keys of a Program's operator that have a value": [
            key for each in operators for key, value in each.items() if value is not None
        ],
        "keys of a Program's region": [
            key for each in operators for region in each["regions"] for key in region
        ],
    }


def printed_names(project: Path) -> Names:
    """The fields of the JSON that commands print, and what the files of a new run contain."""
    found: Names = {}
    data = ["--data", "data/bars.npz", "--batch-size", "16", "--kernels", "numpy"]
    line = [*data, "--model", "code/model.py:Line", "--optimizer", "sgd", "--epochs", "1"]
    commands = {
        "train": ["train", *line, "--out", "new"],
        "sweep": ["sweep", "--resume", "--out", str(SWEEP), "--dry-run"],
        "runs": ["runs", "--in", "runs"],
        "inspect": ["inspect", str(PREFIXES["quantized"])],
        "predict": ["predict", str(PREFIXES["exported"]), "bar.png"],
        "find-rate": ["find-rate", *line, "--steps", "20"],
        "profile": ["profile", *line, "--steps", "2", "--passes", "--plan", "--json", "profile.json"],
    }
    from PIL import Image

    Image.new("L", (8, 8)).save("bar.png")
    for name, words in commands.items():
        found[f"fields of {name} --json"] = list(dict.fromkeys(json_fields(words)))
    with open("new/journal.jsonl", encoding="utf-8") as file:
        for event in map(json.loads, file):
            fields = found.setdefault(f"fields of {event['event']} in the journal", [])
            fields += [key for key in event if key not in fields]
    for path in Path("new").rglob("*.h5"):
        kind, attributes, parts = hdf5_names(path)
        found["HDF5 attributes"] = attributes
        found[f"HDF5 objects of kind {kind}"] = parts
    for path in (*RUN.glob("inference/model.*"), *Path("../state").iterdir(), *Path("../static").iterdir()):
        kind = hdf5_names(path)[0]
        found[f"files of kind {kind}"] = [*found.get(f"files of kind {kind}", []), path.suffix]
    return found


def json_fields(words: list[str]) -> Iterator[str]:
    """All keys in the JSON that a command prints, with those of the objects within."""
    from studio.cli import app

    to_file = "--json" in words
    done = CliRunner().invoke(app, words if to_file else [*words, "--json"])
    if done.exit_code != 0:
        raise RuntimeError(f"{words}: {done.output}")
    for text in [Path(words[-1]).read_text()] if to_file else done.stdout.splitlines():
        yield from _fields(json.loads(text), "")


def _fields(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield f"{path}{key}"
            yield from _fields(each, f"{path}{key}.")
    elif isinstance(value, list):
        for each in value:
            yield from _fields(each, path)


def hdf5_names(path: Path) -> tuple[str, list[str], list[str]]:
    """The kind of a file, its root attributes and its objects."""
    import h5py

    with h5py.File(path, "r") as file:
        parts: list[str] = []
        file.visit(parts.append)
        return file.attrs["kind"].decode(), list(file.attrs), parts


def main() -> None:
    """Add new names to the record."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_DATA_HOME"] = str(Path(folder) / "home")
        use_key(KEY)
        project = copy_to(Path(folder), versions()[-1]) / "project"
        os.chdir(project)
        now = names_now(project)
    before = recorded_names() if RECORD.exists() else {}
    names = {what: sorted({*before.get(what, []), *now.get(what, [])}) for what in sorted({*before, *now})}
    RECORD.write_text(json.dumps(names, indent=1) + "\n")


if __name__ == "__main__":
    main()
