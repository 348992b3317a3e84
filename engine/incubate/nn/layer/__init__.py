"""The layers of ``incubate.nn``."""
