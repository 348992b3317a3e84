"""The process that parses a large source: reads it from its input and prints its outline as JSON."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path


def main() -> None:
    """Parse the source; its warnings are of no use here."""
    sys.path.append(str(Path(__file__).resolve().parents[1]))  # started without site-packages
    from resources.code_outline import code_outline, outline_to_plain

    warnings.simplefilter("ignore")
    json.dump(outline_to_plain(code_outline(sys.stdin.buffer.read())), sys.stdout)


if __name__ == "__main__":
    main()
