"""The records of a CSV file: every file is cut in one way, wherever its bytes happen to lie.

DuckDB's own cutting is not used. It guesses where a record begins whenever it splits a file or moves to another buffer, so that a row more
could turn the text of one person's note into rows of other people. Here the file is read from its beginning, once, and goes to DuckDB in
pieces of whole records, each small enough that DuckDB neither splits it nor needs a second buffer.

The language. A field that begins with a quote lasts until the quote that is not doubled; any other field lasts until the delimiter or the
end of the line, and quotes within it are text. A record ends with LF or CRLF outside quoted fields. So a record that is well quoted ends
where it was meant to, and is read in the same way whatever stands before or after it. What is not well quoted has a meaning too, and is
never an error: text after a closing quote belongs to the field, a lone CR is text, and a quote that is never closed takes the rest of the
file with it. A record longer than `LONGEST` bytes is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, final

import numpy as np
from attrs import frozen

LONGEST = 2**24  # bytes of one record, with the end of its line
READ = 2**22  # bytes at a time
MOST = 2 * (LONGEST + READ)  # bytes of one piece: what is written anew is at most doubled

_QUOTE, _LF, _CR = b'"\n\r'


@final
@frozen
class _Language:
    """The expressions of records and fields for one delimiter; possessive, so that nothing is tried twice."""

    delimiter: bytes
    record: re.Pattern[bytes]
    field: re.Pattern[bytes]  # with its delimiter or line end; groups: what is quoted, what follows it, what is not quoted, the end
    ended: re.Pattern[bytes]  # all fields that a delimiter ends
    special: re.Pattern[bytes]  # what a field must be quoted for

    @classmethod
    def of(cls, delimiter: str) -> _Language:
        end = delimiter.encode()
        quoted, rest, plain = rb'"[^"]*+(?:""[^"]*+)*+"', rb"[^%b\n]*+" % end, rb'[^"%b\n][^%b\n]*+' % (end, end)
        field = rb"(?>%b%b|%b|)" % (quoted, rest, plain)
        return cls(
            end,
            re.compile(rb"%b(?:%b%b)*+\n" % (field, end, field)),
            re.compile(rb"(?>(%b)(%b)|(%b|))(%b|\n)" % (quoted, rest, plain, end)),
            re.compile(rb"(?>%b%b)*+" % (field, end)),
            re.compile(rb'["%b\r\n]' % end),
        )


def pieces(file: BinaryIO, delimiter: str, read: int = READ, longest: int = LONGEST) -> Iterator[bytes]:
    """Cut what follows in a file into pieces of whole, well-quoted records; memory is bounded, whatever the file."""
    language, held, cut = _Language.of(delimiter), b"", False
    while True:
        more = file.read(read)
        held += more
        if not more and held and held[-1] != _LF:
            held += b"\n"  # the last line need not have an end
        if cut:  # what is held stands for a record that is too long already
            rest = language.record.match(held)
            held, cut = (held[rest.end() :], False) if rest else (_shortened(held, language), True)
        if not cut:
            end = _regular(held, language.delimiter, longest)
            piece, end = (held[:end], end) if end is not None else _mended(held, language, longest)
            if piece:
                yield piece
            held = held[end:]
            if len(held) > longest:
                held, cut = _shortened(held, language), True
        if not more:
            return  # what is left is within a quote that is never closed


def _regular(held: bytes, delimiter: bytes, longest: int) -> int | None:
    """Where the last whole record ends, if all is well quoted; None if anything is not, or is too long.

    Lemma. Let every second quote be called opening. If each opening one stands at the start of a field or right after another quote, and
    each other one at the end of a field or right before another quote, then the opening ones are those of the language, but for doubled
    quotes, whose two halves close and open again; so a line end is a record's end if an even number of quotes stands before it.
    """
    seen = np.frombuffer(held + b"\n\n", np.uint8)  # the end of what is held may be the middle of something: it is seen again
    quotes, lines = np.flatnonzero(seen == _QUOTE), np.flatnonzero(seen[:-2] == _LF)
    if len(quotes):
        opening, closing = quotes[::2], quotes[1::2]
        if not np.isin(seen[opening[opening > 0] - 1], (delimiter[0], _LF, _QUOTE)).all():
            return None
        after = seen[closing + 1]
        if not (np.isin(after, (delimiter[0], _LF, _QUOTE)) | ((after == _CR) & (seen[closing + 2] == _LF))).all():
            return None
        lines = lines[np.searchsorted(quotes, lines) % 2 == 0]
    if len(lines) == 0:
        return 0
    returns = np.flatnonzero(seen[: lines[-1]] == _CR)
    if len(returns) and ((seen[returns + 1] != _LF) & (np.searchsorted(quotes, returns) % 2 == 0)).any():
        return None
    return int(lines[-1]) + 1 if np.diff(lines, prepend=-1).max() <= longest else None


def _mended(held: bytes, language: _Language, longest: int) -> tuple[bytes, int]:
    """The whole records with all that is not well quoted written anew, without those that are too long; and where the last one ends."""
    written: list[bytes] = []
    end = 0
    while found := language.record.match(held, end):
        if found.end() - end <= longest:
            record = found.group()
            written.append(record if _QUOTE not in record and _CR not in record else _anew(record, language))
        end = found.end()
    return b"".join(written), end


def _anew(record: bytes, language: _Language) -> bytes:
    """One record, with its fields quoted where they must be."""
    if record[0] != _QUOTE and language.delimiter + b'"' not in record:  # no field begins with a quote, which is most of what is met
        values = record[:-1].removesuffix(b"\r").split(language.delimiter)
    else:
        values = [_value(found) for found in language.field.finditer(record)]
    quoted = (b'"%b"' % value.replace(b'"', b'""') if language.special.search(value) else value for value in values)
    return language.delimiter.join(quoted) + b"\n"


def _value(found: re.Match[bytes]) -> bytes:
    """The text of a field."""
    quoted, rest, plain, end = found.groups()
    outside: bytes = plain if quoted is None else rest
    if end == b"\n":
        outside = outside.removesuffix(b"\r")
    return outside if quoted is None else quoted[1:-1].replace(b'""', b'"') + outside


def _shortened(held: bytes, language: _Language) -> bytes:
    """A few bytes after which the language goes on as after the beginning of a record."""
    ended = language.ended.match(held)
    field = held[ended.end() :] if ended else held
    if field[:1] == b'"':
        inside = field[1:]
        closed = language.field.match(field + b"\n")
        if closed and closed.group(2):
            return b"x"  # after the closing quote
        # a quote at the very end may close, or be the first half of two
        return b'"x' + b'"' * ((len(inside) - len(inside.rstrip(b'"'))) % 2)
    return b"x" if field else b"x" + language.delimiter
