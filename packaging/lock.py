"""Writes the lock files and the bill of materials: python packaging/lock.py [--upgrade]

``program.txt`` and ``test.txt`` hold each package that the README's two commands install, with its version
and the hashes of all its files, for every supported Python and system. They also hold what builds the
project, so that nothing else is fetched. Without ``--upgrade`` the versions stay as far as pyproject.toml
allows it. The index is the one that pip is configured to use; the files name neither it nor a folder.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
UV = "uv>=0.13,<1"
# Hatchling asks for it when it builds an editable wheel.
EDITABLE = "editables>=0.3,<1"
# Each file with the extras that it adds.
FILES = {"test.txt": ("test",), "program.txt": (), "bundle.txt": ("bundle",)}
BILL = "sbom.cdx.json"
HEAD = "# Written by packaging/lock.py. Install with: pip install --require-hashes -r packaging/{name}\n"
PROJECT = "model-studio"


@dataclass(frozen=True)
class Locked:
    """A package of a lock file; ``needed_by`` are the names of the packages that require it."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]
    needed_by: frozenset[str]

    @property
    def url(self) -> str:
        """The package URL (purl) of this version."""
        return f"pkg:pypi/{self.name}@{self.version}"


def read_lock(path: Path) -> list[Locked]:
    """The packages of a lock file, in its order."""
    packages = []
    text = re.sub(r"\A(#.*\n)+", "", path.read_text(encoding="utf-8"))
    for block in re.split(r"\n(?=\S)", text.strip()):
        first = block.partition("\n")[0]
        found = re.fullmatch(r"([a-z0-9-]+)==(\S+)(?: ; (.*?))? \\", first)
        if found is None:
            raise SystemExit(f"{path.name}: a line that is not a locked package: {first!r}")
        needed_by = re.findall(
            r"^    #(?: via|  ) +([a-z0-9-]+)(?: \(pyproject\.toml\))?$", block, re.MULTILINE
        )
        hashes = tuple(re.findall(r"--hash=(sha256:[0-9a-f]{64})", block))
        packages.append(Locked(found[1], found[2], found[3] or "", hashes, frozenset(needed_by)))
    return packages


def together(one: str, other: str) -> bool:
    """Whether packages with these markers are installed together, as far as equal markers tell it."""
    return not one or not other or one == other


def bill_of_materials(project: dict[str, Any], packages: list[Locked]) -> str:
    """The CycloneDX document of the wheel: the program, and the packages that it needs to run.

    The wheel contains the program alone. A package has the version that CI tests on the oldest Python and,
    where that is different, the one for newer ones, each with its marker. What only builds or tests is
    omitted.
    """
    needed = {PROJECT}
    while more := {each.name for each in packages if each.needed_by & needed} - needed:
        needed |= more
    own = f"pkg:pypi/{PROJECT}@{project['version']}"
    listed = [each for each in packages if each.name in needed]
    components = []
    for each in listed:
        component: dict[str, Any] = {
            "type": "library",
            "bom-ref": each.url,
            "name": each.name,
            "version": each.version,
            "purl": each.url,
            "scope": "required",
        }
        if each.marker:
            component["properties"] = [{"name": f"{PROJECT}:marker", "value": each.marker}]
        components.append(component)
    graph = [
        {
            "ref": url,
            "dependsOn": sorted(
                each.url for each in listed if name in each.needed_by and together(marker, each.marker)
            ),
        }
        for name, url, marker in [
            (PROJECT, own, ""),
            *((each.name, each.url, each.marker) for each in listed),
        ]
    ]
    program = {
        "type": "application",
        "bom-ref": own,
        "name": PROJECT,
        "version": project["version"],
        "description": project["description"],
        "purl": own,
        "licenses": [{"license": {"id": project["license"]}}],
    }
    document: dict[str, Any] = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"lifecycles": [{"phase": "build"}], "component": program},
        "components": components,
        "dependencies": graph,
    }
    # The number follows from the content: the wheel has the same bytes whenever it is built.
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(document, sort_keys=True))
    document["serialNumber"] = f"urn:uuid:{number}"
    return json.dumps(document, indent=1) + "\n"


def pyproject() -> dict[str, Any]:
    """The content of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def written_bill(folder: Path = ROOT / "packaging") -> str:
    """The bill of materials that belongs to pyproject.toml and ``program.txt``."""
    return bill_of_materials(pyproject()["project"], read_lock(folder / "program.txt"))


def _uv_environment() -> dict[str, str]:
    """uv reads no configuration of pip: it gets pip's index and its certificates."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("UV_", "PIP_FIND"))
    }
    shown = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    ).stdout
    configured = dict(re.findall(r"^(?:global|install|:env:)\.(index-url|cert)='(.*)'$", shown, re.MULTILINE))
    if "index-url" in configured:
        environment["UV_DEFAULT_INDEX"] = configured["index-url"]
    if "cert" in configured:
        environment["SSL_CERT_FILE"] = configured["cert"]
    return environment


def main() -> None:
    """Write the files."""
    settings = pyproject()
    oldest = settings["project"]["requires-python"].removeprefix(">=")
    builds = "\n".join([*settings["build-system"]["requires"], EDITABLE])
    with tempfile.TemporaryDirectory() as made:
        subprocess.run([sys.executable, "-m", "venv", made], check=True)
        programs = Path(made) / ("Scripts" if os.name == "nt" else "bin")
        subprocess.run([programs / "python", "-m", "pip", "install", "-q", UV], check=True)
        command = [
            programs / "uv", "pip", "compile", "--quiet", "--no-header", "--universal", "--generate-hashes",
            "--no-emit-index-url", "--no-emit-find-links",
            "--python", sys.executable, "--python-version", oldest,
        ]  # fmt: skip
        if sys.argv[1:] == ["--upgrade"]:
            command.append("--upgrade")
        for name, extras in FILES.items():
            target = Path("packaging") / name
            words = [word for extra in extras for word in ("--extra", extra)]
            # The smaller file has the versions of the larger one.
            words += ["--constraint", "packaging/test.txt"] if name != "test.txt" else []
            subprocess.run(
                [*command, *words, "--output-file", target, "pyproject.toml", "-"],
                cwd=ROOT, input=builds, text=True, env=_uv_environment(), check=True,
            )  # fmt: skip
            path = ROOT / target
            path.write_text(HEAD.format(name=name) + path.read_text(encoding="utf-8"), encoding="utf-8")
    (ROOT / "packaging" / BILL).write_text(written_bill(), encoding="utf-8")


if __name__ == "__main__":
    main()
