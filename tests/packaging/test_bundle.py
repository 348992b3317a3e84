"""What the bundle contains, by the descriptions that build it: desktop files, licences, dependencies."""

from __future__ import annotations

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from configparser import ConfigParser
from pathlib import Path

import pytest

from resources.system_libraries import PACKAGES
from tests.arch.repository_files import ROOT
from tests.packaging.bundle_modules import FOLDER, module

contents, debian, licences = module("contents"), module("licences") and module("debian"), module("licences")
SHARE = FOLDER / "share"
DESKTOP, TYPES = SHARE / "model-studio.desktop", SHARE / "model-studio.xml"
(METAINFO,) = SHARE.glob("*.metainfo.xml")
_MIME = "{http://www.freedesktop.org/standards/shared-mime-info}"


def _types() -> set[str]:
    return {each.attrib["type"] for each in ET.parse(TYPES).getroot()}


def _entry() -> dict[str, str]:
    reader = ConfigParser(interpolation=None)
    reader.optionxform = str  # type: ignore[assignment,method-assign]
    reader.read(DESKTOP, encoding="utf-8")
    return dict(reader["Desktop Entry"])


def test_the_desktop_entry_opens_the_types_that_the_bundle_declares() -> None:
    from studio.cli import COMMANDS

    entry = _entry()
    program, command, file = entry["Exec"].split()
    assert (program, file) == ("model-studio", "%f")
    assert command in COMMANDS
    assert set(entry["MimeType"].rstrip(";").split(";")) == _types()
    assert (ROOT / f"resources/icons/{entry['Icon']}.svg").is_file()
    assert {"Name[zh_CN]", "Comment[zh_CN]"} <= entry.keys()


def test_the_types_have_the_endings_that_the_window_opens() -> None:
    from studio.session.project.dropped_files import MODELS
    from studio.session.project.project_file import SUFFIX

    globs = {each.attrib["pattern"] for each in ET.parse(TYPES).iter(f"{_MIME}glob")}
    assert globs == {f"*{MODELS[-1]}", f"*{SUFFIX}"}


def test_the_description_for_software_centres_names_the_same() -> None:
    root = ET.parse(METAINFO).getroot()
    assert root.findtext("id") == METAINFO.name.removesuffix(".metainfo.xml")
    assert root.findtext("launchable") == DESKTOP.name
    assert {each.text for each in root.iter("mediatype")} == _types()
    assert root.findtext("summary") == _entry()["Comment"]


@pytest.mark.skipif(
    shutil.which("desktop-file-validate") is None, reason="desktop-file-utils is not installed"
)
def test_the_desktop_entry_is_valid() -> None:
    done = subprocess.run(["desktop-file-validate", DESKTOP], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.skipif(shutil.which("appstreamcli") is None, reason="appstream is not installed")
def test_the_description_is_valid(tmp_path: Path) -> None:
    text = METAINFO.read_text(encoding="utf-8").replace("@VERSION@", "0.1.0").replace("@DATE@", "2026-11-30")
    file = tmp_path / METAINFO.name
    file.write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["appstreamcli", "validate", "--no-net", "--no-color", "--pedantic", file],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "pedantic" not in done.stdout, done.stdout


def test_the_manual_page_names_the_command() -> None:
    text = (SHARE / "model-studio.1").read_text(encoding="utf-8")
    assert text.startswith(".TH MODEL-STUDIO 1 ")
    assert "model-studio open" in text


@pytest.mark.parametrize(
    ("name", "is_wanted"),
    [
        ("engine/ops/__init__.py", True),
        ("resources/guide/zh_CN/README.md", True),
        ("resources/words/zh_CN.po", True),
        ("numpy/typing/__init__.py", True),
        ("numpy/_core/tests/test_umath.py", False),
        ("h5py/tests/test_file.py", False),
        ("numpy.libs/libscipy_openblas64_-1.so", True),
        ("pyqtgraph/examples/main.py", False),
        ("PySide6/QtCore.pyi", False),
        ("PySide6/__init__.py", True),
        ("PySide6/QtQml.abi3.so", False),
        ("PySide6/QtCore.abi3.so", True),
        ("PySide6/Qt/qml/QtQuick/qmldir", False),
        ("PySide6/Qt/translations/qtbase_zh_CN.qm", True),
        ("PySide6/Qt/translations/qtbase_de.qm", False),
        ("pygments/lexers/python.py", True),
        ("pygments/lexers/haskell.py", False),
        ("numpy-2.4.6.dist-info/METADATA", True),
        ("numpy-2.4.6.dist-info/RECORD", False),
        ("../../../bin/f2py", False),
    ],
)
def test_which_files_of_packages_the_bundle_has(name: str, is_wanted: bool) -> None:
    assert contents.wanted(name, frozenset({"PySide6/QtCore.abi3.so"})) is is_wanted


def test_the_window_imports_only_modules_of_qt_that_the_bundle_has() -> None:
    found = set()
    for folder in ("studio", "widgets"):
        for path in (ROOT / folder).rglob("*.py"):
            found |= set(re.findall(r"from PySide6\.(\w+) import", path.read_text(encoding="utf-8")))
    assert found == set(contents.MODULES)


def test_the_program_needs_what_its_metadata_name() -> None:
    site = Path(__import__("numpy").__file__).parents[1]
    pytest.importorskip("packaging")
    found = contents.closure(site, "h5py")
    assert list(found) == ["h5py", "numpy"]
    assert list(contents.closure(site, "h5py", without=["numpy"])) == ["h5py"]
    with pytest.raises(SystemExit, match="nothing-such is not installed"):
        contents.closure(site, "nothing-such")


def test_each_library_has_a_package_and_others_are_refused() -> None:
    found = debian.depends({"libc.so.6": ["x"], "libssl.so.3": ["_ssl.so"]}, PACKAGES, "2.34")
    assert found[0] == "libc6 (>= 2.34)"
    assert {"libssl3t64 | libssl3", "libegl1"} <= set(found)
    assert debian.depends({"libz.so.1": ["x"]}, {}, "2.17") == ("libc6 (>= 2.17)", "zlib1g")
    with pytest.raises(SystemExit, match=r"of no package .*: libfoo\.so\.1 \(by a\.so\)"):
        debian.depends({"libfoo.so.1": ["a.so"]}, PACKAGES, "2.34")


def test_the_control_file_has_the_lists_and_folds_the_text() -> None:
    package = debian.Package("model-studio", "1.0", ("libc6", "zlib1g"), (), "a studio", "word " * 40)
    lines = debian.control(package, 2049).splitlines()
    assert "Depends: libc6, zlib1g" in lines
    assert "Installed-Size: 3" in lines
    assert not any(line.startswith("Recommends") for line in lines)
    assert lines[lines.index("Description: a studio") + 1].startswith(" word")


def test_the_copyright_file_has_a_paragraph_and_a_text_for_each_part() -> None:
    site = Path(__import__("numpy").__file__).parents[1]
    pytest.importorskip("packaging")
    packages = contents.closure(site, "h5py")
    parts = [licences.of_loader(), *(licences.of_package(each) for each in packages.values())]
    text = debian.copyright_file(parts, "Model Studio")
    assert text.startswith("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n")
    assert "Files: usr/lib/model-studio/_internal/lib/python*/site-packages/h5py/*" in text
    assert "Copyright (c) 2005-" in text  # NumPy's
    named = re.findall(r"^License: (\S+)$", text, re.MULTILINE)
    assert sorted(set(named)) == sorted(named[: len(parts)])
    assert named[: len(parts)] == named[len(parts) :]
    assert not re.search(r"^ *\t|^$(?=\n )", text, re.MULTILINE)


def test_qt_says_under_which_licence_and_where_its_sources_are() -> None:
    site = Path(__import__("PySide6").__file__).parents[1]
    pytest.importorskip("packaging")
    found = licences.of_package(contents.closure(site, "PySide6-Essentials")["pyside6-essentials"])
    assert found.short == "LGPL-3"
    assert "download.qt.io" in found.comment
    assert "replace them" in found.comment


def test_the_bundle_names_what_to_install_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    from resources import installing

    assert installing.extra("gpu") == "pip install 'model-studio[gpu]'"
    assert installing.fast() == "pip install llvmlite"
    monkeypatch.setattr(installing, "BUNDLED", True)
    assert installing.extra("gpu") == (
        "use Model Studio from pip instead of this bundle: pip install 'model-studio[gpu]'"
    )
    assert installing.fast(repair=True) == "sudo apt install --reinstall ./model-studio-fast_*.deb"
