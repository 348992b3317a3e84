"""Guided fuzzing of the hottest parsers: `python -m tests.robust.atheris_fuzz SECONDS`, if atheris is there.

atheris (https://github.com/google/atheris) is not a dependency; without it this says so and ends. The first
byte of an input chooses the parser. Inputs that reached new code are kept in a temporary folder.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path


def main() -> None:
    """Run for the seconds given; ends with status 1 at the first error that no parser documents."""
    try:
        import atheris
    except ImportError:
        print("skipped: atheris is not installed (pip install atheris)")
        return
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    with atheris.instrument_imports(
        include=["engine.files", "engine.program.saved", "resources", "studio.session"]
    ):
        from engine.core.errors import EngineError
        from engine.files.journal import parse_event
        from engine.files.native.image import ImageError
        from engine.files.native.tree import encode_tree
        from engine.files.native.userblock import SIZE, parse_user_block
        from studio.session.predict.info_file_check import checked_information
        from studio.session.runs.journal_ends import _event
        from tests.robust.container_readers import read_document, tree
        from tests.robust.corpus import sample
        from tests.robust.model_readers import programs, read_program
        from tests.robust.reader import check_message

    here = Path("file")

    def values(read: Callable[[object], object]) -> Callable[[bytes], object]:
        def of_json(data: bytes) -> object:
            try:
                found = json.loads(data)
            except (ValueError, RecursionError):
                return None
            return read(found)

        return of_json

    parsers: list[Callable[[bytes], object]] = [
        lambda data: parse_user_block(data[:SIZE], len(data), here),
        lambda data: read_document(data, here),
        parse_event,
        _event,
        values(lambda found: checked_information(found, here)),
        values(lambda found: read_program(found, here)),
    ]

    def one_input(data: bytes) -> None:
        if data:
            try:
                parsers[data[0] % len(parsers)](data[1:])
            except (EngineError, ImageError) as error:
                check_message(error)

    folder = Path(tempfile.mkdtemp(prefix="model-studio-atheris-"))
    document = encode_tree(tree("state.pdparams"))[0]
    seeds = [b"\0" + sample("state.pdparams")[:SIZE], b"\1" + document]
    seeds += [bytes([2 + n]) + line for n in (0, 1) for line in sample("journal.jsonl").splitlines()]
    information = json.dumps(tree("pictures.pdiparams.info")["info"], default=str).encode()
    seeds += [b"\4" + information, *(b"\5" + json.dumps(plain, default=str).encode() for plain in programs())]
    for number, seed in enumerate(seeds):
        (folder / str(number)).write_bytes(seed)
    atheris.Setup(
        [sys.argv[0], f"-max_total_time={seconds}", "-max_len=40000", "-timeout=5", str(folder)], one_input
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
