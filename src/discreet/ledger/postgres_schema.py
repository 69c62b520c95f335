"""The schema of a ledger in PostgreSQL: its tables, constraints and triggers, how they are checked, and how a transaction begins."""

from __future__ import annotations

from hashlib import sha256

VERSION = 4
IDLE = 10.0  # seconds that a writer may be idle before the server ends its transaction

# Writes through PostgresStorage never violate these triggers. They restrict a role that does not own the tables and so cannot drop them.
_FOLLOW = """
BEGIN
    IF NEW.sequence <> (SELECT count(*) + coalesce(max(sequence), 0) FROM {schema}.state) THEN
        RAISE EXCEPTION 'entries follow one another';
    END IF;
    RETURN NEW;
END
"""
_AGREE = """
BEGIN
    IF NEW.sequence <> OLD.sequence + 1
        OR NEW.head IS DISTINCT FROM (SELECT hash FROM {schema}.entries WHERE sequence = NEW.sequence) THEN
        RAISE EXCEPTION 'the state follows the entries';
    END IF;
    RETURN NEW;
END
"""
_STAY = """
BEGIN
    RAISE EXCEPTION 'what was written stays';
END
"""
_FUNCTIONS = {"agree": _AGREE, "follow": _FOLLOW, "stay": _STAY}

_TABLES = (
    """CREATE TABLE {schema}.about (
    one boolean PRIMARY KEY CONSTRAINT about_one CHECK (one),
    application text NOT NULL,
    version integer NOT NULL
)""",
    """CREATE TABLE {schema}.entries (
    sequence bigint PRIMARY KEY CONSTRAINT entries_sequence CHECK (sequence >= 0),
    kind text NOT NULL CONSTRAINT entries_kind
        CHECK (kind IN ('terms', 'grant', 'spend', 'release', 'receive', 'checkpoint') AND (kind = 'terms') = (sequence = 0)),
    body text NOT NULL,
    previous text NOT NULL UNIQUE CONSTRAINT entries_previous CHECK (length(previous) = 64),
    at text NOT NULL CONSTRAINT entries_at CHECK (length(at) = 27),
    hash text NOT NULL CONSTRAINT entries_hash CHECK (length(hash) = 64),
    once text UNIQUE CONSTRAINT entries_once
        CHECK (CASE kind WHEN 'spend' THEN true ELSE (kind IN ('release', 'receive')) = (once IS NOT NULL) END),
    question text CONSTRAINT entries_question CHECK ((kind = 'release') = (question IS NOT NULL))
)""",
    """CREATE TABLE {schema}.state (
    id integer PRIMARY KEY CONSTRAINT state_id CHECK (id = 1),
    sequence bigint NOT NULL,
    head text NOT NULL,
    filter text NOT NULL
)""",
    """CREATE TABLE {schema}.leases (
    name text PRIMARY KEY,
    holder text NOT NULL,
    expires double precision NOT NULL,
    analyst text,
    charge text
)""",
    "CREATE INDEX entries_of_a_question ON {schema}.entries (question, sequence) WHERE kind = 'release'",
    "CREATE INDEX entries_checkpoints ON {schema}.entries (sequence) WHERE kind = 'checkpoint'",
)

# name, table, event, granularity, function
_TRIGGERS = (
    ("about_stays", "about", "BEFORE UPDATE OR DELETE OR TRUNCATE", "STATEMENT", "stay"),
    ("entries_follow", "entries", "BEFORE INSERT", "ROW", "follow"),
    ("entries_stay", "entries", "BEFORE UPDATE OR DELETE OR TRUNCATE", "STATEMENT", "stay"),
    ("state_follows", "state", "BEFORE UPDATE", "ROW", "agree"),
    ("state_stays", "state", "BEFORE DELETE OR TRUNCATE", "STATEMENT", "stay"),
)

APPLICATION = "discreet"


def statements(schema: str) -> list[str]:
    """The statements that create the tables of a ledger in an existing empty schema."""
    made = [table.format(schema=schema) for table in _TABLES]
    for name, body in _FUNCTIONS.items():
        made.append(
            f"CREATE FUNCTION {schema}.{name}() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp "
            f"AS $wall${body.format(schema=schema)}$wall$"
        )
    for name, table, when, each, function in _TRIGGERS:
        made.append(f"CREATE TRIGGER {name} {when} ON {schema}.{table} FOR EACH {each} EXECUTE FUNCTION {schema}.{function}()")
    made.append(f"INSERT INTO {schema}.about (one, application, version) VALUES (true, '{APPLICATION}', {VERSION})")
    return made


# Every object of the schema as one line: permanent tables (persistence p), unique and valid indices, enabled triggers with their events,
# the hashes of function bodies. An additional line is as wrong as a missing one.
INSPECTION = """
SELECT format('table %%s %%s %%s %%s', relname, relkind, relpersistence, relrowsecurity)
FROM pg_class WHERE relnamespace = %(schema)s::regnamespace AND relkind NOT IN ('i', 'I')
UNION ALL
SELECT format('index %%s %%s %%s', relname, indisunique, indisvalid AND indislive)
FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE relnamespace = %(schema)s::regnamespace
UNION ALL
SELECT format('constraint %%s %%s %%s', conname, contype, convalidated)
FROM pg_constraint WHERE connamespace = %(schema)s::regnamespace AND contype = 'c'
UNION ALL
SELECT format('column %%s.%%s %%s %%s', relname, attname, format_type(atttypid, atttypmod), attnotnull)
FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
WHERE relnamespace = %(schema)s::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
UNION ALL
SELECT format('trigger %%s %%s %%s %%s %%s %%s', tgname, relname, tgtype, tgenabled, tgqual IS NULL, tgfoid::regproc)
FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid WHERE relnamespace = %(schema)s::regnamespace
UNION ALL
SELECT format('rule %%s', rulename)
FROM pg_rewrite JOIN pg_class ON pg_class.oid = ev_class WHERE relnamespace = %(schema)s::regnamespace
UNION ALL
SELECT format('function %%s %%s', proname, encode(sha256(convert_to(prosrc, 'UTF8')), 'hex'))
FROM pg_proc WHERE pronamespace = %(schema)s::regnamespace
"""

_COLUMNS = {
    "about": {"one": "boolean", "application": "text", "version": "integer"},
    "entries": {
        "sequence": "bigint", "kind": "text", "body": "text", "previous": "text", "at": "text", "hash": "text", "once": "text",
        "question": "text",
    },
    "state": {"id": "integer", "sequence": "bigint", "head": "text", "filter": "text"},
    "leases": {"name": "text", "holder": "text", "expires": "double precision", "analyst": "text", "charge": "text"},
}  # fmt: skip
_OPTIONAL = ("once", "question", "analyst", "charge")  # columns that may be NULL
_INDICES = {
    "about_pkey": "t", "entries_pkey": "t", "entries_previous_key": "t", "entries_once_key": "t", "state_pkey": "t", "leases_pkey": "t",
    "entries_of_a_question": "f", "entries_checkpoints": "f",
}  # fmt: skip
_CHECKS = (
    "about_one",
    "entries_sequence",
    "entries_kind",
    "entries_previous",
    "entries_at",
    "entries_hash",
    "entries_once",
    "entries_question",
    "state_id",
)
_MOMENTS = {"BEFORE": 2, "INSERT": 4, "DELETE": 8, "UPDATE": 16, "TRUNCATE": 32}  # the bits of pg_trigger.tgtype; 1 means FOR EACH ROW


def expected(schema: str) -> list[str]:
    """The sorted lines that `INSPECTION` must return."""
    lines = [f"table {table} r p f" for table in _COLUMNS]
    lines += [f"index {name} {unique} t" for name, unique in _INDICES.items()]
    lines += [f"constraint {name} c t" for name in _CHECKS]
    for table, columns in _COLUMNS.items():
        lines += [f"column {table}.{name} {kind} {'f' if name in _OPTIONAL else 't'}" for name, kind in columns.items()]
    for name, table, when, each, function in _TRIGGERS:
        moment = (each == "ROW") + sum(bit for word, bit in _MOMENTS.items() if word in when.split())
        lines.append(f"trigger {name} {table} {moment} O t {schema}.{function}")
    for name, body in _FUNCTIONS.items():
        lines.append(f"function {name} {sha256(body.format(schema=schema).encode()).hexdigest()}")
    return sorted(lines)


def begin_reading(patience: float) -> str:
    """Begin to read one snapshot of the ledger."""
    return (
        "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; SET LOCAL search_path = pg_catalog, pg_temp; "
        f"SET LOCAL statement_timeout = {round(2000 * patience)}"
    )


def begin_writing(patience: float) -> str:
    """Begin to write, whatever the settings of the role; a durability setting stronger than required is kept."""
    return (
        "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE; SET LOCAL search_path = pg_catalog, pg_temp; "
        f"SET LOCAL lock_timeout = {round(1000 * patience)}; SET LOCAL statement_timeout = {round(2000 * patience)}; "
        f"SET LOCAL idle_in_transaction_session_timeout = {round(1000 * IDLE)}; "
        "SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit') "
        "WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true)"
    )
