"""Split a CSV file into records, in one way that does not depend on buffers.

DuckDB's own splitting is not used. It guesses where a record begins whenever it splits a file or moves to another buffer, so one more row
could turn the text of one person's note into rows of other people. Here the file is read once from its beginning, and DuckDB gets blocks
of whole records, each small enough that DuckDB neither splits it nor needs a second buffer.

The grammar. A field that begins with a quote ends at the next quote that is not doubled; any other field ends at the delimiter or the end
of the line, and quotes within it are text. A record ends with LF or CRLF outside quoted fields. So a well-quoted record ends where it was
meant to, and is read in the same way whatever precedes or follows it. Input that is not well quoted has a meaning too and is never an
error: text after a closing quote belongs to the field, a lone CR is text, and a quote that is never closed makes the rest of the file part
of its field. A record longer than `LONGEST` bytes is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, final

import numpy as np
from attrs import frozen

LONGEST = 2**24  # bytes of one record, with the end of its line
READ = 2**22  # bytes at a time
MOST = 2 * (LONGEST + READ)  # bytes of one block: requoting at most doubles it

_QUOTE, _LF, _CR = b'"\n\r'


@final
@frozen
class _Grammar:
    """Regular expressions for records and fields with one delimiter; possessive, so they never backtrack."""

    delimiter: bytes
    record: re.Pattern[bytes]
    field: re.Pattern[bytes]  # with its delimiter or line end; groups: the quoted part, the text after it, the unquoted field, the end
    ended: re.Pattern[bytes]  # all fields that end with a delimiter
    special: re.Pattern[bytes]  # characters for which a field must be quoted

    @classmethod
    def of(cls, delimiter: str) -> _Grammar:
        end = re.escape(delimiter.encode())
        quoted, rest, plain = rb'"[^"]*+(?:""[^"]*+)*+"', rb"[^%b\n]*+" % end, rb'[^"%b\n][^%b\n]*+' % (end, end)
        field = rb"(?>%b%b|%b|)" % (quoted, rest, plain)
        return cls(
            delimiter.encode(),
            re.compile(rb"%b(?:%b%b)*+\n" % (field, end, field)),
            re.compile(rb"(?>(%b)(%b)|(%b|))(%b|\n)" % (quoted, rest, plain, end)),
            re.compile(rb"(?>%b%b)*+" % (field, end)),
            re.compile(rb'["%b\r\n]' % end),
        )


def record_blocks(file: BinaryIO, delimiter: str, read: int = READ, longest: int = LONGEST) -> Iterator[bytes]:
    """Split the rest of a file into blocks of whole, well-quoted records; memory is bounded for any file."""
    grammar, held, cut = _Grammar.of(delimiter), b"", False
    while True:
        more = file.read(read)
        held += more
        if not more and held and held[-1] != _LF:
            held += b"\n"  # the last line need not end with LF
        if cut:  # the buffer stands for a record that is already too long
            rest = grammar.record.match(held)
            held, cut = (held[rest.end() :], False) if rest else (_shortened(held, grammar), True)
        if not cut:
            end = _regular(held, grammar.delimiter, longest)
            block, end = (held[:end], end) if end is not None else _requoted(held, grammar, longest)
            if block:
                yield block
            held = held[end:]
            if len(held) > longest:
                held, cut = _shortened(held, grammar), True
        if not more:
            return  # the rest is inside a quote that is never closed


def _regular(held: bytes, delimiter: bytes, longest: int) -> int | None:
    """Where the last whole record ends, if all records are well quoted; None if one is not, or is too long.

    Lemma. Let every second quote be called opening. If each opening one stands at the start of a field or right after another quote, and
    each other one at the end of a field or right before another quote, then the opening ones are those of the grammar, but for doubled
    quotes, whose two halves close and open again; so a line end is a record's end if an even number of quotes stands before it.
    """
    seen = np.frombuffer(held + b"\n\n", np.uint8)  # the buffer may end inside a record, which is then seen again
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


def _requoted(held: bytes, grammar: _Grammar, longest: int) -> tuple[bytes, int]:
    """The whole records, requoted where needed and without those that are too long; and where the last one ends."""
    written: list[bytes] = []
    end = 0
    while found := grammar.record.match(held, end):
        if found.end() - end <= longest:
            record = found.group()
            written.append(record if _QUOTE not in record and _CR not in record else _quote_record(record, grammar))
        end = found.end()
    return b"".join(written), end


def _quote_record(record: bytes, grammar: _Grammar) -> bytes:
    """One record, with its fields quoted where needed."""
    if record[0] != _QUOTE and grammar.delimiter + b'"' not in record:  # no field begins with a quote: the usual case
        values = record[:-1].removesuffix(b"\r").split(grammar.delimiter)
    else:
        values = [_value(found) for found in grammar.field.finditer(record)]
    quoted = (b'"%b"' % value.replace(b'"', b'""') if grammar.special.search(value) else value for value in values)
    return grammar.delimiter.join(quoted) + b"\n"


def _value(found: re.Match[bytes]) -> bytes:
    """The value of a field."""
    quoted, rest, plain, end = found.groups()
    outside: bytes = plain if quoted is None else rest
    if end == b"\n":
        outside = outside.removesuffix(b"\r")
    return outside if quoted is None else quoted[1:-1].replace(b'""', b'"') + outside


def _shortened(held: bytes, grammar: _Grammar) -> bytes:
    """A few bytes that leave the grammar in the same state as the beginning of a long record."""
    ended = grammar.ended.match(held)
    field = held[ended.end() :] if ended else held
    if field[:1] == b'"':
        inside = field[1:]
        closed = grammar.field.match(field + b"\n")
        if closed and closed.group(2):
            return b"x"  # after the closing quote
        # a quote at the very end may close the field, or be half of a doubled quote
        return b'"x' + b'"' * ((len(inside) - len(inside.rstrip(b'"'))) % 2)
    return b"x" if field else b"x" + grammar.delimiter
