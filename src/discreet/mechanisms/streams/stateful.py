"""Stateful runs hold noise whose loss was spent once, so they cannot be copied or leave the process that opened them."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from typing import Any, NoReturn

from discreet.errors import Invalid

_COPIED = "a stateful run cannot be copied or used in another process, for its noise was charged once: open a new run there"


class StatefulRun(ABC):
    """A run of an interactive mechanism. Two copies would use the same noise twice, or draw noise for one step twice, at one charge."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()  # one query or step at a time: two at once could both be the last hit, or the same step

    @property
    @abstractmethod
    def halted(self) -> bool:
        """Whether the run accepts no further queries or steps."""

    def check_process(self) -> None:
        """Raise Invalid in any process but the one that opened the run."""
        if os.getpid() != self._process:
            raise Invalid(_COPIED)

    def __reduce_ex__(self, _: Any) -> NoReturn:
        raise Invalid(_COPIED)
