"""The primitives in Spark's SQL.

Every expression here is total in ANSI mode, where Spark raises on overflow, on division by 0 and on casts, and gives the same values
without it, where Spark wraps around. `div` on decimals wraps around in both modes.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import final

from attrs import frozen

from discreet.engines.dialect import Dialect
from discreet.tables.kind import Kind

_LIMB = 22  # bits of a summand in 64 bits: 2^40 rows fit
_MASK = 2**_LIMB - 1
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-+.,:;/|%()=<>#@!?&*~")
_FARTHEST = 2**62
_WHOLE = 2**52  # floats from here on are integers
_PARTS = {"weekday": "DAYOFWEEK_ISO", "isoyear": "YEAROFWEEK", "day_of_year": "DOY"}


@final
@frozen
class SparkDialect(Dialect):
    """Spark 4."""

    name: str = "spark"
    inline: str = ""
    once: str = ""
    joins_all: bool = False
    hashes_units: bool = False
    small: str = "/*+ BROADCAST(u) */ "
    types: tuple[str, str, str, str, str, str] = ("BOOLEAN", "BIGINT", "DOUBLE", "STRING", "DATE", "TIMESTAMP_NTZ")

    def identifier(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

    def text(self, value: str) -> str:
        """A text literal, in hexadecimal unless it is plain: how quotes, backslashes and ${names} are read depends on settings."""
        if _PLAIN.issuperset(value):
            return f"'{value}'"
        return f"CAST(X'{value.encode('utf-8', 'surrogatepass').hex()}' AS STRING)"

    def real(self, value: Fraction) -> str:
        number = float(value)
        return f"{number!r}D" if math.copysign(1, number) > 0 else f"({number!r}D)"

    def is_number(self, real: str) -> str:
        return f"({real} IS NOT NULL AND NOT isnan({real}))"  # isnan(NULL) is false

    def floor(self, real: str) -> str:
        return self._to_whole("FLOOR", real)

    def ceil(self, real: str) -> str:
        return self._to_whole("CEIL", real)

    def _to_whole(self, word: str, real: str) -> str:
        # it gives a 64-bit integer and raises beyond
        return f"(CASE WHEN {real} BETWEEN {-_FARTHEST}D AND {_FARTHEST}D THEN {word}({real}) END)"

    def floor_real(self, real: str) -> str:
        return f"(CASE WHEN {real} BETWEEN {-_WHOLE}D AND {_WHOLE}D THEN CAST(FLOOR({real}) AS DOUBLE) ELSE {real} END)"

    def total(self, summand: str, most: int) -> str:
        """Sum short limbs, whose sums fit 64 bits: a longer sum raises or wraps around, and a sum of decimals is slow."""
        whole = f"CAST({summand} AS BIGINT)"
        if most <= 2**_LIMB:
            return f"SUM({whole})"
        parts = -(-most.bit_length() // _LIMB)
        sums = [self._part(whole, place, place == parts - 1) for place in range(parts)]
        return f"({' + '.join(sums)})"

    def _part(self, whole: str, place: int, last: bool) -> str:
        """The sum of one limb; the last one has the sign."""
        limb = f"shiftright({whole}, {place * _LIMB})" if place else whole
        total = f"CAST(SUM({limb if last else f'{limb} & {_MASK}L'}) AS DECIMAL(38,0))"
        return f"{total} * {2 ** (place * _LIMB)}" if place else total

    def shifted(self, total: str, bits: int) -> str:
        most = 2 ** (62 + bits)
        inside = f"LEAST(GREATEST(COALESCE(CAST({total} AS DECIMAL(38,0)), 0), {-most}), {most})"
        return f"({inside} div {2**bits})"

    def floor_divide(self, whole: str, by: str) -> str:
        return f"({whole} div {by})"

    def bits_set(self, masks: str) -> str:
        return f"CAST(BIT_COUNT(BIT_OR(CAST({masks} AS BIGINT))) AS BIGINT)"

    def like(self, text: str, pattern: str) -> str:
        whole = pattern.replace("\\", "\\\\")  # a lone backslash raises
        return f"({text} LIKE {self.text(whole)})"

    def _sha256(self, text: str) -> str:
        return f"SHA2({text}, 256)"

    def part(self, name: str, moment: str) -> str:
        found = f"EXTRACT({_PARTS.get(name, name.upper())} FROM {moment})"
        return self.whole(f"FLOOR({found})" if name == "second" else found)

    def start(self, name: str, moment: str) -> str:
        """Not by DATE_TRUNC, which uses the time zone of the session."""
        day = f"CAST({moment} AS DATE)"
        return day if name == "day" else f"TRUNC({day}, '{name}')"

    def time_start(self, name: str, moment: str) -> str:
        minutes = f"CAST(EXTRACT(MINUTE FROM {moment}) AS INT)" if name == "hour" else "0"
        return f"({moment} - MAKE_DT_INTERVAL(0, 0, {minutes}, EXTRACT(SECOND FROM {moment})))"

    def day_number(self, date: str) -> str:
        since = f"DATEDIFF({date}, DATE '0001-01-01')"
        return f"({self.whole(since)} + 1)"

    def microseconds(self, moment: str) -> str:
        seconds = f"CAST(EXTRACT(SECOND FROM {moment}) * 1000000 AS BIGINT)"
        minutes = f"{self.part('hour', moment)} * 60 + {self.part('minute', moment)}"
        return f"((({self.day_number(f'CAST({moment} AS DATE)')} - 1) * 1440 + {minutes}) * 60000000 + {seconds})"

    def later_day(self, date: str, days: str) -> str:
        return f"DATE_ADD({date}, CAST({days} AS INT))"

    def later_month(self, moment: str, months: int, kind: Kind) -> str:
        return f"ADD_MONTHS({moment}, {months})" if kind is Kind.DATE else f"({moment} + INTERVAL '{months}' MONTH)"

    def later(self, moment: str, microseconds: int) -> str:
        seconds, small = divmod(abs(microseconds), 10**6)
        (minutes, second), (days, rest) = divmod(seconds, 60), divmod(seconds // 60, 1440)
        time = f"{days} {rest // 60:02}:{minutes % 60:02}:{second:02}.{small:06}"
        return f"({moment} + INTERVAL '{'-' if microseconds < 0 else ''}{time}' DAY TO SECOND)"


SPARK = SparkDialect()
