"""The wheel and the sdist: built without a network, installed into an environment of their own, and used there."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

import discreet

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BESIDE = {"CHANGELOG.md", "CITATION.cff", "LICENSE", "PKG-INFO", "README.md", "SECURITY.md", "pyproject.toml", ".gitignore"}
_CLEAN = {
    name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}
}  # nothing of this checkout


def ran(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, env=_CLEAN, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    ran(sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", folder, cwd=ROOT)
    return folder / f"discreet-{discreet.__version__}.tar.gz"


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the sdist, as an installer does that finds no wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    ran(
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "--target",
        "wheel",
        "--directory",
        folder,
        cwd=folder / f"discreet-{discreet.__version__}",
    )
    return folder / f"discreet-{discreet.__version__}-py3-none-any.whl"


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new environment: the wheel, and the libraries of this one. Paths in a .pth file are not searched for further
    .pth files, so the editable install of this checkout is not seen."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=False)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    ran(sys.executable, "-m", "pip", "--python", folder, "install", "--quiet", "--no-deps", "--no-index", "--no-compile", wheel, cwd=folder)
    places = ran(programs / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder)
    (Path(places.strip()) / "libraries.pth").write_text("\n".join({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}))
    return programs


def test_the_sdist_holds_the_sources_and_nothing_private(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    sources = {name for name in names if name.startswith("src/discreet/")}
    assert {f"src/discreet/{path.relative_to(ROOT / 'src' / 'discreet').as_posix()}" for path in code()} == sources
    assert set(names) - sources <= BESIDE
    assert {"LICENSE", "README.md", "SECURITY.md", "pyproject.toml"} <= set(names)


def code() -> list[Path]:
    """What git knows, or would, of the package."""
    return [path for path in (ROOT / "src" / "discreet").rglob("*") if path.is_file() and "__pycache__" not in path.parts]


def test_the_wheel_holds_the_package_alone(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names} == {"discreet", f"discreet-{discreet.__version__}.dist-info"}
    assert {name for name in names if name.startswith("discreet/")} == {path.relative_to(ROOT / "src").as_posix() for path in code()}
    assert "discreet/py.typed" in names  # type checkers read our annotations
    assert f"discreet-{discreet.__version__}.dist-info/licenses/LICENSE" in names


def test_what_the_wheel_says_of_itself(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        told = message_from_string(archive.read(f"discreet-{discreet.__version__}.dist-info/METADATA").decode())
    assert told["Version"] == discreet.__version__
    assert told["License-Expression"] == "Apache-2.0"
    assert told["Author"] == "the discreet maintainers"
    assert told.get_all("Provides-Extra") == sorted(PROJECT["optional-dependencies"])
    assert told.get_all("Classifier") == PROJECT["classifiers"]


def test_all_is_every_extra_for_users() -> None:
    extras = PROJECT["optional-dependencies"]
    named = extras["all"][0].removeprefix("discreet[").removesuffix("]").split(",")
    assert set(named) == set(extras) - {"all", "dev", "docs", "gpu"}
    assert extras["dev"][0].startswith("discreet[all")


def test_it_is_imported_from_where_it_was_installed(installed: Path, tmp_path: Path) -> None:
    told = ran(installed / "python", "-c", "import discreet; print(discreet.__file__, discreet.__version__)", cwd=tmp_path).split()
    assert Path(told[0]).is_relative_to(installed.parent)
    assert told[1] == discreet.__version__


def test_the_command_works(installed: Path, tmp_path: Path) -> None:
    assert "ask" in ran(installed / "discreet", "--help", cwd=tmp_path)
    assert ran(installed / "discreet", "--version", cwd=tmp_path).strip() == f"discreet {discreet.__version__}"
    (tmp_path / "shops.csv").write_text("id,n\n" + "".join(f"c{i % 700},{i % 9}\n" for i in range(5000)))
    asked = ("ask", "shops.csv", "SELECT COUNT(*) AS n FROM shops", "--unit", "id", "--budget", "1", "--epsilon", "0.1")
    assert "ε = 0.9" in ran(installed / "discreet", *asked, cwd=tmp_path)
