"""The import arrows of the house (contracts in pyproject.toml), and what the core may import."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path


def test_contracts_hold(repo_root: Path) -> None:
    code = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
    env = os.environ | {"PYTHONPATH": str(repo_root), "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code, "--no-cache"],
        cwd=repo_root,
        env=env,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " 0 broken" in done.stdout


def test_core_imports_numpy_and_the_standard_library_only(repo_root: Path) -> None:
    allowed = set(sys.stdlib_module_names) | {"numpy"}
    leaves = {"resources.own_packages", "resources.installing"}  # import the standard library alone
    unknown = []
    for path in sorted((repo_root / "engine" / "core").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or "."]
            else:
                continue
            unknown += [
                f"{path.relative_to(repo_root)}:{node.lineno}: {name}"
                for name in names
                if name.partition(".")[0] not in allowed
                and not name.startswith("engine.core")
                and name not in leaves
            ]
    assert unknown == []
