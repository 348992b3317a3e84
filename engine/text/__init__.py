"""Paddle's ``text``: data sets of text, and the decoding of tag sequences."""

from engine.text import datasets
from engine.text.datasets import WMT14, WMT16, Conll05st, Imdb, Imikolov, Movielens, UCIHousing
from engine.text.viterbi import ViterbiDecoder, viterbi_decode

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
