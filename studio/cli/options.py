"""Options of the command line made from declared settings."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, TypeAlias, TypeVar, cast

import typer

from resources.settings import RUN_SETTINGS, Rule, Setting, optimizers, schedules
from resources.words import tr
from studio.cli import parameters
from studio.cli.output import WrongUsage

_Command = TypeVar("_Command", bound=Callable[..., None])
Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print JSON, one object a line, and nothing else.")
]
Trust: TypeAlias = Annotated[
    bool,
    typer.Option("--trust", help="Run the code in RUN/source of another installation's run; remembered."),
]

_TYPES: dict[str, Any] = {
    "int": int,
    "float": float,
    "bool": bool,
    "patterns": list[str],
    "parameters": list[str],
}


def with_settings(command: _Command) -> _Command:
    """Give ``command(context, **options)`` an option for each setting of a run."""
    return with_options(RUN_SETTINGS)(command)


def with_options(settings: Mapping[str, Setting]) -> Callable[[_Command], _Command]:
    """Give ``command(context, **options)`` an option for each setting, before those that it has itself.

    Typer reads a function's signature, so that is what is extended.
    """
    added = [_option(setting) for setting in settings.values() if setting.group != "window"]
    return lambda command: _extended(command, added)


def _extended(command: _Command, added: list[inspect.Parameter]) -> _Command:
    own = list(inspect.signature(command, eval_str=True).parameters.values())
    own_parameters = [parameter for parameter in own if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
    # Of keywords only the order shows, in the help: the settings first.
    order = [*own_parameters[:1], *added, *own_parameters[1:]]
    as_keywords = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in order[1:]]
    cast(Any, command).__signature__ = inspect.Signature([order[0], *as_keywords])
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in order}
    return command


def _option(setting: Setting) -> inspect.Parameter:
    kind = _TYPES.get(setting.kind, str)
    if setting.optional:
        kind = kind | None
    default = [] if kind == list[str] else setting.default
    metavar = setting.metavar or ("NAME=VALUE" if setting.kind == "parameters" else None)
    flags = [f"{setting.flag}/{setting.off_flag}" if setting.kind == "bool" else setting.flag]
    flags += [f"--{setting.alias}"] if setting.alias else []
    panel = setting.panel or None
    option = typer.Option(
        *flags,
        help=_help(setting),
        metavar=metavar,
        rich_help_panel=panel,
        parser=_parser(setting) if setting.kind == "shape" else None,
    )
    return inspect.Parameter(
        setting.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option]
    )


def _parser(setting: Setting) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        try:
            return setting.parse(text)
        except ValueError as error:
            raise typer.BadParameter(f"{setting.flag}: {error}") from None

    return parse


def _help(setting: Setting) -> str:
    return _help_text(setting).replace("[", "\\[")  # brackets are text, not markup


def _help_text(setting: Setting) -> str:
    names, text = [str(value) for value, _ in setting.choices], tr(setting.help)
    if setting.kind == "choice" and not all(name in setting.help for name in names):
        return tr("{0}: {1}.", "help").format(text.rstrip(".。"), ", ".join(names))
    return text


def check_options(settings: Mapping[str, Setting], values: Mapping[str, Any]) -> None:
    """Raises typer.BadParameter for the first value that its setting does not take."""
    for name, value in values.items():
        problem = settings[name].problem(value)
        if problem:
            raise typer.BadParameter(f"{settings[name].flag}: {problem}")


def given_options(context: typer.Context) -> Iterator[str]:
    """The options that stand on the command line."""
    for name in context.params:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            yield name


def read_all_parameters(values: dict[str, Any], chosen: Mapping[str, Any]) -> None:
    """As :func:`studio.cli.parameters.read_all_parameters`; raises typer.BadParameter."""
    try:
        parameters.read_all_parameters(values, chosen)
    except WrongUsage as error:
        raise typer.BadParameter(str(error)) from None


def rules_help() -> str:
    """All optimizers and schedules with their parameters, for the end of the help."""
    lines = [tr("Parameters of the optimizers (--optimizer-param NAME=VALUE):")]
    lines += [_line(rule) for rule in optimizers().values()]
    lines += [tr("Parameters of the schedules (--schedule-param NAME=VALUE; a list as NAME=2,4):")]
    lines += [_line(rule) for rule in schedules().values() if rule.parameters]
    return "\n\n".join(lines)


def _line(rule: Rule) -> str:
    return f"{rule.name}: " + "; ".join(_parameter(setting) for setting in rule.parameters)


def _parameter(setting: Setting) -> str:
    default = setting.default_words(tr)
    more = tr("default {0}").format(default) if default else tr("must be given")
    return f"{setting.name} ({setting.allowed(tr)}; {more})"
