"""Private questions through Python's database interface (DB-API 2.0, PEP 249), for tools that already speak it.

    connection = discreet.dbapi.connect("https://host/visits", token="…", epsilon=0.1)
    cursor = connection.cursor()
    cursor.execute("SELECT dept, COUNT(*) AS n FROM visits WHERE cost > ? GROUP BY dept", [100])
    cursor.fetchall()  # dept, n, n_low, n_high

Connecting, describing, EXPLAIN and SHOW read no private row and cost nothing; the same question at the same price is the same answer, free.
"""

from discreet.dbapi.connection import Connection, connect
from discreet.dbapi.cursor import Cursor
from discreet.dbapi.errors import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,
)
from discreet.dbapi.types import BINARY as BINARY
from discreet.dbapi.types import DATETIME as DATETIME
from discreet.dbapi.types import NUMBER as NUMBER
from discreet.dbapi.types import ROWID as ROWID
from discreet.dbapi.types import STRING as STRING
from discreet.dbapi.types import Binary as Binary
from discreet.dbapi.types import Date as Date
from discreet.dbapi.types import DateFromTicks as DateFromTicks
from discreet.dbapi.types import Time as Time
from discreet.dbapi.types import TimeFromTicks as TimeFromTicks
from discreet.dbapi.types import Timestamp as Timestamp
from discreet.dbapi.types import TimestampFromTicks as TimestampFromTicks

apilevel = "2.0"
threadsafety = 1  # threads may share the module, not a connection
paramstyle = "qmark"  # and by name, as in :dept, where parameters are a dict

__all__ = [  # what has an entry in the reference; the other names are those of PEP 249
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Warning",
    "connect",
]
