"""A statement for the engine, and what running it costs."""

from __future__ import annotations

from typing import assert_never, final

from attrs import frozen

from discreet.engines.engine import SentTable
from discreet.query.relation.node import Join, Match, PerUnit, Relation, Scan, Select, Stack, Where
from discreet.run.sampling import SAMPLED, sampled_rows
from discreet.run.source import Source


@final
@frozen
class Statement:
    """One generated SELECT, the public tables sent with it, how often it scans private tables, and how often it shuffles rows or partial
    results by unit or group."""

    text: str
    given: tuple[SentTable, ...]
    scans: int
    shuffles: int

    @classmethod
    def of(cls, source: Source, text: str, shuffles: int, times: int = 1) -> Statement:
        """A statement in which the source's rows are written out `times` times; a sample of them is drawn once, before it."""
        if source.sample is not None:
            drawn = sampled_rows(source.relation, source.sample, source.dialect)
            text, times = f"WITH {SAMPLED} AS {source.dialect.once}({drawn}) SELECT * FROM ({text}) AS z", 1
        return cls(text, source.given, times * scans(source.relation), times * shuffled(source.relation) + shuffles)


def scans(relation: Relation) -> int:
    """How often private tables are read for a relation."""
    match relation:
        case Scan(table, links):
            return int(table.private) + len(links)
        case Where(below) | Match(below) | Select(below) | PerUnit(below):
            return scans(below)
        case Join(left, right):
            return scans(left) + scans(right)
        case Stack(inputs):
            return sum(map(scans, inputs))
        case _:
            assert_never(relation)


def shuffled(relation: Relation) -> int:
    """How often rows are shuffled for a relation: once for each join, link or aggregation per unit."""
    match relation:
        case Scan(_, links):
            return len(links)
        case Where(below) | Match(below) | Select(below):
            return shuffled(below)
        case PerUnit(below):
            return shuffled(below) + 1
        case Join(left, right):
            return shuffled(left) + shuffled(right) + int(scans(left) > 0 and scans(right) > 0)
        case Stack(inputs):
            return sum(map(shuffled, inputs))
        case _:
            assert_never(relation)
