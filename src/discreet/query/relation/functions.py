"""The closed list of functions: for each its type rule, its SQL, and its value on public numbers.

Every function is total on what its rule admits: no row makes the engine raise an error. Ranges exclude overflow; divisors and logarithms
whose range contains 0 are refused; text is never cast.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, final

from attrs import evolve, frozen

from discreet.engines.dialect import Dialect
from discreet.errors import Refused
from discreet.query.relation import calendar, date_text, division, logic, number, text, values
from discreet.query.relation.field import Field
from discreet.tables.kind import Kind

Rule = Callable[[Sequence[Field]], Field]
Writer = Callable[[Dialect, Sequence[str], Sequence[Field], Field], str]


@final
@frozen
class Function:
    """One function: its name, its type rule, its SQL, and (for post-processing) its value."""

    name: str
    rule: Rule
    write: Writer
    value: Callable[..., Any] | None = None
    least: int = 1
    most: int | None = None

    def field(self, arguments: Sequence[Field]) -> Field:
        """Infer the field of the result, or raise Refused."""
        most = self.least if self.most is None else self.most
        if not self.least <= len(arguments) <= most:
            raise Refused(f"{self.name} takes {self.least}{'' if most == self.least else f' to {most}'} arguments, not {len(arguments)}")
        found = self.rule(arguments)
        return found if found.kind is not Kind.REAL or found.range is None else evolve(found, range=found.range.floats())


MANY = 10_000

FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in [
        Function("add", number.add, number.write_operator("+"), values.null_safe(lambda a, b: a + b), 2),
        Function("subtract", number.subtract, number.write_operator("-"), values.null_safe(lambda a, b: a - b), 2),
        Function("multiply", number.multiply, number.write_operator("*"), values.null_safe(lambda a, b: a * b), 2),
        Function("divide", division.divide, division.write_divide, values.null_safe(values.quotient), 2),
        Function("divide_or_null", division.divide_or_null, division.write_divide_or_null, values.null_safe(values.quotient), 2),
        Function("modulo", number.modulo, number.write_modulo, values.null_safe(values.remainder), 2),
        Function("negate", number.negate, number.write_prefix("-"), values.null_safe(lambda a: -a)),
        Function("abs", number.absolute, number.write_call("ABS"), values.null_safe(abs)),
        Function("floor", number.to_whole(math.floor), number.write_floor, values.null_safe(values.floor)),
        Function("ceil", number.to_whole(math.ceil), number.write_ceil, values.null_safe(values.ceil)),
        Function("truncate", number.to_whole(int), number.write_truncate, values.null_safe(int)),
        Function("round", number.rounded, number.write_round, values.null_safe(values.round_half_up), 1, 2),
        Function("to_real", number.to_real, number.write_to_real, values.null_safe(float)),
        Function("sqrt", number.sqrt, number.write_sqrt, values.null_safe(values.safe_sqrt)),
        Function("ln", number.ln, number.write_ln, values.null_safe(values.safe_ln)),
        Function("exp", number.exp, number.write_exp, values.null_safe(values.safe_exp)),
        Function("least", number.least, number.write_choice("LEAST"), values.null_safe(min), 2, MANY),
        Function("greatest", number.greatest, number.write_choice("GREATEST"), values.null_safe(max), 2, MANY),
        Function("width_bucket", number.width_bucket, number.write_width_bucket, None, 4),
        *(
            Function(name, logic.compare, logic.write_comparison(symbol), values.null_safe(value), 2)
            for name, (symbol, value) in logic.COMPARISONS.items()
        ),
        Function("and", logic.connective, logic.write_connective("AND"), logic.value_and, 2, MANY),
        Function("or", logic.connective, logic.write_connective("OR"), logic.value_or, 2, MANY),
        Function("not", logic.negation, logic.write_not, logic.value_not),
        Function("is_null", logic.is_null, logic.write_is_null, lambda a: a is None),
        Function("in", logic.member, logic.write_in, logic.value_in, 2, MANY),
        Function("case", logic.case, logic.write_case, logic.value_case, 3, MANY),
        Function("coalesce", logic.coalesce, logic.write_coalesce, logic.value_coalesce, 1, MANY),
        Function("like", text.like, text.write_like, None, 2),
        Function("starts_with", text.like, text.write_starts_with, None, 2),
        Function("lower", text.text_to_text, text.write_case("LOWER"), values.null_safe(str.lower)),
        Function("upper", text.text_to_text, text.write_case("UPPER"), values.null_safe(str.upper)),
        Function("trim", text.text_to_text, text.write_trim, values.null_safe(lambda a: a.strip(" "))),
        Function("length", text.length, text.write_length, values.null_safe(len)),
        Function("substring", text.substring, text.write_substring, None, 3),
        Function("concat", text.concat, text.write_concat, text.value_concat, 2, MANY),
        *(
            Function(name, calendar.part(name), calendar.write_part(name), values.of_dates(partial(values.part_of, name)))
            for name in calendar.PARTS
        ),
        *(
            Function(f"start_of_{name}", calendar.start(name), calendar.write_start(name), values.of_dates(partial(values.start_of, name)))
            for name in calendar.STARTS
        ),
        *(Function(f"start_of_{name}", calendar.time_start(name), calendar.write_time_start(name)) for name in calendar.TIME_STARTS),
        *(
            Function(f"{name}_number", calendar.number(name), calendar.write_number(name), values.of_dates(partial(values.number_of, name)))
            for name in calendar.NUMBERS
        ),
        *(Function(f"{name}_number", calendar.time_number(name), calendar.write_time_number(name)) for name in calendar.TIME_NUMBERS),
        Function("to_date", calendar.to_date, calendar.write_to_date, values.of_dates(partial(values.start_of, "day"))),
        Function("to_timestamp", calendar.to_timestamp, calendar.write_to_timestamp),
        Function("add_days", calendar.add_days, calendar.write_add_days, None, 2),
        Function("add_months", calendar.add_months, calendar.write_add_months, None, 2),
        Function("add_microseconds", calendar.add_microseconds, calendar.write_add_microseconds, None, 2),
        Function("date_text", date_text.rule, date_text.write, values.of_dates(date_text.value), 2),
    ]
}
