"""Models that a folder offers."""

_FOLDER = """\
import pathlib, shutil, tempfile
folder = tempfile.mkdtemp()
text = "dependencies = ['{needs}']\\ndef f(a=1):\\n    'doc'\\n    return a + 1\\ndef _g():\\n    pass\\n"
pathlib.Path(folder, 'hubconf.py').write_text(text)
try:
    found = {call}
finally:
    shutil.rmtree(folder)
found
"""
_CALLS = {
    "list": "paddle.hub.list(folder, source='local')",
    "help": "paddle.hub.help(folder, 'f', source='local')",
    "load": "[paddle.hub.load(folder, 'f', source='local'), paddle.hub.load(folder, 'f', 'local', a=4)]",
    "raises for an absent function": "paddle.hub.load(folder, 'h', source='local')",
    "raises for no name": "paddle.hub.load(folder, 3, source='local')",
    "raises for a source": "paddle.hub.list(folder, source='svn')",
    "raises for no folder": "paddle.hub.list(folder + 'x', source='local')",
}

CALLS: dict[str, str] = {
    **{name: _FOLDER.format(call=call, needs="numpy") for name, call in _CALLS.items()},
    "raises for a package": _FOLDER.format(call=_CALLS["load"], needs="no_such_package"),
    "signatures": "[signature(getattr(paddle.hub, name)) for name in ('list', 'help', 'load')]",
}
