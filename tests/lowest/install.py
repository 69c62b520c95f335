"""Make an environment with the lowest declared version of each dependency: python tests/lowest/install.py FOLDER."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXTRAS = ("arrow", "mcp", "oidc", "pandas", "polars", "plots", "postgres", "server", "spark", "sqlalchemy")
_BOUND = re.compile(r"([A-Za-z0-9_.\-]+(?:\[[a-z,]+\])?)>=([0-9][0-9.]*)(,<[0-9.]+)?")


def lowest(project: dict[str, object]) -> list[str]:
    """Each dependency pinned to its lower bound; one without a bound is an error, for nobody has tried it."""
    found: dict[str, str] = {}
    optional = project["optional-dependencies"]
    assert isinstance(optional, dict)
    needed = [*project["dependencies"], *(one for extra in EXTRAS for one in optional[extra])]  # type: ignore[misc]
    for one in needed:
        read = _BOUND.fullmatch(one)
        if read is None:
            raise SystemExit(f"{one}: write a lower bound, as in name>=1.2")
        if found.setdefault(read[1], read[2]) != read[2]:
            raise SystemExit(f"{read[1]}: two lower bounds, {found[read[1]]} and {read[2]}")
    return [f"{name}=={bound}" for name, bound in found.items()]


def main() -> None:
    """Install into the folder that is named."""
    folder = Path(sys.argv[1])
    pins = lowest(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"])
    done = folder / "pins"
    if done.exists() and done.read_text() == "\n".join(pins):
        return
    venv.create(folder, with_pip=True, clear=True)
    subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *pins], check=True)
    done.write_text("\n".join(pins))


if __name__ == "__main__":
    main()
