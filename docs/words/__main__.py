"""Brings the catalogues in resources/words up to date: ``python -m docs.words``, in the top folder.

Texts that a catalogue lacks are added without a translation, those that no source has are marked as unused.
``--check`` only checks; ``--take FILE`` takes translations from a JSON file, by their English texts, or from
another PO file; ``--todo`` prints the texts without a translation as JSON, ``--todo messages`` the messages;
``--share`` prints how many have one; ``--clean`` deletes unused entries.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from docs.words.collecting import collected
from docs.words.messages import messages
from docs.words.updating import catalogue_files, read, take, text_of, translations_of, updated
from resources.words.catalogue import entry_problem


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status: 1 where something is wrong or, with ``--check``, not current."""
    parser = argparse.ArgumentParser(prog="python -m docs.words", description=__doc__)
    parser.add_argument("--language", default="zh_CN", choices=list(catalogue_files()))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--take", metavar="FILE", nargs="+", type=Path)
    parser.add_argument("--todo", nargs="?", const="texts", choices=("texts", "messages"))
    parser.add_argument("--share", action="store_true")
    parser.add_argument("--clean", action="store_true")
    asked = parser.parse_args(arguments)
    found, templates = collected(), messages()
    texts = {key[0]: files for key, files in found.texts.items()}
    others = {text: files for text, files in templates.items() if text not in texts}
    path = catalogue_files()[asked.language]
    file = read(path)
    problems = [*found.faults, *file.problems]
    for source in asked.take or ():
        problems += take(file, translations_of(source), templates)
    change = updated(file, found.texts, templates)
    problems += [
        f"line {entry.line}: {problem}" for entry in file.entries if (problem := entry_problem(entry))
    ]
    if asked.clean:
        file.entries = [entry for entry in file.entries if not entry.unused]
    translated = {entry.text for entry in file.entries if entry.translated and not entry.unused}
    if asked.todo:
        wanted = others if asked.todo == "messages" else texts
        todo = {text: sorted(files) for text, files in wanted.items() if text not in translated}
        print(json.dumps(todo, ensure_ascii=False, indent=1))
        return 0
    if asked.share:
        for name, all_of_them in (("texts", texts), ("messages", others)):
            done, count = len(translated & all_of_them.keys()), len(all_of_them)
            print(f"{name}: {done} of {count} translated ({100 * done / count:.0f} %)")
        return 0
    text = text_of(file, asked.language)
    is_current = path.is_file() and path.read_text(encoding="utf-8") == text
    if not asked.check:
        path.write_text(text, encoding="utf-8")
        counts = len(change.absent), len(change.unused), len(translated)
        print("{}: {} new, {} unused, {} translated".format(path.name, *counts))
    elif not is_current:
        problems.append(f"{path.name} is not current; run python -m docs.words")
    for problem in problems:
        print(problem, file=sys.stderr)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
