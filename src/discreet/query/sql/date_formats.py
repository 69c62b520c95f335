"""Dates and timestamps as text: STRFTIME, TO_CHAR, DATE_FORMAT, and the names of months and days."""

from __future__ import annotations

import re

from sqlglot import exp

from discreet.query.sql.moments import uncast
from discreet.query.sql.reader import Case, Reader
from discreet.query.sql.refuse import only, refused
from discreet.query.sql.typed import Typed, literal

_ORACLE = {"YYYY": "%Y", "IYYY": "%G", "MM": "%m", "DD": "%d", "DDD": "%j", "HH24": "%H", "MI": "%M", "SS": "%S", "IW": "%V"}
_ORACLE |= {"Mon": "%b", "Dy": "%a", "ID": "%u"}
_STRFTIME = ("duckdb", "bigquery")  # dialects whose formats are strftime's, in which other letters stand for themselves


def _shown(node: exp.Expr, of: exp.Expr | None, written: exp.Expr | None, reader: Reader) -> Typed:
    if not isinstance(written, exp.Literal) or not written.is_string:
        raise refused(node, "a format is a literal text", "write STRFTIME(day, '%Y-%m')")
    text = re.sub(r"(%[A-Za-z])strict", r"\1", written.name)  # as the parser marks some directives of Spark
    if isinstance(node, exp.ToChar):
        text = re.sub(r"YYYY|IYYY|DDD|MM|DD|HH24|MI|SS|IW|Mon|Dy|ID", lambda found: _ORACLE[found.group()], text)
    if (reader.dialect not in _STRFTIME or isinstance(node, exp.ToChar)) and re.search("[A-Za-z]", re.sub("%[A-Za-z]", "", text)):
        raise refused(node, "this format has letters that are not known here", "write TO_CHAR(day, 'YYYY-MM'), or use EXTRACT")
    return reader.call(node, "date_text", reader.read(uncast(of)), literal(text))


def _time_to_text(node: exp.Expr, reader: Reader) -> Typed:
    only(node, "this", "format")
    return _shown(node, node.this, node.args.get("format"), reader)


def _named_text(node: exp.Anonymous, reader: Reader) -> Typed:
    """STRFTIME in dialects that have none of that name."""
    only(node, "this", "expressions")
    if len(node.expressions) != 2:
        raise refused(node, "STRFTIME takes a date and a format", "write STRFTIME(day, '%Y-%m')")
    return reader.call(node, "date_text", *(reader.read(part) for part in node.expressions))


def _name(full: str) -> Case:
    def read(node: exp.Expr, reader: Reader) -> Typed:
        only(node, "this", "abbreviated")
        short = reader.dialect in ("snowflake", "spark", "databricks") or node.args.get("abbreviated")
        return reader.call(node, "date_text", reader.read(uncast(node.this)), literal(full.lower() if short else full))

    return read


CASES: dict[type[exp.Expr], Case] = {
    exp.TimeToStr: _time_to_text,
    exp.ToChar: _time_to_text,
    exp.Monthname: _name("%B"),
    exp.Dayname: _name("%A"),
}
NAMED: dict[str, Case] = {"STRFTIME": _named_text}
