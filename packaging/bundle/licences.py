"""The licences of all parts of the bundle, read from what Python and the packages bring."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import Distribution
from pathlib import Path

QT = ("pyside6-essentials", "shiboken6")
_PREFIX = "usr/lib/model-studio"
_QT_NOTE = """\
Qt {version}, its modules Core, DBus, Gui, OpenGL, Svg, WaylandClient, Widgets and XcbQpa with their
plugins, ICU, and Qt for Python, used under the GNU Lesser General Public License, version 3. They are the
unchanged files of the packages PySide6_Essentials and shiboken6 {version} of pypi.org. Their sources:
https://download.qt.io/official_releases/ (folders qt and QtForPython). They are shared libraries in
lib/python*/site-packages/PySide6 and shiboken6: you may replace them by changed ones with the same
interface, and the program then uses yours. ICU has the Unicode licence, https://www.unicode.org/license.txt"""
_APACHE = """\
Apache License, version 2.0; see /usr/share/common-licenses/Apache-2.0 on Debian, or the folder licences of
the archive."""
_LGPL = """\
GNU Lesser General Public License, version 3; see /usr/share/common-licenses/LGPL-3 and GPL-3 on Debian, or
the folder licences of the archive."""
_LOADER = """\
The program that starts Python, and four of its modules, are PyInstaller's loader. Its licence is the GPL,
version 2 or later, with this exception: "In addition to the permissions in the GNU General Public License,
the authors give you unlimited permission to link or embed compiled bootloader and related files into
combinations with other programs, and to distribute those combinations without any restriction coming from
the use of those files." The text of the GPL: /usr/share/common-licenses/GPL-2 on Debian."""


@dataclass(frozen=True)
class Licence:
    """The licence of the part ``name``, whose files match ``files``; ``short`` is its name or expression."""

    name: str
    files: tuple[str, ...]
    short: str
    holder: str
    text: str
    comment: str = ""


def of_program(program: Distribution) -> Licence:
    """That of Model Studio itself: all files but those of the others."""
    return Licence(
        program.metadata["Name"], ("*",), "Apache-2.0", "The Model Studio developers", _APACHE,
        "The parts below have licences of their own; debian/copyright is this file.",
    )  # fmt: skip


def of_python(stdlib: Path, version: str) -> Licence:
    """That of Python and its standard library."""
    text = (stdlib / "LICENSE.txt").read_text(encoding="utf-8")
    files = (
        f"{_PREFIX}/_internal/libpython*",
        f"{_PREFIX}/_internal/lib/python*",
        f"{_PREFIX}/_internal/python*",
    )
    return Licence(f"Python {version}", files, "PSF-2.0", "Python Software Foundation", text)


def of_loader() -> Licence:
    """That of the program which starts Python."""
    short = "GPL-2+-with-Bootloader-exception"
    return Licence(
        "PyInstaller", (f"{_PREFIX}/model-studio",), short, "PyInstaller Development Team", _LOADER
    )


def of_package(package: Distribution, folder: str = "_internal/lib/python*/site-packages") -> Licence:
    """That of a package, with all texts that its wheel has."""
    name = package.metadata["Name"]
    tops = sorted(
        {each.parts[0] for each in package.files or [] if each.parts[0] not in ("..", "__pycache__")}
    )
    files = tuple(f"{_PREFIX}/{folder}/{top}" + ("" if top.endswith(".py") else "/*") for top in tops)
    if name.lower().replace("_", "-") in QT:
        note = _QT_NOTE.format(version=package.version)
        return Licence(name, files, "LGPL-3", "The Qt Company Ltd. and other contributors", _LGPL, note)
    text = _texts(package)
    found = [line.strip(" #*") for line in text.splitlines() if re.match(r"[\s#*]*Copyright\b.*\d{4}", line)]
    holder = "\n ".join(dict.fromkeys(found[:6])) or _author(package)
    return Licence(f"{name} {package.version}", files, _short(package), holder, text)


def _author(package: Distribution) -> str:
    data = package.metadata
    return str(data["Author"] or data["Author-email"] or f"the authors of {data['Name']}")


def _short(package: Distribution) -> str:
    """The licence as the metadata name it, without the words that Debian's format has a syntax for."""
    data = package.metadata
    named = data["License-Expression"] or data["License"] or ""
    for classifier in data.get_all("Classifier") or []:
        if not named and classifier.startswith("License :: "):
            named = classifier.rpartition(" :: ")[2]
    words = re.sub(r"[^\w.+-]+", "-", named.partition("\n")[0]).strip("-")
    if not words:
        raise SystemExit(
            f"{data['Name']}: its metadata name no licence; look at the project, then at this file"
        )
    return words


def _texts(package: Distribution) -> str:
    """All licence texts of a package, each with its name where there are several."""
    names = re.compile(r"(^|/)(LICEN[CS]E|COPYING|NOTICE|AUTHORS)[^/]*$|\.dist-info/licenses/", re.IGNORECASE)
    files = [
        each
        for each in package.files or []
        if ".dist-info/" in each.as_posix() and names.search(each.as_posix())
    ]
    texts = {
        each.as_posix().partition(".dist-info/")[2]: Path(str(each.locate()))
        for each in sorted(files, key=str)
    }
    found = [(name, path.read_text(encoding="utf-8", errors="replace")) for name, path in texts.items()]
    if not found:
        # The wheel has no text: the name says which it is.
        return f"The licence of {package.metadata['Name']}, as its metadata name it: {_short(package)}."
    if len(found) == 1:
        return found[0][1]
    return "\n\n".join(f"----- {name} -----\n\n{text}" for name, text in found)


def all_of(
    program: Distribution, packages: Iterable[Distribution], stdlib: Path, version: str
) -> list[Licence]:
    """The licences of the bundle, from the most general pattern to the most special."""
    others = [of_package(each) for each in packages if each.metadata["Name"] != program.metadata["Name"]]
    return [of_program(program), of_python(stdlib, version), of_loader(), *others]
