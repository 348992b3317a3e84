"""Names around errors of converted code, under their path in Paddle; such errors show the user's lines."""

from __future__ import annotations

ERROR_DATA = "Error data about original source code information and traceback."
SIMPLIFY_ERROR_ENV_NAME = "TRANSLATOR_SIMPLIFY_NEW_ERROR"
DEFAULT_SIMPLIFY_NEW_ERROR = 1
DISABLE_ERROR_ENV_NAME = "TRANSLATOR_DISABLE_NEW_ERROR"
DEFAULT_DISABLE_NEW_ERROR = 0
SOURCE_CODE_RANGE = 5
BLANK_COUNT_BEFORE_FILE_STR = 4
# A KeyError of the user's code stays one.
Dy2StKeyError = KeyError


def attach_error_data(error: Exception, in_runtime: bool = False) -> Exception:
    """``error`` itself: it has the user's lines already."""
    return error
