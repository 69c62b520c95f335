"""Questions that are read, each with what it is read as (see clinic.shown)."""

from query.sql.accepted_dates import DATES
from query.sql.accepted_expressions import EXPRESSIONS
from query.sql.accepted_lists import LISTS
from query.sql.accepted_sources import SOURCES
from query.sql.accepted_statistics import STATISTICS
from query.sql.accepted_windows import WINDOWS

ACCEPTED: list[tuple[str, str]] = [*STATISTICS, *EXPRESSIONS, *SOURCES, *DATES, *LISTS, *WINDOWS]
