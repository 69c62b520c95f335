"""An alternative spelling of a statistic: it has its own names and arguments, and denotes the other one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from discreet.query.relation.expr import Schema
from discreet.query.statistics.statistic import Argument, Statistic


class Spelling(ABC):
    """Names that stand for another statistic."""

    spellings: ClassVar[Mapping[str, Mapping[str, Any]]]
    methods: ClassVar[Mapping[str, str]]
    arguments: ClassVar[tuple[Argument, ...]]
    optional: ClassVar[int] = 0
    per_unit: ClassVar[Mapping[str, str]] = {}
    of_unit: ClassVar[str | None] = None

    @classmethod
    @abstractmethod
    def read(cls, spelling: str, arguments: tuple[Any, ...], schema: Schema) -> Statistic:
        """The statistic it denotes."""
