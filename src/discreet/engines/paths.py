"""Paths of files that several engines read."""

from __future__ import annotations

import glob
from collections.abc import Iterable
from pathlib import Path

from discreet.errors import EngineError


def fixed_folder(pattern: Path) -> Path:
    """The folder of a glob pattern, up to the first part with a wildcard."""
    magic = next((i for i, part in enumerate(pattern.parts) if glob.has_magic(part)), len(pattern.parts) - 1)
    return Path(*pattern.parts[:magic])


def require_no_partitions(table: str, folders: Iterable[str], columns: Iterable[str], instead: str) -> None:
    """Refuse Hive partitions: folders named column=value for a column that the files do not store."""
    missing = sorted({folder.split("=")[0] for folder in folders if "=" in folder} - set(columns))
    if missing:
        named = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
        raise EngineError(
            f"{table}: {named} is stored only in folder names ({missing[0]}=…), which are not read as columns: write the files again "
            f"with this column in them{instead}"
        )
