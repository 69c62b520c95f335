"""Public names are those under `if TYPE_CHECKING:`, loaded on first use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import discreet
from discreet import algorithms, attacks, loss, mechanisms
from discreet.exports import exports


def package(folder: Path, init: str) -> Path:
    place = folder / "__init__.py"
    place.write_text(init, encoding="utf-8")
    return place


def test_the_list_is_the_block(tmp_path: Path) -> None:
    """Only imports inside the block count, whatever else the file imports; a name may be a module of the package itself."""
    init = """
from os import getcwd
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from fractions import Fraction as Fraction
    from json import decoder as decoder
if getcwd():
    from math import pi
"""
    load, listed, names = exports("toy", str(package(tmp_path, init)))
    assert listed() == names == ["Fraction", "decoder"]
    assert load("Fraction")(1, 2) == 0.5
    with pytest.raises(AttributeError, match=r"module 'toy' has no attribute 'pi'$"):
        load("pi")


def test_a_module_of_the_package_is_imported(tmp_path: Path) -> None:
    init = "if TYPE_CHECKING:\n    from json import decoder as decoder\n"
    load, *_ = exports("json", str(package(tmp_path, init)))
    import json.decoder

    assert load("decoder") is json.decoder


@pytest.mark.parametrize("module", [discreet, algorithms, attacks, loss, mechanisms], ids=lambda module: module.__name__)
def test_every_listed_name_loads(module: object) -> None:
    for name in module.__all__:  # type: ignore[attr-defined]
        assert getattr(module, name) is not None
    assert dir(module) == sorted(module.__all__)  # type: ignore[attr-defined]


def test_a_name_of_a_submodule_is_pointed_to() -> None:
    with pytest.raises(AttributeError, match=r"it is in discreet\.mechanisms, so write discreet\.mechanisms\.Covariance"):
        discreet.Covariance  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match=r"so write discreet\.errors\.EngineError"):
        discreet.EngineError  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match=r"has no attribute 'Nothing'$"):
        discreet.Nothing  # type: ignore[attr-defined]  # noqa: B018


def test_one_name_does_not_load_the_others() -> None:
    seen = "import sys, discreet; discreet.Laplace; print(*(name in sys.modules for name in sys.argv[1:]))"
    out = subprocess.run(
        [sys.executable, "-c", seen, "discreet.session.session", "discreet.mechanisms.laplace"], capture_output=True, text=True, check=True
    ).stdout
    assert out.split() == ["False", "True"]
