"""Output streams: encodings that lack characters, full disks, readers that have gone, and JSON."""

from __future__ import annotations

import codecs
import errno
import json
import os
import sys
from contextlib import suppress
from typing import Annotated, Any, TextIO

from typer import Option

AsJson = Annotated[bool, Option("--json", metavar="", help="Print everything as JSON.")]
UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EPIPE, errno.EROFS}
_WORDS = {
    "ε": "epsilon", "δ": "delta", "ρ": "rho", "μ": "mu", "±": "+/-", "∞": "inf", "…": "...", "–": "-", "—": "-", "−": "-", "×": "x",
    "·": "-", "≤": "<=", "≥": ">=", "≈": "~", "→": "->", "█": "#", "░": ".",
}  # fmt: skip


def show_what_can_be_shown() -> None:
    """Write characters that the terminal's encoding lacks as words or as their code points, instead of failing."""
    codecs.register_error("discreet", _spelled)
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):  # it was replaced by something that takes any text
            stream.reconfigure(errors="discreet")  # type: ignore[union-attr]


def _spelled(error: UnicodeError) -> tuple[str, int]:
    """The text that replaces characters which cannot be encoded.

    >>> codecs.register_error("discreet", _spelled)
    >>> "ε ± 3 Zoë".encode("ascii", "discreet")
    b'epsilon +/- 3 Zo\\\\xeb'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(_WORDS.get(one) or one.encode("ascii", "backslashreplace").decode() for one in lost), error.end


def drop(stream: TextIO) -> None:
    """Discard what could not be written to a stream, so that it is not written again when the process ends."""
    with suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)


def print_json(told: Any, indent: int | None = None) -> None:
    """Print values as JSON, escaped unless the encoding is UTF-8."""
    whole = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    print(json.dumps(told, ensure_ascii=not whole, allow_nan=False, default=str, indent=indent))


def as_typed(words: list[str]) -> list[str]:
    """The arguments of a command as UTF-8 text, where the locale has decoded them byte by byte.

    >>> as_typed(["SELECT 'Zo\\udcc3\\udcab'", "plain"])
    ["SELECT 'Zoë'", 'plain']
    """
    return [_as_typed(word) for word in words]


def _as_typed(word: str) -> str:
    try:
        return word.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError:
        return word
