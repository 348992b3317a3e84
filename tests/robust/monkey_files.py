"""What the monkey drops on the window and types into file dialogs: good, damaged and odd files."""

from __future__ import annotations

import os
import random
from pathlib import Path

from docs.own_data import images, sequences, table
from tests.robust.corpus import FOLDER, names, sample
from tests.robust.mutations import mutated_bytes
from tests.robust.small_training import MODEL, write_few, write_model

# Code that is agreed to now and then; the child that imports it is the only one that suffers.
CODE = {
    "syntax.py": "class Net(\n",
    "raises.py": "raise SystemExit(3)\n",
    "sleeps.py": f"import time\n{MODEL}\ntime.sleep(1e6)\n",
    "loud.py": f"{MODEL}\nprint('x' * 100_000)\n",
    "other_shape.py": MODEL.replace("784, 10", "7, 10"),
    "two.py": f"{MODEL}\n\nclass Other(Net):\n    pass\n",
}


def write_files(folder: Path, seed: int) -> None:
    """Fill ``folder``; the same seed gives the same files."""
    draw = random.Random(seed)
    good, bad, odd = (folder / name for name in ("good", "damaged", "odd"))
    for each in (good, bad, odd):
        each.mkdir(parents=True)
    few = good / "few"
    few.mkdir()
    write_few(few)
    write_model(good)
    images(good / "shapes", each=6, least=16)
    flat = good / "photos"
    flat.mkdir()
    for number, path in enumerate(sorted((good / "shapes").glob("*/*.png"))):
        os.link(path, flat / f"IMG_{number:03}.png")
    table(good / "flats.csv", numbers=False, rows=60)
    table(good / "rents.csv", numbers=True, rows=60)
    sequences(good / "waves.npz", count=30, most=8)
    for name, text in CODE.items():
        (good / name).write_text(text)
    others = [sample(name) for name in names()]
    own = [path for path in good.iterdir() if path.is_file() and path.suffix in (".csv", ".npz")]
    for path in [*(FOLDER / name for name in names()), *own]:
        data = path.read_bytes()
        (good / path.name).write_bytes(data)
        (bad / path.name).write_bytes(mutated_bytes(data, draw, others))
    _odd(odd)


def _odd(folder: Path) -> None:
    (folder / "empty.csv").write_bytes(b"")
    (folder / "empty.studio.json").write_bytes(b"")
    (folder / "long.csv").write_bytes(b"a,b\n" + b"1," * 20_000)
    (folder / "one\nline.png").write_bytes(sample("digit.png"))
    (folder / "<b>bold<i>.csv").write_text("a,b\n1,2\n3,4\n")
    (folder / "unknown.xyz").write_bytes(bytes(range(256)))
    (folder / "state.pdparams").write_bytes(sample("harm.pickle"))
    (folder / "nothing").mkdir()
    (folder / "dangling.npz").symlink_to(folder / "missing")
    (folder / "itself").symlink_to(folder)
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "secret.csv").write_text("a,b\n1,2\n")
    (folder / "secret.csv").chmod(0)
    os.mkfifo(folder / "pipe.csv")
    os.mkfifo(folder / "pipe.png")


def paths(folder: Path) -> list[Path]:
    """All that may be dropped, in one order."""
    return [
        *sorted(path for part in ("good", "damaged", "odd") for path in (folder / part).iterdir()),
        folder / "gone",
    ]
