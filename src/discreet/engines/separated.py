"""A text file whose fields are separated in another way than its extension says."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, final

from attrs import field, frozen

from discreet.errors import Invalid

DELIMITERS = {".csv": ",", ".tsv": "\t"}  # by extension, where none is declared
_ALLOWED = (",", ";", "\t", "|")
_TAB = "tab"  # how a command line or a person may write it


def read_delimiter(given: Any) -> str:
    """A delimiter as people write it.

    >>> read_delimiter(";"), read_delimiter("tab")
    (';', '\\t')
    """
    found = "\t" if given == _TAB else given
    if found not in _ALLOWED:
        raise Invalid('delimiter must be ",", ";", "|" or "tab": the character between the fields of a CSV file')
    return str(found)


def is_separated(path: str | os.PathLike[str]) -> bool:
    """Whether this is the name of a text file with separated fields.

    >>> is_separated("a.csv.gz"), is_separated("a.parquet")
    (True, False)
    """
    return Path(Path(path).name.removesuffix(".gz")).suffix.lower() in DELIMITERS


@final
@frozen
class SeparatedFile(os.PathLike[str]):
    """The path of a text file, and the delimiter that was declared for it."""

    path: str = field(converter=os.fspath)
    delimiter: str = field(converter=read_delimiter)

    def __fspath__(self) -> str:
        return self.path


def with_delimiter(sources: Mapping[str, Any], delimiter: str | None) -> dict[str, Any]:
    """The sources, with this delimiter for each text file among them; Invalid if there is none."""
    if delimiter is None:
        return dict(sources)
    wanted = read_delimiter(delimiter)
    files = {name for name, given in sources.items() if isinstance(given, str | os.PathLike) and is_separated(given)}
    if not files:
        raise Invalid("delimiter is for CSV files, and there is none here: leave it out")
    return {name: SeparatedFile(given, wanted) if name in files else given for name, given in sources.items()}
