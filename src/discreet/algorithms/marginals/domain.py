"""The domain of a synthetic table: columns with finitely many codes, and cliques of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import final

from attrs import frozen

from discreet.errors import Invalid
from discreet.exact import whole

Clique = tuple[int, ...]  # indices of columns, in ascending order


@final
@frozen
class Domain:
    """Columns by name, each with its number of codes 0, 1, ….

    >>> domain = Domain.of({"age": 10, "sex": 2, "dept": 5})
    >>> domain.cells((0, 2)), domain.clique(["dept", "age"]), domain.size
    (50, (0, 2), 100)
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, columns: Mapping[str, int]) -> Domain:
        """Build from names and sizes."""
        if not columns:
            raise Invalid("a synthetic table needs at least one column")
        return cls(tuple(columns), tuple(whole(size, f"the size of {name}") for name, size in columns.items()))

    @property
    def size(self) -> int:
        """The number of different rows."""
        return prod(self.sizes)

    @property
    def columns(self) -> range:
        """The indices of the columns."""
        return range(len(self.names))

    def shape(self, clique: Clique) -> tuple[int, ...]:
        """The sizes of a clique's columns."""
        return tuple(self.sizes[i] for i in clique)

    def cells(self, clique: Iterable[int]) -> int:
        """The number of cells of a clique's marginal."""
        return prod(self.sizes[i] for i in clique)

    def clique(self, names: Sequence[str]) -> Clique:
        """The indices of some columns."""
        for name in names:
            if name not in self.names:
                raise Invalid(f"there is no column {name!r:.80}: use one of {', '.join(self.names)}")
        return tuple(sorted({self.names.index(name) for name in names}))

    def shown(self, clique: Clique) -> str:
        """A clique in readable form."""
        return " × ".join(self.names[i] for i in clique) or "(all)"
