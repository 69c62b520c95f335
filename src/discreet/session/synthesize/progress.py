"""Progress on the screen: one line that is written over, with about how long it will still take."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable


def to_screen(title: str) -> Callable[[str, float], None]:
    """Show what was done on a terminal; nothing anywhere else."""
    if not sys.stderr.isatty():
        return lambda what, share: None
    began = time.monotonic()

    def show(what: str, share: float) -> None:
        passed = time.monotonic() - began
        left = f", about {passed * (1 - share) / share:.0f} s left" if 0.05 < share < 1 and passed > 2 else ""
        line = f"{title}: {share:4.0%} {what}{left}"
        sys.stderr.write(f"\r\x1b[K{line[:150]}" + ("\n" if share >= 1 else ""))
        sys.stderr.flush()

    return show
