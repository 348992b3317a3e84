"""The child process that reads a foreign ONNX file first, run by ``engine.files.untrusted.guarded``.

It reads the request and writes the verdict as ``engine/files/untrusted/guarded_child.py`` does.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.files.untrusted.guarded import FileRequest, LimitedRequest


def main() -> None:
    """Read every file of the request as the parent will, and write the verdict."""
    request: LimitedRequest = json.load(sys.stdin.buffer)
    sys.path.extend([*request["folders"], str(Path(request["engine"]).parent)])
    from engine.core.errors import EngineError
    from engine.files.untrusted import guarded
    from engine.files.untrusted.limits import limit_this_process
    from engine.onnx import read_file
    from engine.onnx.read_model import import_rows

    guarded.this_is_a_child()
    import_rows()  # all imports come before the limit on memory
    read_file.onnx_package()
    refused: str | None = None
    limit_this_process(request["memory"], request["cpu_seconds"])
    try:
        for file in request["files"]:
            read(file)
    except EngineError as error:
        refused = str(error)
    except MemoryError:
        refused = (
            f"{file['shown']}: reading it takes more memory than its size explains: over "
            f"{request['memory'] // 1024**2} MB; don't use it, get it again from a source "
            "that you trust"
        )
    sys.stdout.write(json.dumps({"refused": refused}))


def read(file: FileRequest) -> None:
    """Read one file as the parent will. Raises EngineError if it is refused."""
    import hashlib

    from engine.core.errors import FormatError
    from engine.onnx.read_file import parse, read_content

    content = read_content(Path(file["path"]))
    if hashlib.sha256(content).hexdigest() != file["sha256"]:
        raise FormatError(f"{file['shown']}: the file changed while it was read; read it again")
    parse(content, Path(file["shown"]))


if __name__ == "__main__":
    main()
