"""A project: a discreet.toml beside its data declares who is protected, the budget, and what is public about the tables."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet.address import is_address, without_credentials
from discreet.engines.choose import open_engine, tables_of
from discreet.engines.engine import Engine
from discreet.engines.limits import EngineLimits
from discreet.engines.separated import SeparatedFile, with_delimiter
from discreet.errors import EngineError, Invalid, PolicyError
from discreet.session.session import Session
from discreet.tables.draft import Decided, draft
from discreet.tables.kind import Kind
from discreet.tables.policy import Policy, begin_policy, read_policy
from discreet.tables.problems import Problems, subpath

FILE = "discreet.toml"
_DATA = (".parquet", ".csv", ".tsv")


def find_project(path: str | os.PathLike[str]) -> Path | None:
    """The absolute path of the project's file, if this is one or a folder with one."""
    if is_address(path):
        return None
    place = Path(path).expanduser().absolute()
    if place.is_dir():
        place = place / FILE
        return place if place.is_file() else None
    return place if place.suffix == ".toml" else None


def open_project(
    path: str | os.PathLike[str],
    engine: Any = None,
    analyst: str | None = None,
    *,
    per_account: bool = False,
    limits: EngineLimits | None = None,
) -> Session:
    """Open what a discreet.toml declares, or raise one PolicyError that lists all problems; relative paths start from its folder."""
    place, text = _text(path)
    policy, sources, opened = _opened(text, place, engine, limits)
    ledger, witness = ledger_of(policy, place)
    return Session.open(opened, policy, sources, ledger, witness, analyst, per_account=per_account)


def check_project(text: str, place: Path) -> None:
    """Raise the PolicyError that a text would raise as the discreet.toml at this place; nothing is written, no ledger is opened."""
    policy, sources, opened = _opened(text, place)
    with opened:
        policy.catalog({name: opened.schema(name) for name in sources}, {name: opened.untyped(name) for name in sources})


def _opened(text: str, place: Path, engine: Any = None, limits: EngineLimits | None = None) -> tuple[Policy, dict[str, Any], Engine]:
    """The policy of a text, its sources, and their engine; one PolicyError that lists all problems."""
    problems = Problems()
    policy = begin_policy(text, problems)
    sources = sources_of(policy, place, problems)
    try:
        opened = open_engine(sources, policy.declared, engine if engine is not None else policy.engine, policy.identities, limits)
    except EngineError:
        problems.stop()  # problems of the policy are reported before those of the engine
        raise
    if problems.found:
        with opened:
            policy.fit({name: opened.schema(name) for name in sources}, problems, {name: opened.untyped(name) for name in sources})
        problems.stop()
    return policy, sources, opened


def read_project(path: str | os.PathLike[str]) -> tuple[Path, Policy]:
    """The project's file and its policy; nothing else is opened."""
    place, text = _text(path)
    return place, read_policy(text)


def _text(path: str | os.PathLike[str]) -> tuple[Path, str]:
    place = find_project(path)
    if place is None:
        raise PolicyError(f"there is no {FILE} in {os.fspath(path)}: write one with `discreet init`")
    try:
        return place, place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise PolicyError(f"{place} cannot be read: check that it exists, and that it is UTF-8 text") from None


def sources_of(policy: Policy, place: Path, problems: Problems) -> dict[str, Any]:
    """The source of each table; a missing declaration or a missing file is added to the problems, and its table is left out."""
    found: dict[str, Any] = {}
    for table in policy.tables:
        path = subpath(table.path, "source")
        if table.source is None:
            problems.add(path, 'is missing; say which file holds this table, for example "visits.parquet"')
            continue
        if "://" in table.source:  # an address, not a path relative to the project
            address, _, elsewhere = table.source.rpartition("#")
            found[table.name] = (address, elsewhere) if elsewhere and is_address(address) else table.source
            continue
        file = place.parent / Path(table.source).expanduser()
        if not file.exists() and not glob.has_magic(file.name):
            problems.add(path, f"there is no file {file}: correct the path, relative to {FILE}")
            continue
        found[table.name] = str(file)
        with problems.at(subpath(table.path, "delimiter")):
            found |= with_delimiter({table.name: str(file)}, table.delimiter)
    return found


def ledger_of(policy: Policy, place: Path) -> tuple[str, str | None]:
    """The places of the ledger and its witness: as the policy declares; by default the ledger is beside the project's file."""
    if policy.ledger == ":memory:" or is_address(policy.ledger):
        ledger = str(policy.ledger)
    else:
        ledger = str(place.with_suffix(".ledger") if policy.ledger is None else place.parent / Path(policy.ledger).expanduser())
    return ledger, None if policy.witness is None else str(place.parent / Path(policy.witness).expanduser())


def init(data: Sequence[str | os.PathLike[str]], path: str | os.PathLike[str] | None = None, delimiter: str | None = None) -> Path:
    """Draft a discreet.toml for files or a folder of them, from their schemas alone; never overwrite one that exists.

    `delimiter` is the character between the fields of CSV files, where it is not a comma.
    """
    if not data:
        raise Invalid("no data was named: name the files that hold the tables, or their folder")
    files = list(data)
    beside = Path() if is_address(data[0]) else Path(data[0]).expanduser().absolute().parent
    if len(data) == 1 and not is_address(data[0]) and Path(data[0]).expanduser().is_dir():
        folder = Path(data[0]).expanduser().absolute()
        files = list(files_in(folder))
        beside = beside if files == [folder] else folder
    if len(data) == 1 and is_address(data[0]):
        sources = with_delimiter(tables_of(data[0]) or {}, delimiter)
    else:
        sources = sources_named(files, delimiter)
    place = Path(path) if path is not None else beside / FILE
    place = place / FILE if place.is_dir() else place
    write_policy(draft_policy(sources, place.absolute().parent), place)
    return place


def sources_named(files: Sequence[str | os.PathLike[str]], delimiter: str | None = None) -> dict[str, Any]:
    """The files by the names of their tables; `delimiter` is that of CSV files, if not a comma."""
    sources = {Path(one).name.split(".")[0]: os.fspath(one) for one in files}
    if len(sources) < len(files):
        raise Invalid("two of these files would make tables of the same name: rename one of them")
    return dict(with_delimiter(sources, delimiter))


def schemas_of(sources: Mapping[str, Any]) -> dict[str, Mapping[str, Kind | None]]:
    """The columns of each source and their kinds; no value is read."""
    with open_engine(sources) as engine:
        return {name: engine.schema(name) for name in sources}


def draft_policy(sources: Mapping[str, Any], folder: Path, decided: Decided | None = None) -> str:
    """A draft of the discreet.toml of a folder, from schemas alone."""
    delimiters = {name: source.delimiter for name, source in sources.items() if isinstance(source, SeparatedFile)}
    return draft(schemas_of(sources), _from(sources, folder), delimiters, decided=decided)


def write_policy(text: str, place: Path) -> None:
    """Write a new policy; Invalid if there is one already."""
    try:
        with place.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise Invalid(f"{place} exists already: edit it, or name another file") from None
    except OSError:
        raise Invalid(f"{place} cannot be written: check that its folder exists and is writable") from None


def files_in(folder: Path) -> tuple[Path, ...]:
    """The tables of a folder: each data file in it, and each folder of Parquet files; or the folder itself, if it holds parts of one table.

    Parts are Parquet files of one schema and nothing else; only schemas are looked at.
    """
    inside = sorted(one for one in folder.iterdir() if not one.name.startswith((".", "_")))
    files = [one for one in inside if one.is_file() and is_data_file(one.name)]
    folders = [one for one in inside if one.is_dir() and any(one.rglob("*.parquet"))]
    if not files and not folders:
        raise Invalid(f"there is no Parquet or CSV file in the folder {folder}: name the files that hold the tables")
    if len(files) > 1 and not folders and all(one.suffix == ".parquet" for one in files):
        with open_engine({f"part_{place}": str(one) for place, one in enumerate(files)}) as engine:
            schemas = [engine.schema(f"part_{place}") for place in range(len(files))]
        if all(schema == schemas[0] for schema in schemas):
            return (folder,)
    return (*files, *folders) if files else (folder,) if any(_is_partition(one) for one in folders) else tuple(folders)


def is_data_file(name: str) -> bool:
    """Whether a file of this name holds a table: Parquet, or CSV, perhaps compressed."""
    return name.lower().removesuffix(".gz").endswith(_DATA)


def _is_partition(folder: Path) -> bool:
    return "=" in folder.name  # as Hive names the parts of one table


def _from(sources: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """The files as named from the folder, where they lie in it; else in full."""
    found = {}
    for name, source in sources.items():
        if isinstance(source, tuple):
            address, table = source
            found[name] = f"{without_credentials(address)}#{table}"
            continue
        full = Path(source).expanduser().absolute()
        found[name] = full.relative_to(folder).as_posix() if full.is_relative_to(folder) else str(full)
    return found
