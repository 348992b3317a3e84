"""Setting: the declaration of one thing that can be set, with its check and the reading of its text."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from typing import Any, Literal, TypeAlias

_SHOWN = 200  # characters of a value in a message
# A dimension of a shape that may have any size, and how people write it.
ANY_SIZE = -1
ANY_SIZE_WORDS = ("none", "?", "-1")

Kind: TypeAlias = Literal[
    "name",
    "text",
    "path",
    "device",
    "int",
    "float",
    "bool",
    "choice",
    "integers",
    "numbers",
    "shape",
    "patterns",
    "parameters",
]
Value: TypeAlias = (
    bool | int | float | str | list[int] | list[float] | tuple[str, ...] | dict[str, Any] | None
)
Zero: TypeAlias = Literal["", "none", "run", "rate", "other"]

KIND_WORDS: dict[str, str] = {
    "name": "a name",
    "text": "a text",
    "path": "a path",
    "device": "cpu, gpu, gpu:1 or auto",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "choice": "a choice",
    "integers": "integers",
    "numbers": "numbers",
    "shape": "sizes such as None,1,28,28",
    "patterns": "names or patterns such as fc*",
    "parameters": "NAME=VALUE",
}
ZERO_WORDS = {
    "none": "none",
    "run": "the whole run",
    "rate": "the learning rate of the run",
    "cores": "all cores",
}


@dataclass(frozen=True)
class Setting:
    """One setting of a run, an export or another task, or one parameter of an optimizer or schedule.

    Args:
        default: the value where none is given; for a required parameter the value to start from.
        minimum, maximum: the bounds of a number, or of each number in a list; both may be reached.
        above, below: bounds that must not be reached.
        choices: (value, title) pairs of a choice; for a name those that are built in.
        example: what a message about a wrong value recommends.
        zero: what 0 (or the choice ``none``) stands for where that is special: nothing, the length of
            the run, its learning rate, or something else that the help says.
        required: no default fits every run.
        changeable: may differ when a run is continued.
        option: the name on the command line, without dashes, where it is not the name of the setting.
        alias: another name on the command line, without dashes.
        off: what switches a setting of true or false off on the command line, where it is not its name with
            ``no-``.
        optional: None (an empty text) is a value too.
        empty: what None or an empty list stands for, in a word or two.
        unit: the unit of a number, which may follow it in a text; a comma may then separate its decimals.
        methods: those methods of the task for which the setting matters; empty for all.
        advanced: rarely used; the window shows it under More settings.
        group: ``data`` for the page Data; ``command`` for the command line alone, ``window`` for the window
            alone.
        metavar: what stands for the value in the help of the command line, where it is not the type.
        panel: the heading below which the help of the command line lists the setting.
    """

    kind: Kind
    default: Any
    title: str
    help: str
    name: str = ""
    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None
    below: float | None = None
    choices: tuple[tuple[Any, str], ...] = ()
    example: str = ""
    zero: Zero = ""
    required: bool = False
    changeable: bool = False
    option: str = ""
    alias: str = ""
    off: str = ""
    optional: bool = False
    empty: str = ""
    unit: str = ""
    methods: tuple[str, ...] = ()
    advanced: bool = False
    group: Literal["", "data", "command", "window"] = ""
    metavar: str = ""
    panel: str = ""

    @property
    def flag(self) -> str:
        """The option on the command line, such as ``--batch-size``."""
        return "--" + (self.option or self.name).replace("_", "-")

    @property
    def off_flag(self) -> str:
        """What switches a setting of true or false off on the command line, such as ``--no-recompute``."""
        return f"--{self.off}" if self.off else f"--no-{self.flag.removeprefix('--')}"

    def problem(self, value: Any) -> str:
        """What is wrong with ``value``: ``what: value seen; what to do``; empty where nothing is."""
        if value is None and self.optional:
            return ""
        if self.kind == "patterns":
            return self._pattern_problem(value)
        if self.kind in ("int", "float"):
            return self._number_problem(value)
        if self.kind in ("integers", "numbers"):
            return self._list_problem(value)
        if self.kind == "shape":
            return self._shape_problem(value)
        if self.kind == "bool":
            return "" if isinstance(value, bool) else f"must be true or false: got {_seen(value)}; give true"
        if self.kind == "choice":
            allowed = [choice for choice, _ in self.choices]
            known = isinstance(value, str | int | float) and value in allowed  # an array can't be compared
            return "" if known else f"no such choice: got {_seen(value)}; choose {_either(allowed)}"
        if self.kind == "device":
            return (
                ""
                if _is_device(value)
                else f"no such device: got {_seen(value)}; choose cpu, gpu, gpu:1 or auto"
            )
        if self.kind == "parameters":
            fits = isinstance(value, dict) and all(isinstance(name, str) for name in value)
            return "" if fits else f"must be values by name: got {_seen(value)}; give e.g. {{'beta1': 0.9}}"
        if not isinstance(value, str):
            return f"must be {KIND_WORDS[self.kind]}: got {_seen(value)}; give {self.example}"
        if self.kind == "name" and not value.strip():
            return f"must be a name: got {_seen(value)}; give {self.example}"
        return ""

    def _number_problem(self, value: Any) -> str:
        whole = self.kind == "int"
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
            return f"must be {'an integer' if whole else 'a number'}: got {_seen(value)}; {self._advice()}"
        if not _is_finite(value) or not self._within(value):
            return f"must be {self.range_words()}: got {_seen(value)}; {self._advice()}"
        return ""

    def _list_problem(self, value: Any) -> str:
        what = "integers" if self.kind == "integers" else "numbers"
        if not isinstance(value, list | tuple) or not value:
            return f"must be a list of {what}: got {_seen(value)}; {self._advice()}"
        kinds = int if self.kind == "integers" else (int, float)
        for item in value:
            if isinstance(item, bool) or not isinstance(item, kinds) or not _is_finite(item):
                return f"must hold {what} only: got {_seen(item)}; {self._advice()}"
            if not self._within(item):
                return f"each must be {self.range_words()}: got {_seen(item)}; {self._advice()}"
        return ""

    def _shape_problem(self, value: Any) -> str:
        if not isinstance(value, list | tuple) or not value:
            return f"must be {KIND_WORDS['shape']}: got {_seen(value)}; {self._advice()}"
        for size in value:
            if isinstance(size, bool) or not isinstance(size, int) or (size < 1 and size != ANY_SIZE):
                return f"not a size: got {_seen(size)}; {self._advice()}"
        return ""

    def _pattern_problem(self, value: Any) -> str:
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            return f"must be {KIND_WORDS[self.kind]}: got {_seen(value)}; give e.g. fc*"
        wrong = next((item for item in value if item.count("[") != item.count("]")), None)
        return "" if wrong is None else f"a bracket is not closed: got {_seen(wrong)}; give e.g. fc*"

    def _within(self, value: float) -> bool:
        return (
            (self.minimum is None or value >= self.minimum)
            and (self.maximum is None or value <= self.maximum)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )

    def range_words(self, tr: Callable[[str], str] = str) -> str:
        """The range in words: ``from 1 to 1000000``, ``above 0``, ``at least 0 and below 1``."""
        if self.above == 0 and self.maximum is None and self.below is None:
            return tr("a positive number")
        texts: dict[tuple[bool, ...], str] = {
            (True, True, False, False): tr("from {0} to {1}"),
            (True, False, False, False): tr("at least {0}"),
            (True, False, False, True): tr("at least {0} and below {1}"),
            (False, True, False, False): tr("at most {0}"),
            (False, True, True, False): tr("above {0} and at most {1}"),
            (False, False, True, False): tr("above {0}"),
            (False, False, True, True): tr("above {0} and below {1}"),
            (False, False, False, True): tr("below {0}"),
            (False, False, False, False): tr("a finite number"),
        }
        bounds = (self.minimum, self.maximum, self.above, self.below)
        given = [
            _short(bound)
            for bound in (self.minimum, self.above, self.maximum, self.below)
            if bound is not None
        ]
        return texts[tuple(bound is not None for bound in bounds)].format(*given)

    def _advice(self) -> str:
        example = self.example or (f"e.g. {self.write(self.default)}" if self.default is not None else "")
        return f"give {example}" if example else "give another value"

    def allowed(self, tr: Callable[[str], str] = str) -> str:
        """What the setting takes, in a few words, for help and documentation.

        Args:
            tr: finds the translation of a text.
        """
        if self.kind == "choice":
            return _either([self.write(choice) for choice, _ in self.choices], tr)
        if self.kind in ("int", "float", "integers", "numbers"):
            is_positive = self.range_words() == "a positive number"
            limits = tr("above {0}").format(0) if is_positive else self.range_words(tr)
            kind = tr(KIND_WORDS[self.kind])
            return kind if limits == tr("a finite number") else tr("{0}, {1}").format(kind, limits)
        if self.kind == "name":
            return tr(self.example).removeprefix("e.g. ")
        return tr(KIND_WORDS[self.kind])

    def default_words(self, tr: Callable[[str], str] = str) -> str:
        """The default as people read it; empty for a required parameter. ``tr`` as in ``allowed``."""
        if self.required:
            return ""
        if self.default is None or self.default == ():
            return tr(self.empty or "none")
        if self.zero in ZERO_WORDS and self.default == 0:
            return tr("{0} ({1})").format(self.write(self.default), tr(ZERO_WORDS[self.zero]))
        return self.write(self.default)

    def parse(self, text: str) -> Value:
        """The value that a text stands for; raises ValueError with what is wrong with it."""
        text = text.strip()
        if not text and self.optional:
            return None
        value: Any = text
        if self.unit:
            text = text.removesuffix(self.unit).strip().replace(",", ".")
        try:
            if self.kind == "int":
                value = int(text)
            elif self.kind == "float":
                value = float(text)
            elif self.kind == "integers":
                value = [int(part) for part in _parts(text)]
            elif self.kind == "numbers":
                value = [float(part) for part in _parts(text)]
            elif self.kind == "shape":
                value = _sizes(text)
            elif self.kind == "patterns":
                value = tuple(dict.fromkeys(_parts(text)))
            elif self.kind == "bool":
                value = {"true": True, "false": False, "yes": True, "no": False}.get(text.lower(), text)
        except ValueError:
            value = text
        problem = self.problem(value)
        if problem:
            raise ValueError(problem)
        return value  # type: ignore[no-any-return]

    @staticmethod
    def write(value: Any) -> str:
        """A value as the text that ``parse`` reads."""
        if value is None:
            return ""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, list | tuple):
            return ",".join(Setting.write(item) for item in value)
        if isinstance(value, float):
            return _short(value)
        return str(value)

    def as_plain(self) -> dict[str, Any]:
        """The fields that differ from their defaults, as JSON holds them."""
        plain = asdict(self)
        first = asdict(Setting(self.kind, None, "", ""))
        return {name: value for name, value in plain.items() if name in _ALWAYS or value != first[name]}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Setting:
        """The setting that ``as_plain`` described."""
        choices = tuple((value, title) for value, title in plain.get("choices", ()))
        return cls(**{**plain, "choices": choices})


def settings_of(cls: type) -> dict[str, Setting]:
    """The settings that a dataclass declares, by name."""
    return {
        item.name: replace(item.metadata["setting"], name=item.name)
        for item in fields(cls)
        if "setting" in item.metadata
    }


def words_of(
    settings: Mapping[str, Setting], values: Mapping[str, Any], method: str = "", defaults: bool = False
) -> list[str]:
    """The words of the command line for these values.

    Args:
        method: that of the task; settings that do not matter to it are omitted.
        defaults: write those that the window offers at their defaults too.
    """
    words: list[str] = []
    for name, setting in settings.items():
        value = values[name]
        shown = defaults and setting.group != "command" and value != ""
        usual = value == setting.default and not shown
        if usual or value is None or setting.group == "window":
            continue
        if setting.methods and method not in setting.methods:
            continue
        if setting.kind == "bool":
            words += [setting.flag if value else setting.off_flag] if value != setting.default else []
        elif setting.kind == "patterns":
            words += [word for item in value for word in (setting.flag, item)]
        elif setting.kind == "parameters":
            for parameter, each in value.items():
                words += [setting.flag, f"{parameter}={Setting.write(each)}"]
        else:
            words += [setting.flag, Setting.write(value)]
    return words


def _seen(value: object) -> str:
    """``value`` as messages show it: one line, not too long. An untrusted file may hold anything."""
    text = repr(value)
    return text if len(text) <= _SHOWN and text.isprintable() else " ".join(text[:_SHOWN].split()) + "..."


def _is_finite(value: float) -> bool:
    """Whether a float can hold the number."""
    return -sys.float_info.max <= value <= sys.float_info.max


def declared(
    kind: Kind, default: Any, title: str, help_text: str, *, keyword_only: bool = False, **more: Any
) -> Any:
    """A dataclass field with its declaration; ``keyword_only`` keeps it out of the positional arguments."""
    metadata = {"setting": Setting(kind, default, title, help_text, **more)}
    only: Any = True if keyword_only else MISSING
    if isinstance(default, dict):
        return field(default_factory=dict, metadata=metadata, kw_only=only)
    return field(default=default, metadata=metadata, kw_only=only)


_ALWAYS = ("kind", "default", "title", "help")


def _sizes(text: str) -> tuple[int | str, ...]:
    """The sizes in a text such as ``[None, 1, 28, 28]``; a part that is not an integer stays a text."""
    words = [part.strip() for part in text.strip("[]() ").split(",")]
    return tuple(
        ANY_SIZE if word.lower() in ANY_SIZE_WORDS else int(word) if word.isdecimal() else word
        for word in words
    )


def _parts(text: str) -> list[str]:
    return text.replace(",", " ").split()


def _short(value: float) -> str:
    if isinstance(value, int) or (value.is_integer() and abs(value) < 1e6):
        return str(int(value))
    return repr(value)


def _either(words: list[Any], tr: Callable[[str], str] = str) -> str:
    texts = [str(word) for word in words]
    return texts[0] if len(texts) == 1 else tr("{0} or {1}").format(", ".join(texts[:-1]), texts[-1])


def _is_device(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    if value == "auto":
        return True
    name, separator, number = value.partition(":")
    return name in ("cpu", "gpu") and (not separator or (name == "gpu" and number.isdigit()))
