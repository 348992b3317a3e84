"""The window of the other tests, for those of languages."""

from tests.studio.windows.conftest import _look, stage  # noqa: F401
