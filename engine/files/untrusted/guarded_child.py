"""The child process that reads a foreign file first: a script that engine.files.untrusted.guarded runs.

It reads one JSON request from standard input and writes one JSON verdict to standard output: ``{"refused":
null}``, or a message instead of null. Anything else, such as no verdict after a crash, counts as a refusal.
"""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.files.untrusted.guarded import FileRequest, LimitedRequest


def main() -> None:
    """Read every file of the request to its end and write the verdict."""
    request: LimitedRequest = json.load(sys.stdin.buffer)
    sys.path.extend(request["folders"])
    # The engine's own __init__ would import all of the engine; an empty package finds the modules below it.
    for name in ("engine", "resources"):  # neighbours, in the sources and where they are installed
        package = types.ModuleType(name)
        package.__path__ = [str(Path(request["engine"]).with_name(name))]
        sys.modules[name] = package
    from engine.core.errors import EngineError
    from engine.files.untrusted.limits import limit_this_process

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
    from engine.core.errors import FormatError
    from engine.files.native.checked import Expected, decode, load_checked

    if file["foreign"]:
        from engine.files.untrusted.foreign_readers import read_foreign

        read_foreign(str(file["kind"]), Path(file["path"]), file["shown"], bytes.fromhex(file["sha256"]))
        return
    block, data = load_checked(Path(file["path"]))
    if block.digest.hex() != file["sha256"]:
        raise FormatError(f"{file['shown']}: the file changed while it was read; read it again")
    kind = file["kind"] if isinstance(file["kind"], str) else tuple(file["kind"])
    decode(Expected(Path(file["shown"]), kind, file["max_version"]), block, data)


if __name__ == "__main__":
    main()
