"""What is under way holds noise that was paid for once: it stays in the process that opened it."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from typing import Any, NoReturn

from discreet.errors import Invalid

_COPIED = "this is under way and holds noise that was paid for once: it is not copied or taken into another process. Open another there"


class StatefulRun(ABC):
    """A run of an interactive mechanism. Two copies would use the same noise twice, or noise the same step twice, for one payment."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()  # one question or step at a time: two at once might both be the hit, or the same step

    @property
    @abstractmethod
    def halted(self) -> bool:
        """Whether nothing more can be asked of it."""

    def check_process(self) -> None:
        """Refuse to go on in another process."""
        if os.getpid() != self._process:
            raise Invalid(_COPIED)

    def __reduce_ex__(self, _: Any) -> NoReturn:
        raise Invalid(_COPIED)
