"""Names of Paddle 2.6.2 around to_static that its scripts import."""

import importlib

import pytest

import engine as paddle
from engine.jit.dy2static import error, logging_utils, utils
from engine.jit.dy2static.program_translator import (
    ASTStaticFunction,
    StaticFunction,
    convert_to_static,
    unwrap_decorators,
)


def double(x):
    return x * 2


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("engine.jit.dy2static.error", "ERROR_DATA"),
        ("engine.jit.dy2static.error", "DISABLE_ERROR_ENV_NAME"),
        ("engine.jit.dy2static.logging_utils", "TranslatorLogger"),
        ("engine.jit.dy2static.utils", "Dygraph2StaticException"),
        ("engine.jit.api", "save"),
        ("engine.jit.api", "load"),
        ("engine.jit.api", "TranslatedLayer"),
        ("engine.base.layers", "math_op_patch"),
        ("engine.framework", "core"),
    ],
)
def test_names_exist(module, name):
    assert hasattr(importlib.import_module(module), name)


def test_core_of_framework_is_that_of_base():
    assert paddle.framework.core is paddle.base.core


def test_an_error_of_a_key_is_that_of_python():
    def missing(x):
        return {}["key"]

    with pytest.raises(error.Dy2StKeyError):
        paddle.jit.to_static(missing)(paddle.ones([1]))
    assert isinstance(error.attach_error_data(ValueError("text")), ValueError)


def test_settings_of_the_log(monkeypatch):
    log = logging_utils._TRANSLATOR_LOGGER
    monkeypatch.setattr(
        logging_utils.translator_log, "settings", type(logging_utils.translator_log.settings)()
    )
    monkeypatch.setenv(logging_utils.VERBOSITY_ENV_NAME, "3")
    monkeypatch.setenv(logging_utils.CODE_LEVEL_ENV_NAME, "2")
    assert (logging_utils.get_verbosity(), logging_utils.get_code_level()) == (3, 2)
    paddle.jit.set_verbosity(1, also_to_stdout=True)
    assert log.verbosity_level == 1
    assert log.has_verbosity(1)
    assert not log.has_verbosity(2)
    assert log.need_to_echo_log_to_stdout is True
    log.need_to_echo_log_to_stdout = None
    assert log.need_to_echo_log_to_stdout is False
    log.transformed_code_level = 5
    assert log.has_code_level(5)
    log.verbosity_level = None
    assert log.verbosity_level == 3
    log.need_to_echo_code_to_stdout = True
    assert (log.need_to_echo_code_to_stdout, log.transformed_code_level) == (True, 5)
    assert log.logger.name == "Dynamic-to-Static"


def test_tools_around_functions():
    static = paddle.jit.to_static(double)
    assert unwrap_decorators(static) == ([static], double)
    assert unwrap_decorators(double) == ([], double)
    assert ASTStaticFunction is StaticFunction
    assert convert_to_static(double)(paddle.ones([1])).item() == 2
    assert utils.func_to_source_code(double).startswith("def double(x):")
    assert utils.unwrap(static) is double
    assert utils.type_name(1) == "int"
    import ast

    assert utils.ast_to_source_code(ast.parse("a+b")) == "a + b"


def test_operators_of_variables_need_no_patch():
    assert paddle.base.layers.math_op_patch.monkey_patch_variable() is None
