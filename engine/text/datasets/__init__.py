"""Data sets of text, from local archives."""

from engine.text.datasets.conll05 import Conll05st
from engine.text.datasets.housing import UCIHousing
from engine.text.datasets.imdb import Imdb
from engine.text.datasets.imikolov import Imikolov
from engine.text.datasets.movielens import Movielens
from engine.text.datasets.translation import WMT14, WMT16

__all__ = ["Conll05st", "Imdb", "Imikolov", "Movielens", "UCIHousing", "WMT14", "WMT16"]
