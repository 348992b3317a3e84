"""Which languages there are, and which one fits the computer's."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

ENGLISH = "en"
# Each with its own name. The file of a language is NAME.po in this folder.
LANGUAGES = {ENGLISH: "English", "zh_CN": "简体中文"}
# Names of the system for a language of ours. Traditional Chinese (zh_TW, zh_HK) is not Simplified Chinese.
_SAME = {"zh": "zh_CN", "zh_hans": "zh_CN", "zh_sg": "zh_CN", "zh_my": "zh_CN"}


def computer_languages(environment: Mapping[str, str] = os.environ) -> list[str]:
    """The languages that the environment names, best first; empty for the locale C.

    As gettext does it: the list in ``LANGUAGE`` counts where the locale is not C.
    """
    locale = next(
        (environment[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(name)), ""
    )
    if _bare(locale) in ("", "c", "posix"):
        return []
    return [each for each in environment.get("LANGUAGE", "").split(":") if each] + [locale]


def language_for(names: Iterable[str]) -> str:
    """The first of our languages that one of ``names`` asks for: ``zh_CN.UTF-8``, ``zh-Hans-CN``, ``de``."""
    ours = {name.lower(): name for name in LANGUAGES}
    for name in names:
        wanted = _bare(name)
        # zh_hans_cn is zh_hans; en_gb is en; zh_tw is not zh.
        for shorter in (wanted, wanted.rpartition("_")[0]):
            found = ours.get(shorter) or (_SAME.get(shorter) if shorter == wanted or "_" in shorter else None)
            if found:
                return found
    return ENGLISH


def _bare(name: str) -> str:
    """A locale's name without encoding and variant, in lower case: ``zh_cn`` of ``zh-CN.UTF-8@x``."""
    return name.partition(".")[0].partition("@")[0].replace("-", "_").lower()
