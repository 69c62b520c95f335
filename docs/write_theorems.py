"""Write docs/theorems.md: what every mechanism and loss promises, taken from the docstrings and never retyped."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "theorems.md"
PLACES = {
    "Mechanisms": "mechanisms/**/*.py",
    "Many queries at once": "algorithms/classical/*.py",
    "Synthetic tables": "algorithms/marginals/*.py",
    "Losses": "loss/*.py",
    "Laws of noise": "noise/*.py",
    "Attacks": "attacks/*.py",
}


def promises(path: Path) -> list[tuple[str, str]]:
    """The classes and functions of a file that state a theorem, with their docstrings up to the examples."""
    found = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            text = ast.get_docstring(node) or ""
            if "Theorem (" in text:
                found.append((node.name, text.split("\n>>>")[0].rstrip()))
    return found


def page() -> str:
    """The whole page."""
    lines = ["# What is promised, and why", "", "Made by `python docs/write_theorems.py` from the docstrings; a test keeps it current.", ""]
    for title, places in PLACES.items():
        lines += [f"## {title}", ""]
        for path in sorted((ROOT / "src" / "discreet").glob(places)):
            for name, text in promises(path):
                where = path.relative_to(ROOT / "src").with_suffix("").as_posix().replace("/", ".")
                lines += [f"### {name}", f"`{where}`", "", "```text", text, "```", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"written: {PAGE.relative_to(ROOT)}")
