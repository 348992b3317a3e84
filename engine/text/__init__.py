"""Paddle's ``text``: data sets of text, and the decoding of tag sequences."""

from engine.tensor.arguments.caught import explain_public as _explain_public
from engine.text import datasets
from engine.text.datasets import WMT14, WMT16, Conll05st, Imdb, Imikolov, Movielens, UCIHousing
from engine.text.viterbi import ViterbiDecoder, viterbi_decode

_explain_public(globals())

__all__ = [
    "Conll05st",
    "Imdb",
    "Imikolov",
    "Movielens",
    "UCIHousing",
    "WMT14",
    "WMT16",
    "ViterbiDecoder",
    "viterbi_decode",
]
