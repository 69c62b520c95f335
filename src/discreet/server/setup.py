"""Set up a data set: from a folder of data files without a policy to a policy that is served.

The owner does it in a browser, and a browser may be somebody else's. So whatever a form says, only files below the folder that the server
was started with are read, and the policy that is written there names no other place.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from discreet.errors import Error, Invalid
from discreet.server.datasets import named, places
from discreet.server.server import Server
from discreet.server.store import audit
from discreet.server.store.accounts import Account
from discreet.session.project import FILE, check_project, is_data_file, ledger_of, write_policy
from discreet.tables.policy import Policy, begin_policy
from discreet.tables.problems import Problems, subpath

_MOST_FILES, _MOST_SEEN = 200, 20_000  # files that are offered; entries of folders that are looked at for them
_HERE = "in the console this is {} below the folder of the data set; for another, edit the file on the server's machine"


def named_or_new(paths: Iterable[str | os.PathLike[str]]) -> tuple[dict[str, Path], dict[str, Path]]:
    """Policies by name, and folders that have none yet by name."""
    given = [Path(one) for one in paths]
    new = [one.expanduser().absolute() for one in given if _is_new(one.expanduser())]
    policies = named(one for one in given if not _is_new(one.expanduser()))
    folders: dict[str, Path] = {}
    for folder in new:
        if not folder.name.isidentifier() or folder.name in policies | folders:
            raise Invalid(f"the data set {folder.name!r} needs a name of its own, of letters and digits: rename its folder")
        folders[folder.name] = folder
    return policies, folders


def _is_new(folder: Path) -> bool:
    """Whether this is a folder in which nothing was ever spent and nothing is declared; a lost policy is not drafted anew."""
    return folder.is_dir() and not (folder / FILE).exists() and not (folder / FILE).with_suffix(".ledger").exists()


def files_below(folder: Path) -> list[str]:
    """The data files below a folder, as they are named from there: the first of them, if there are very many."""
    found: list[str] = []
    seen = 0
    for here, inner, names in os.walk(folder):
        inner[:] = sorted(name for name in inner if not name.startswith((".", "_")))
        found += [
            (Path(here) / name).relative_to(folder).as_posix() for name in sorted(names) if is_data_file(name) and not name.startswith(".")
        ]
        seen += len(inner) + len(names)
        if len(found) >= _MOST_FILES or seen >= _MOST_SEEN:
            break
    return found[:_MOST_FILES]


def file_below(folder: Path, typed: str) -> Path:
    """A data file below a folder; Invalid, in the same words, whether another place exists or not."""
    try:
        found = Path(os.path.realpath(folder / typed))
        if typed and found.is_relative_to(os.path.realpath(folder)) and found.is_file() and is_data_file(found.name):
            return folder / found.relative_to(os.path.realpath(folder))
    except (OSError, ValueError):  # no path at all
        pass
    raise Invalid(f"there is no such CSV or Parquet file below {folder}: choose one from the list, or copy it there")


def require_below(text: str, folder: Path) -> None:
    """Raise PolicyError if a policy names a place that is not below the folder; whether that place exists is not looked at."""
    problems = Problems()
    policy = begin_policy(text, Problems())
    for table in policy.tables:
        if table.source is not None and not _is_below(table.source, folder):
            problems.add(subpath(table.path, "source"), _HERE.format("a CSV or Parquet file"))
    if policy.engine not in (None, "duckdb"):
        problems.add("engine", _HERE.format("left out, because the tables are files"))
    _check_ledger(policy, folder, problems)
    problems.stop()


def _is_below(source: str, folder: Path) -> bool:
    if "://" in source or "\0" in source:
        return False
    place, root = folder / Path(source).expanduser(), os.path.realpath(folder)
    if not Path(os.path.realpath(place)).is_relative_to(root) or not (is_data_file(place.name) or place.is_dir()):
        return False  # elsewhere, or a ledger or the server's own accounts, which lie here too
    return all(Path(one).is_relative_to(root) for one in places(place))


def _check_ledger(policy: Policy, folder: Path, problems: Problems) -> None:
    ledger, witness = ledger_of(policy, folder / FILE)
    for name, place in (("ledger.path", ledger), ("ledger.witness", witness)):
        if place is None:
            continue
        if "://" in place or "\0" in place or not Path(os.path.realpath(place)).is_relative_to(os.path.realpath(folder)):
            problems.add(name, _HERE.format("a new file"))
        elif Path(place).exists():
            problems.add(name, "there is such a file already: name a new one")


def check(text: str, folder: Path) -> None:
    """Raise the PolicyError with all problems of a policy that is to be written into this folder."""
    require_below(text, folder)
    check_project(text, folder / FILE)


def save(server: Server, name: str, text: str, by: Account) -> None:
    """Write the policy of a folder that has none, and serve it at once."""
    folder = server.folders[name]
    place = folder / FILE
    check(text, folder)
    write_policy(text, place)
    try:
        server.datasets.add(name, place)
    except Error:
        place.unlink()
        raise
    server.folders.pop(name, None)
    with server.database.writing() as run:
        audit.add(run, by.name, "data set set up", name)
