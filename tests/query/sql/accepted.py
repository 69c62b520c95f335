"""Questions that are read, each with what it is read as (see clinic.shown)."""

from query.sql.accepted_expressions import EXPRESSIONS
from query.sql.accepted_sources import SOURCES
from query.sql.accepted_statistics import STATISTICS

ACCEPTED: list[tuple[str, str]] = [*STATISTICS, *EXPRESSIONS, *SOURCES]
