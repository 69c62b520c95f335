"""The peer's end of the pipe: say when the imports are done, then run the cases asked for. Only the standard library is used."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any


def serve(package: str, import_seconds: float, case: Callable[[str], Callable[[], Any]]) -> None:
    """Answer "repeats name" lines until the input ends; `case` makes a function of a name, outside the time that is measured."""
    say(ready=f"{package} {version(package)}" if package != "discreet" else package, import_seconds=import_seconds)
    known: dict[str, Callable[[], Any]] = {}
    for line in sys.stdin:
        repeats, name = line.rstrip("\n").split(" ", 1)
        try:
            if name not in known:
                known[name] = case(name)
            function, value = known[name], None
            begin = time.perf_counter()
            for _ in range(int(repeats)):
                value = function()
            seconds = time.perf_counter() - begin
        except Exception as failure:
            say(error=f"{type(failure).__name__}: {failure}"[:200])
            continue
        say(seconds=seconds, value=float(value) if isinstance(value, float | int) else value if isinstance(value, list) else None)


def say(**fields: Any) -> None:
    """Write one line of JSON."""
    print(json.dumps(fields), flush=True)
