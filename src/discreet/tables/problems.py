"""All problems of a declaration, collected, so that its writer can correct them at once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, final

from attrs import field, frozen

from discreet.errors import Invalid, PolicyError
from discreet.hints import suggest


@final
@frozen
class Problems:
    """A list of problems, each with its path, such as `tables.visits.columns.cost.bounds`."""

    found: list[str] = field(factory=list)

    def add(self, path: str, message: str) -> None:
        """Record a problem, once."""
        problem = f"{path}: {message}" if path else message
        if problem not in self.found:
            self.found.append(problem)

    @contextmanager
    def at(self, path: str) -> Iterator[None]:
        """Record an Invalid that the block raises, and continue after the block."""
        try:
            yield
        except Invalid as error:
            self.add(path, str(error))

    def known(self, given: Any, path: str, keys: Collection[str]) -> dict[str, Any]:
        """The known entries of a section; unknown ones are recorded, with a suggestion."""
        if not isinstance(given, Mapping):
            self.add(path, "must be a section with names and values")
            return {}
        for key in given:
            if key not in keys:
                self.add(subpath(path, str(key)), f"is not a known setting{hint(str(key), keys)}")
        return {key: given[key] for key in keys if key in given}

    def boolean(self, given: Mapping[str, Any], path: str, key: str, default: bool) -> bool:
        """An entry that is true or false."""
        value = given.get(key, default)
        if not isinstance(value, bool):
            self.add(subpath(path, key), "must be true or false")
            return default
        return value

    def text(self, given: Mapping[str, Any], path: str, key: str) -> str | None:
        """An entry that is a non-empty text."""
        value = given.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            self.add(subpath(path, key), "must be a non-empty text")
            return None
        return value

    def stop(self) -> None:
        """Raise one error with all problems, if there are any."""
        if self.found:
            raise PolicyError("\n".join(self.found))


def subpath(path: str, key: str) -> str:
    """The path of an entry of a section."""
    return f"{path}.{key}" if path else key


def hint(name: str, known: Collection[str]) -> str:
    """A clause that suggests a known name, to follow what is wrong."""
    said = suggest(name, known)
    return f"; {said}" if said else ""
