"""The reference: one page for each public module, one entry for each public name, all of it from docstrings and signatures.

What is public is what `__all__` says, of `discreet` itself and of the modules that are public names of it. Nothing is listed here, so the
reference follows when names move. A name that the package root shares with a submodule has its entry there, and a line at the root.
"""

from __future__ import annotations

import importlib
import inspect
import re
from dataclasses import dataclass
from fractions import Fraction
from types import ModuleType
from typing import Any

import discreet

from .markup import formulas

TITLED = re.compile(r"^((Theorem|Lemma|Corollary|Proof|Accuracy|Assumes)\b[^.(]*(?:\([^)]*\))?)[.:]?\s*(.*)$")


@dataclass(frozen=True)
class Entry:
    """One public name: where it is looked up, what it is, and every public place it can be imported from."""

    module: str
    name: str
    value: Any
    places: tuple[str, ...]

    @property
    def anchor(self) -> str:
        return f"{self.module}.{self.name}"

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        text = inspect.getdoc(self.value) if inspect.isclass(self.value) or inspect.isroutine(self.value) else ""
        return (text or "").split("\n\n")[0].split("\n>>>")[0].replace("\n", " ").strip()


def public_modules() -> list[ModuleType]:
    """The package, and every module that it says is public."""
    return [discreet, *(value for name in discreet.__all__ if inspect.ismodule(value := getattr(discreet, name)))]


def public_names(module: ModuleType) -> list[str]:
    """The public names of a module: what `__all__` says, modules left out; without it, the classes and functions that it defines."""
    defined = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__ and name[0] != "_"]
    names = getattr(module, "__all__", defined)
    return sorted((name for name in names if name[0] != "_" and not inspect.ismodule(getattr(module, name))), key=str.lower)


def entries() -> dict[str, list[Entry]]:
    """The entries of each public module; every public name has one, and each thing has only one."""
    modules = public_modules()
    places: dict[int, list[tuple[str, str]]] = {}
    values: dict[int, Any] = {}
    for module in sorted(modules, key=lambda module: (module is discreet, module.__name__)):  # submodules before the root
        for name in public_names(module):
            value = getattr(module, name)
            places.setdefault(id(value), []).append((module.__name__, name))
            values[id(value)] = value
    found: dict[str, list[Entry]] = {module.__name__: [] for module in modules}
    for key, where in places.items():
        home = getattr(values[key], "__module__", "") or ""
        module, name = max(where, key=lambda place: (home.startswith(place[0] + ".") or home == place[0], place[0] != "discreet"))
        found[module].append(Entry(module, name, values[key], tuple(f"{place}.{called}" for place, called in where)))
    return {module: sorted(listed, key=lambda entry: entry.name.lower()) for module, listed in found.items()}


def pages() -> dict[str, str]:
    """Every page of the reference, by its file name."""
    listed = entries()
    everything = [entry for module in listed.values() for entry in module]
    homes = {place: entry for entry in everything for place in entry.places}
    out = {"index.md": _index(listed, homes)}
    for module, found in listed.items():
        if found:
            out[f"{module}.md"] = _module(module, found, everything)
    return out


def _index(listed: dict[str, list[Entry]], homes: dict[str, Entry]) -> str:
    lines = [
        "# Reference",
        "",
        "Every public name, generated from the docstrings. Names not listed here are not public and may change.",
        "",
    ]
    lines += [f"- [`{module}`]({module}.md)" for module, found in listed.items() if found] + [""]
    for module in listed:
        lines += [f"## `{module}` {{ #{module} }}", "", "| name | what it is |", "|---|---|"]
        for name in public_names(importlib.import_module(module)):
            entry = homes[f"{module}.{name}"]
            lines.append(f"| [`{name}`]({entry.module}.md#{entry.anchor}) | {_cell(entry.summary)} |")
        lines.append("")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return formulas(text, indices=False).replace("|", "\\|")


def _module(module: str, found: list[Entry], everything: list[Entry]) -> str:
    lines = [f"# {module}", "", docstring(inspect.getdoc(importlib.import_module(module)) or ""), ""]
    for entry in found:
        lines += _entry(entry, everything)
    return "\n".join(lines)


def _entry(entry: Entry, everything: list[Entry]) -> list[str]:
    lines = [f"## {entry.name} {{ #{entry.anchor} }}", ""]
    others = [place for place in entry.places if place != entry.anchor]
    lines += [f'<a id="{place}"></a>' for place in others]
    if others:
        lines += ["Also " + ", ".join(f"`{place}`" for place in others) + ".", ""]
    if inspect.isclass(entry.value):
        if not issubclass(entry.value, BaseException):
            lines += ["```python", signature(entry.name, entry.value), "```", ""]
        lines += [docstring(inspect.getdoc(entry.value) or ""), ""]
        own, inherited = _members(entry.value, {id(each.value) for each in everything})
        for name, member in own:
            lines += _member(entry, name, member)
        for ancestor, names in inherited.items():
            home = next(each for each in everything if each.value is ancestor)
            linked = ", ".join(f"[`{name}`]({home.module}.md#{home.anchor}.{name})" for name in names)
            lines += [f"From [`{home.name}`]({home.module}.md#{home.anchor}): {linked}.", ""]
    elif inspect.isroutine(entry.value):
        lines += ["```python", signature(entry.name, entry.value), "```", "", docstring(inspect.getdoc(entry.value) or ""), ""]
    else:
        lines += ["```python", f"{entry.name} = {entry.value}", "```", ""]
    return lines


def _members(owner: type, public: set[int]) -> tuple[list[tuple[str, Any]], dict[type, list[str]]]:
    """Documented methods and properties: the class's own, with those of ancestors that are not public; and names by public ancestor."""
    found: dict[str, tuple[type, Any]] = {}
    for ancestor in reversed([each for each in owner.__mro__ if each.__module__.split(".")[0] == "discreet"]):
        for name, member in vars(ancestor).items():
            plain = inspect.isfunction(member) or isinstance(member, classmethod | staticmethod | property)
            if plain and not name.startswith("_") and inspect.getdoc(getattr(owner, name)):
                said_by = ancestor if _documented(member) or name not in found else found[name][0]
                found[name] = (said_by, member)
    own = sorted((name, member) for name, (ancestor, member) in found.items() if ancestor is owner or id(ancestor) not in public)
    inherited: dict[type, list[str]] = {}
    for name, (ancestor, _) in sorted(found.items()):
        if ancestor is not owner and id(ancestor) in public:
            inherited.setdefault(ancestor, []).append(name)
    return own, inherited


def _documented(member: Any) -> bool:
    """Whether it has words of its own."""
    return bool(getattr(getattr(member, "__func__", member), "__doc__", None))


def _member(entry: Entry, name: str, member: Any) -> list[str]:
    if isinstance(member, property):
        given = _annotation(getattr(member.fget, "__annotations__", {}).get("return", ""))
        spelled = f".{name}" + (f": {given}" if given else "")
    else:
        prefix = "" if inspect.isfunction(member) else f"{entry.name}"
        spelled = f"{prefix}.{signature(name, getattr(entry.value, name), skip_self=inspect.isfunction(member))}"
    body = docstring(inspect.getdoc(getattr(entry.value, name)) or "")
    opening = f'<div class="member" id="{entry.anchor}.{name}" markdown="1">'
    return [opening, "", "```python", spelled, "```", "", body, "", "</div>", ""]


def signature(name: str, value: Any, skip_self: bool = False) -> str:
    """How it is called: on one line, or with one argument on each."""
    try:
        called = inspect.signature(value)
    except (TypeError, ValueError):
        return f"{name}(…)"
    given = list(called.parameters.values())[1 if skip_self else 0 :]
    parts: list[str] = []
    star = False
    for at, parameter in enumerate(given):
        if parameter.kind is parameter.KEYWORD_ONLY and not star and not any(p.kind is p.VAR_POSITIONAL for p in given):
            parts.append("*")
            star = True
        parts.append(_parameter(parameter))
        if parameter.kind is parameter.POSITIONAL_ONLY and (at + 1 == len(given) or given[at + 1].kind is not parameter.POSITIONAL_ONLY):
            parts.append("/")
    gives = "" if inspect.isclass(value) else _annotation(called.return_annotation)
    tail = f" -> {gives}" if gives and gives != "None" else ""
    line = f"{name}({', '.join(parts)}){tail}"
    if len(line) <= 88:
        return line
    return f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){tail}"


def _parameter(parameter: inspect.Parameter) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    kind = _annotation(parameter.annotation)
    out = stars + parameter.name + (f": {kind}" if kind else "")
    if parameter.default is not parameter.empty:
        default = str(parameter.default) if isinstance(parameter.default, Fraction) else repr(parameter.default)
        equals = " = " if kind else "="
        out += equals + (default if len(default) <= 40 and "<" not in default else "…")
    return out


def _annotation(kind: Any) -> str:
    if kind in (inspect.Parameter.empty, ""):
        return ""
    if isinstance(kind, str):
        return kind.strip("'\"")
    return getattr(kind, "__name__", str(kind)) if inspect.isclass(kind) else str(kind).replace("typing.", "")


# ── docstrings ───────────────────────────────────────────────────────────────────────────────────────────────────────


def docstring(text: str) -> str:
    """A docstring as Markdown: theorems and accuracy as boxes, examples as code, the rest as it is written."""
    out: list[str] = []
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        titled = TITLED.match(line)
        if line.lstrip().startswith(">>>"):
            end = at
            while end < len(lines) and lines[end].strip():
                end += 1
            out += ["", "```pycon", *(inspect.cleandoc("\n".join(lines[at:end])).split("\n")), "```", ""]
            at = end
        elif titled and at + 1 < len(lines) and lines[at + 1].startswith("    "):
            end = at + 1
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            kind = "accuracy" if titled[2] == "Accuracy" else "theorem"
            first = ["    " + _prose(titled[3])] if titled[3] else []
            out += ["", f'!!! {kind} "{titled[1]}"', "", *first, *(_prose(each) for each in lines[at + 1 : end]), ""]
            at = end
        elif line.startswith("    "):  # drawings: kept as they are
            end = at
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            out += ["", "```text", *(each.removeprefix("    ") for each in "\n".join(lines[at:end]).rstrip().split("\n")), "```", ""]
            at = end
        else:
            listed = re.match(r"[-*] |\d+\. ", line)
            if listed and out and out[-1].strip() and not re.match(r"[-*] |\d+\. |  ", out[-1]):
                out.append("")  # a list begins after an empty line
            out.append(_prose(line))
            at += 1
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).strip("\n")


def _prose(line: str) -> str:
    line = re.sub(r"<(?=[A-Za-z/])", "&lt;", line) if "`" not in line else line
    return formulas(line, indices=False)
