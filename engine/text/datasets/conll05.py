"""CoNLL-2005: who does what to whom, the labels of semantic roles in sentences."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np

from engine.core.errors import FormatError
from engine.files.data.archives import file_lines, tar_file, text_lines, unpacked
from engine.io.dataset import Dataset
from engine.text.datasets.sources import Source, located

_HOST = "http://paddlemodels.bj.bcebos.com/"
SOURCES = {
    "data_file": Source(
        "conll05st", f"{_HOST}conll05st/conll05st-tests.tar.gz", "387719152ae52d60422c016e92a742fc"
    ),
    "word_dict_file": Source(
        "conll05st", f"{_HOST}conll05st%2FwordDict.txt", "ea7fb7d4c75cc6254716f0177a506baa"
    ),
    "verb_dict_file": Source(
        "conll05st", f"{_HOST}conll05st%2FverbDict.txt", "0d2977293bbb6cbefab5b0f97db1e77c"
    ),
    "target_dict_file": Source(
        "conll05st", f"{_HOST}conll05st%2FtargetDict.txt", "d8c7f03ceb5fc2e5a0fa7503a4353751"
    ),
    "emb_file": Source("conll05st", f"{_HOST}conll05st%2Femb", "bf436eb0faa1f6f9103017f8be57cdb7"),
}
_FILES = tuple(f"conll05st-release/test.wsj/{part}/test.wsj.{part}.gz" for part in ("words", "props"))
_UNKNOWN = 0


class Conll05st(Dataset):
    """Items are nine arrays over the words of a sentence, for one of its verbs.

    They are the words, the second and the first word before the verb, the verb, the first and the second
    word after it (each repeated), the verb's number among verbs (repeated), marks of these five places, and
    the labels.

    Differs from Paddle: labels are numbered as they first occur in the file; there the order of a set
    numbers them, which changes from process to process.

    Args:
        data_file: the archive ``conll05st-tests.tar.gz``; by default the one on this machine, else a
            download. So are the others.
        word_dict_file: a word a line.
        verb_dict_file: a verb a line.
        target_dict_file: a label a line, as ``B-A0``.
        emb_file: the embeddings, whose path ``get_embedding`` gives.
        download: fetch the files that are absent.

    Raises:
        ConditionError: a file is not given, and no download.
        AbsentError, DataError, FormatError: a file is absent, unreadable, not of this form.
    """

    def __init__(
        self,
        data_file: str | os.PathLike[str] | None = None,
        word_dict_file: str | os.PathLike[str] | None = None,
        verb_dict_file: str | os.PathLike[str] | None = None,
        target_dict_file: str | os.PathLike[str] | None = None,
        emb_file: str | os.PathLike[str] | None = None,
        download: bool = True,
    ) -> None:
        def found(argument: str, given: str | os.PathLike[str] | None) -> str:
            return located("Conll05st", argument, given, SOURCES[argument], download)

        self.data_file = found("data_file", data_file)
        self.word_dict_file = found("word_dict_file", word_dict_file)
        self.verb_dict_file = found("verb_dict_file", verb_dict_file)
        self.target_dict_file = found("target_dict_file", target_dict_file)
        self.emb_file = found("emb_file", emb_file)
        self.word_dict, self.predicate_dict, self.label_dict = dictionaries(
            self.word_dict_file, self.verb_dict_file, self.target_dict_file
        )
        self.sentences: list[list[str]] = []
        self.predicates: list[str] = []
        self.labels: list[list[str]] = []
        for words, columns in self._sentences():
            verbs = [verb for verb in columns[0] if verb != "-"]
            if len(verbs) < len(columns) - 1:
                raise FormatError(
                    f"{self.data_file}: a sentence has more labels than verbs: {' '.join(words)}"
                )
            for verb, column in zip(verbs, columns[1:], strict=False):
                self.sentences.append(words)
                self.predicates.append(verb)
                self.labels.append(self._roles(column))

    def _sentences(self) -> Iterator[tuple[list[str], list[tuple[str, ...]]]]:
        """Words, and the columns of their labels, of each sentence; a line without labels ends one."""
        words_file, labels_file = (
            text_lines(self.data_file, unpacked(self.data_file, data))
            for data in tar_file(self.data_file, *_FILES)
        )
        words: list[str] = []
        rows: list[list[str]] = []
        for word, row in zip(words_file, labels_file, strict=False):
            if row.split():
                words.append(word.strip())
                rows.append(row.split())
            elif rows:
                if len({len(each) for each in rows}) > 1:
                    raise FormatError(f"{self.data_file}: a sentence has uneven columns: {' '.join(words)}")
                yield words, list(zip(*rows, strict=True))
                words, rows = [], []

    def _roles(self, column: tuple[str, ...]) -> list[str]:
        """``(A0*``, ``*``, ``*)`` as ``B-A0``, ``I-A0``, ``I-A0``."""
        roles, tag, inside = [], "O", False
        for label in column:
            if "(" in label:
                tag = label[1 : label.find("*")]
                roles.append(f"B-{tag}")
                inside = ")" not in label
            elif label == "*":
                roles.append(f"I-{tag}" if inside else "O")
            elif label == "*)":
                roles.append(f"I-{tag}")
                inside = False
            else:
                raise FormatError(f"{self.data_file}: Unexpected label: {label}; download it again")
        return roles

    def __getitem__(self, idx: int) -> tuple[np.ndarray, ...]:
        sentence, labels = self.sentences[idx], self.labels[idx]
        if "B-V" not in labels:
            raise FormatError(f"{self.data_file}: sentence {idx} has no verb (B-V): {' '.join(sentence)}")
        verb = labels.index("B-V")
        marks = [0] * len(labels)
        around = []
        for place in range(verb - 2, verb + 3):
            if 0 <= place < len(labels):
                marks[place] = 1
                around.append(sentence[place])
            else:
                around.append("bos" if place < 0 else "eos")
        length = len(sentence)
        neighbours = [np.array([self.word_dict.get(word, _UNKNOWN)] * length) for word in around]
        return (
            np.array([self.word_dict.get(word, _UNKNOWN) for word in sentence]),
            *neighbours,
            np.array([self.predicate_dict.get(self.predicates[idx])] * length),
            np.array(marks),
            np.array([self.label_dict.get(label) for label in labels]),
        )

    def __len__(self) -> int:
        return len(self.sentences)

    def get_dict(self) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
        """The numbers of words, of verbs and of labels."""
        return self.word_dict, self.predicate_dict, self.label_dict

    def get_embedding(self) -> str:
        """The path of the file of embeddings."""
        return self.emb_file


def dictionaries(
    words: str, verbs: str, labels: str
) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """The numbers of words, of verbs and of labels in the files at these paths."""
    return _numbered(words), _numbered(verbs), _labels(file_lines(labels))


def _numbered(path: str) -> dict[str, int]:
    return {line.strip(): n for n, line in enumerate(file_lines(path))}


def _labels(lines: list[str]) -> dict[str, int]:
    tags = dict.fromkeys(line.strip()[2:] for line in lines if line.strip().startswith(("B-", "I-")))
    found = {f"{kind}-{tag}": 2 * n + (kind == "I") for n, tag in enumerate(tags) for kind in "BI"}
    return {**found, "O": len(found)}
