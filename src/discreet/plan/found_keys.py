"""Grouping sets over keys that are not declared: what is searched, coarse levels first, and the cells that follow from what is found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, final

from attrs import frozen

from discreet.plan.arrangement import Arrangement
from discreet.plan.key_values import OTHER, Group
from discreet.query.question import Question
from discreet.tables.kind import Value

MOST_CELLS = 10**5  # of the finest table: with more, only some of what was found is shown, for it is paid for by then
TYPICAL_VALUES = 10  # assumed before anything is found, of a key or below each group of the level above
_DEEP = 3  # levels with so many; below them one
Places: TypeAlias = tuple[int, ...]
Found: TypeAlias = Mapping[Places, Sequence[Group]]  # by the places of their keys, the groups that a search found


@final
@frozen
class OpenKeys:
    """The keys of grouping sets, of which some are not declared.

    Keys that every set has from the top down, as those of ROLLUP, are a chain: each is searched below the groups that were found with the
    keys before it. The others are searched by themselves. What is not found is in cells of its own, one below each group of the level
    above, so that every row is in a cell.

    Theorem (Dwork & Roth 2014, thm 3.16: adaptive composition, and prop. 2.1: post-processing).
        A search may depend on what earlier ones released. Every search is (ε, δ)-DP for what they released, so all together cost the sums;
        the cells are computed from what was released, and the tables are measured as those of public keys are.
    """

    names: tuple[str, ...]
    values: tuple[tuple[Value | None, ...] | None, ...]  # of each key; None where they are not declared
    chain: Places  # the coarsest first; () unless there are several

    @classmethod
    def of(cls, question: Question, values: Sequence[tuple[Value | None, ...] | None]) -> OpenKeys:
        """With the longest chain that begins with the key of most sets; declared keys may lead it, and are elsewhere combined with all."""
        order = sorted(range(len(values)), key=lambda place: -sum(place in places for places in question.sets))
        chain: list[int] = []
        for place in order:
            leads = all(values[above] is not None for above in chain)
            if (values[place] is None or leads) and all(chain[-1] in places for places in question.sets if chain and place in places):
                chain.append(place)
        while chain and values[chain[-1]] is not None:
            chain.pop()
        known = tuple(None if listed is None else tuple(value for value in listed if value != OTHER) for listed in values)
        return cls(tuple(name for name, _ in question.keys), known, tuple(chain) if len(chain) > 1 else ())

    @property
    def flat(self) -> Places:
        """The keys that are not in the chain."""
        return tuple(place for place in range(len(self.values)) if place not in self.chain)

    @property
    def searches(self) -> tuple[Places, ...]:
        """The keys of every search, in order: each of the chain with all before it, then the others one by one."""
        levels = [self.chain[: level + 1] for level, place in enumerate(self.chain) if self.values[place] is None]
        return (*levels, *((place,) for place in self.flat if self.values[place] is None))

    @property
    def searched(self) -> tuple[str, ...]:
        """The keys whose values are searched."""
        return tuple(name for name, values in zip(self.names, self.values, strict=True) if values is None)

    def parents(self, search: Places, found: Found) -> Sequence[Group]:
        """The groups below which a search looks."""
        return self._levels(found, len(search) - 1)[-1] if self.chain[: len(search)] == search else ((),)

    def kept(self, search: Places, labels: Sequence[Group], found: Found) -> tuple[Group, ...]:
        """Of the groups that were selected, those below groups that were found; a value that is spelled as all others is one of them."""
        above = set(self.parents(search, found))
        return tuple(label for label in labels if label[:-1] in above and label[-1] != OTHER)

    def arrangement(self, found: Found) -> Arrangement:
        """The cells of what was found, with those of all others."""
        return self._fitting(found)[0]

    def not_shown(self, found: Found) -> list[str]:
        """Note what was found and is not shown, because there would be too many cells."""
        most = self._fitting(found)[1]
        cut = {self.names[search[-1]]: len(groups) for search, groups in found.items() if len(groups) > most}
        if not cut:
            return []
        each = ", ".join(f"{name} ({most:,} of {number:,})" for name, number in cut.items())
        return [
            f"all that was found would make more than {MOST_CELLS:,} cells, so the rest is in {OTHER} of {each}: ask for fewer keys "
            "together, or declare the values that matter"
        ]

    def _fitting(self, found: Found) -> tuple[Arrangement, int]:
        """The cells of as many of the first groups of each search as fit, and that number."""
        most = max((len(groups) for groups in found.values()), default=0)
        whole = self._arranged(found)
        if whole.layout.cells(whole.layout.finest) <= MOST_CELLS:
            return whole, most
        fitting, least = self._arranged({}), 0
        while least + 1 < most:
            middle = (least + most) // 2
            some = self._arranged({search: groups[:middle] for search, groups in found.items()})
            if some.layout.cells(some.layout.finest) <= MOST_CELLS:
                fitting, least = some, middle
            else:
                most = middle
        return fitting, least

    @property
    def usual(self) -> dict[str, int]:
        """The number of values that is assumed of each key that is searched, or below each group of the level above."""
        return {self.names[search[-1]]: TYPICAL_VALUES if len(search) <= _DEEP else 1 for search in self.searches}

    def supposed(self, counts: Mapping[str, int] | None = None) -> dict[Places, Sequence[Group]]:
        """Made-up groups, before anything is found: the usual number of each key, or that in `counts`."""
        found: dict[Places, Sequence[Group]] = {}
        numbers = self.usual | dict(counts or {})
        for search in self.searches:
            name = self.names[search[-1]]
            most = max(1, MOST_CELLS // max(len(self.parents(search, found)), 1))
            some = range(min(numbers[name], most))
            found[search] = [(*group, f"{name} {i + 1}") for group in self.parents(search, found) for i in some]
        return found

    def _levels(self, found: Found, levels: int) -> list[Sequence[Group]]:
        """The groups of the chain that are declared or found, level by level; the root is the first."""
        known: list[Sequence[Group]] = [((),)]
        for level, place in enumerate(self.chain[:levels]):
            values, above = self.values[place], known[-1]
            below = found.get(self.chain[: level + 1], ()) if values is None else [(*group, value) for group in above for value in values]
            inside = set(above)
            known.append(tuple(group for group in below if group[:-1] in inside))
        return known

    def _arranged(self, found: Found) -> Arrangement:
        levels = self._levels(found, len(self.chain))[1:]
        return Arrangement.with_others(self.chain, levels, self.flat, [self._listed(place, found) for place in self.flat])

    def _listed(self, place: int, found: Found) -> list[Value | None]:
        values = self.values[place]
        return [group[0] for group in found.get((place,), ())] if values is None else list(values)
