"""A hash chain of entries: each is sealed by a hash of itself and of the previous one. Entries are canonical JSON without floats."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Literal, TypeAlias, final

from attrs import field, frozen

from discreet.errors import Invalid

EntryKind: TypeAlias = Literal["terms", "grant", "spend", "release", "receive", "checkpoint"]
KINDS = ("terms", "grant", "spend", "release", "receive", "checkpoint")
BEFORE_ALL = "0" * 64  # the previous hash of the first entry

_FLOAT = "$float"  # {"$float": "0.1"} is a float, as a decimal that every reader parses in the same way


def write(value: Any) -> str:
    """Write plain values as canonical JSON: sorted keys, no spaces, ASCII, floats as their shortest decimals.

    >>> write({"b": [1, None, True], "a": 0.1})
    '{"a":{"$float":"0.1"},"b":[1,null,true]}'
    """
    return json.dumps(_tagged(value), sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def read(text: str) -> Any:
    """Read back what `write` wrote.

    >>> read('{"a":{"$float":"0.1"},"b":[1,null,true]}')
    {'a': 0.1, 'b': [1, None, True]}
    """
    return _untagged(json.loads(text))


def _tagged(value: Any) -> Any:
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return {_FLOAT: float.__repr__(value)}
        case list() | tuple():
            return [_tagged(item) for item in value]
        case dict() if all(isinstance(key, str) for key in value):
            return {"$" + key if key.startswith("$") else key: _tagged(item) for key, item in value.items()}
    raise Invalid("a ledger stores only dicts with text keys, lists, text, integers, floats, True, False and None: convert the others")


def _untagged(value: Any) -> Any:
    match value:
        case {"$float": decimal}:
            return float(decimal)
        case dict():
            return {key.removeprefix("$"): _untagged(item) for key, item in value.items()}
        case list():
            return [_untagged(item) for item in value]
    return value


def digest(value: Any) -> str:
    """The SHA-256 of plain values in canonical JSON, as 64 hexadecimal digits; it identifies a question.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    return sha256(write(value).encode()).hexdigest()


@final
@frozen
class Entry:
    """One sealed entry of the ledger; `body` is a new copy each time, so the sealed text cannot be changed."""

    sequence: int
    kind: EntryKind
    text: str = field(repr=False)
    previous: str = field(repr=False)
    at: str
    hash: str

    @property
    def body(self) -> dict[str, Any]:
        """The content of this entry."""
        body: dict[str, Any] = read(self.text)
        return body

    @property
    def sound(self) -> bool:
        """Whether the hash matches the content."""
        # both lengths are fixed, so that no two different entries have the same sealed text
        fixed = len(self.at) == 27 and len(self.previous) == 64
        return fixed and self.kind in KINDS and self.hash == _seal(self.sequence, self.kind, self.text, self.previous, self.at)


def _seal(sequence: int, kind: str, text: str, previous: str, at: str) -> str:
    return sha256(f'[{sequence},"{kind}",{text},"{previous}","{at}"]'.encode()).hexdigest()


def seal(sequence: int, kind: EntryKind, body: dict[str, Any], previous: str, at: str | None = None) -> Entry:
    """The entry that follows the one with this hash, with the current time unless another is given."""
    at = at or datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    text = write(body)
    return Entry(sequence, kind, text, previous, at, _seal(sequence, kind, text, previous, at))


@contextmanager
def writable() -> Iterator[None]:
    """Refuse values that Python cannot write: integers of more than 4300 digits, and values that are nested too deeply."""
    try:
        yield
    except Invalid:
        raise
    except (ValueError, RecursionError):
        raise Invalid("this is too long to be recorded: use numbers with fewer digits") from None


def required_text(value: str, name: str, least: int = 1) -> str:
    """A text of at least `least` characters that every storage keeps unchanged, or Invalid."""
    if not isinstance(value, str) or len(value) < least:
        raise Invalid(f"{name} must be text")
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise Invalid(f"{name} must be text without NUL and without lone surrogates: remove them")
    return value
