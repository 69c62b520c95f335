"""One table, as rows, as SQL and as CSV."""

from __future__ import annotations

import datetime
import math

from discreet.tables.kind import Kind

KINDS = {"id": Kind.INTEGER, "cost": Kind.REAL, "dept": Kind.TEXT, "day": Kind.DATE, "seen": Kind.TIMESTAMP, "old": Kind.BOOLEAN}
DAY, AT = datetime.date(2026, 11, 15), datetime.datetime(2026, 11, 15, 8, 30)
ROWS = [(1, 0.5, "a", DAY, AT, True), (2, None, None, None, None, None), (3, math.inf, "SECRET", DAY, AT, False)]
TABLE = """
    CREATE TABLE visits AS SELECT * FROM (VALUES
        (1::BIGINT, 0.5::DOUBLE, 'a', DATE '2026-11-15', TIMESTAMP '2026-11-15 08:30:00', true),
        (2, NULL, NULL, NULL, NULL, NULL),
        (3, 'inf'::DOUBLE, 'SECRET', DATE '2026-11-15', TIMESTAMP '2026-11-15 08:30:00', false)) v(id, cost, dept, day, seen, old)"""
CSV = (
    "id,cost,dept,day,seen,old\n"
    "1,0.5,a,2026-11-15,2026-11-15 08:30:00,true\n"
    "2,,,,,\n"
    "3,inf,SECRET,2026-11-15,2026-11-15T10:30:00+02:00,false\n"
)
