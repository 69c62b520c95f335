"""Public names of a package, listed once and loaded on first use, so that importing the package does not import all its modules."""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def exports(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package, from the imports that its `__init__` lists under `if TYPE_CHECKING:`.

    That block is the one list of public names: type checkers read it, and so does this function.
    """
    places = _listed(Path(file).read_text(encoding="utf-8"))
    names = sorted(places)

    def load(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}{_elsewhere(package, name)}")
        module = places[name]
        return import_module(f"{package}.{name}") if module == package else getattr(import_module(module), name)

    return load, lambda: names, names


def _listed(source: str) -> dict[str, str]:
    """The module of each name that is imported under `if TYPE_CHECKING:`."""
    blocks = [node for node in ast.parse(source).body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


_PUBLIC = ("algorithms", "attacks", "errors", "loss", "mechanisms")


def _elsewhere(package: str, name: str) -> str:
    """A hint that names the submodule of a name that is missing at the root."""
    if package != "discreet" or name.startswith("_"):
        return ""
    home = next((f"discreet.{place}" for place in _PUBLIC if name in import_module(f"discreet.{place}").__all__), None)
    return "" if home is None else f": it is in {home}, so write {home}.{name}"
