"""``import six`` in scripts that the engine runs, where the package is not installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]

SCRIPT = """
import io
import six
assert six.moves.xrange is range
import six.moves.cPickle as pickle
import six.moves.urllib as urllib
from six import iteritems, string_types
from six.moves import reduce, xrange, zip_longest
from six.moves.urllib.parse import urlparse
from six.moves.queue import Queue

assert (six.PY2, six.PY3, six.MAXSIZE > 0) == (False, True, True)
assert list(iteritems({1: 2})) == [(1, 2)] and list(six.itervalues({1: 2})) == [2] == list(xrange(2, 3))
assert isinstance("a", string_types) and isinstance(b"", six.binary_type) and six.integer_types == (int,)
assert pickle.loads(pickle.dumps(3)) == 3 and urllib.parse.quote(" ") == "%20" and urllib.request
assert urlparse("http://a/b").netloc == "a" and Queue().empty() and six.moves.range is range
assert reduce(lambda a, b: a + b, [1, 2]) == 3 and list(zip_longest([1], [])) == [(1, None)]
assert six.b("a") == b"a" and six.ensure_str(b"a") == "a" == six.ensure_text("a")
assert six.StringIO is io.StringIO


class Meta(type):
    def __new__(cls, name, bases, namespace):
        return super().__new__(cls, name, bases, dict(namespace, made=name))


class One(six.with_metaclass(Meta, dict)):
    pass


@six.add_metaclass(Meta)
class Other(object):
    pass


assert (One.made, Other.made, One.__mro__[1]) == ("One", "Other", dict)
try:
    six.reraise(ValueError, ValueError("kept"), None)
except ValueError as error:
    assert str(error) == "kept"
try:
    six.moves.nothing
except AttributeError as error:
    print(error)
"""


def test_scripts_import_it_without_the_package(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "engine.run", str(tmp_path / "script.py")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "six.moves.nothing: is not among the names that replace six here" in done.stdout


def test_a_package_of_that_name_is_used(tmp_path: Path) -> None:
    (tmp_path / "six.py").write_text("mine = 3\n")
    (tmp_path / "script.py").write_text("import six\nprint(six.mine)\n")
    command = [sys.executable, "-m", "engine.run", str(tmp_path / "script.py")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "3\n", "")
