"""Sphinx settings: the pages of docs/ and, from the docstrings, a page for every package of surefoot.

`make docs` builds `site/` without the network. `SUREFOOT_DOCS_ONLINE=1` adds links into the documentation of Python,
NumPy and SciPy, whose inventories Sphinx then downloads.
"""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import re
from pathlib import Path
from types import ModuleType
from typing import Any

from sphinx.ext import napoleon

import surefoot

project = "surefoot"
author = "The surefoot authors"
copyright = author
version = release = surefoot.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
exclude_patterns = ["_build"]
nitpicky = False
if os.environ.get("SUREFOOT_DOCS_ONLINE"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
    }

html_theme = "furo"
html_title = "surefoot"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}
highlight_language = "sh"  # of indented blocks, which show commands
copybutton_selector = "div.highlight:not(.highlight-text) pre"
myst_heading_anchors = 3
autodoc_typehints_format = "short"
autodoc_type_aliases = {"Array": "Array", "ArrayLike": "ArrayLike"}
autodoc_default_options = {"members": True}
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
suppress_warnings = [
    "ref.python",  # a name in a docstring that several packages have: no link
]

DOCS = Path(__file__).parent
API = DOCS / "api"
if not (DOCS / "examples.md").exists():
    suppress_warnings.append("toc.not_readable")
INTRODUCTION = """# API reference

Every package of surefoot has a page, made from its docstrings. Import from the package, never from a module behind it.
"""


def write_api_pages(app: Any) -> None:
    """Write a page for every door into docs/api; pages that have not changed keep their time."""
    doors = {name: importlib.import_module(name) for name in find_doors()}
    homes = find_homes(doors)
    pages = {f"{name}.rst": page_of(module, homes) for name, module in doors.items()}
    entries = "\n".join(sorted(doors))
    pages["index.md"] = f"{INTRODUCTION}\n```{{toctree}}\n:maxdepth: 1\n\n{entries}\n```\n"
    API.mkdir(exist_ok=True)
    for path in API.iterdir():
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        path = API / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def find_doors() -> list[str]:
    """Names of all packages, of the modules beside the rooms, and of the modules that a door lists."""
    found = [surefoot.__name__]
    for info in pkgutil.walk_packages(surefoot.__path__, "surefoot."):
        if info.ispkg or info.name.count(".") == 1:
            found.append(info.name)
    for name in list(found):
        module = importlib.import_module(name)
        listed = [getattr(module, entry) for entry in getattr(module, "__all__", ())]
        found += [entry.__name__ for entry in listed if isinstance(entry, ModuleType)]
    return [name for name in dict.fromkeys(found) if getattr(importlib.import_module(name), "__all__", ())]


def find_homes(doors: dict[str, ModuleType]) -> dict[Any, tuple[str, str]]:
    """Door and name under which each object is documented: the outermost room that exports it."""
    homes: dict[Any, tuple[str, str]] = {}
    for door in sorted(doors, key=lambda door: (door == "surefoot", door.count("."), door)):
        for name in doors[door].__all__:
            homes.setdefault(_key(name, getattr(doors[door], name)), (door, name))
    return homes


def page_of(module: ModuleType, homes: dict[Any, tuple[str, str]]) -> str:
    """The page of a door: its names in full, and links to those that it takes from other doors."""
    door = module.__name__
    listed = {name: getattr(module, name) for name in module.__all__}
    at_home = [name for name, value in listed.items() if homes[_key(name, value)] == (door, name)]
    head = f".. automodule:: {door}\n   :no-members:\n"
    parent, _, own = door.rpartition(".")
    if own in getattr(importlib.import_module(parent), "__all__", ()) if parent else False:
        head += "   :no-index:\n"  # a function of the same name is documented by the room
    parts = [f"{door}\n{'=' * len(door)}\n", ".. highlight:: default\n", head]
    modules = [f"* :doc:`{value.__name__}`" for value in listed.values() if isinstance(value, ModuleType)]
    if modules:
        parts.append("Modules:\n\n" + "\n".join(modules) + "\n")
    guests = {name: homes[_key(name, value)] for name, value in listed.items() if name not in at_home}
    if guests:
        rows = [f"* ``{name}``: :py:obj:`{'.'.join(home)}`" for name, home in guests.items()]
        parts.append("Names documented in their own packages:\n\n" + "\n".join(rows) + "\n")
    for name in at_home:
        value = listed[name]
        if not isinstance(value, ModuleType):
            parts.append(_directive(door, name, value))
    return "\n".join(parts)


def _key(name: str, value: Any) -> Any:
    return id(value) if inspect.isclass(value) or inspect.isfunction(value) else (name, id(value))


def _directive(door: str, name: str, value: Any) -> str:
    if inspect.isclass(value):
        kind = "autoexception" if issubclass(value, BaseException) else "autoclass"
        return f".. {kind}:: {door}.{name}\n"
    if inspect.isroutine(value):
        return f".. autofunction:: {door}.{name}\n"
    text = repr(value)
    shown = f"   :value: {text}\n" if len(text) < 200 and " at 0x" not in text else ""
    return f".. py:data:: {door}.{name}\n{shown}"


def docstring_as_rst(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Turn Markdown of our docstrings, code spans and indented blocks, into reStructuredText."""
    out: list[str] = []
    indents = [0]
    is_code = False
    for k, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if line.strip():
            if is_code and indent <= indents[-1]:
                is_code = False
            elif not is_code and k and not lines[k - 1].strip() and indent >= indents[-1] + 4:
                is_code = True
                out += [" " * indents[-1] + "::", ""]
            if not is_code:
                indents.append(indent)
        out.append(line if is_code else _MARK.sub(_rst, line))
    if what not in ("attribute", "property"):  # where napoleon takes all up to a colon for a type
        settings = napoleon.Config(napoleon_use_ivar=True, napoleon_use_rtype=False)
        out = napoleon.GoogleDocstring(out, settings, app, what, name, value, options).lines()
    lines[:] = out


_MARK = re.compile(r"`+(?P<code>[^`]+)`+|[*|\\]|(?<=\w)_(?!\w)")
_OPENERS, _CLOSERS = " '\"([{<-/:", " '\")]}>-/\\:.,;!?"  # what may stand before and after marked-up text


def _rst(found: re.Match[str]) -> str:
    before, after = found.string[: found.start()], found.string[found.end() :]
    code = found["code"]
    if code is None:
        is_argument = not before.strip(" *") and re.match(r"\**\w+:", after)  # `*names:`, which napoleon escapes
        return found[0] if is_argument else f"\\{found[0]}"
    is_name = re.fullmatch(r"[A-Za-z_][\w.]*", code)
    text = f":py:obj:`{code}`" if is_name else f"``{code}``"
    return ("" if before[-1:] in _OPENERS else "\\ ") + text + ("" if after[:1] in _CLOSERS else "\\ ")


def shorten_signature(app: Any, what: str, name: str, value: Any, options: Any, text: str, gives: str) -> Any:
    """Write arrays by their alias, and defaults made by a function as `...`, so that Sphinx can parse the rest."""
    return tuple(part and _ARRAY.sub(_alias, part).replace("<factory>", "...") for part in (text, gives))


def skip_fields(app: Any, what: str, name: str, value: Any, is_skipped: bool, options: Any) -> bool | None:
    """Skip the fields of named tuples, which Python documents as `Alias for field number 0`."""
    return True if type(value).__name__ == "_tuplegetter" else None


_ARRAY = re.compile(r"~?numpy\.ndarray\[tuple\[~?(?:typing\.)?Any, \.\.\.\], ~?numpy\.dtype\[~?(?:numpy\.)?(\w+)\]\]")


def _alias(found: re.Match[str]) -> str:
    return "Array" if found[1] == "float64" else f"NDArray[{found[1]}]"


def setup(app: Any) -> None:
    """Connect the steps above."""
    app.connect("builder-inited", write_api_pages)
    app.connect("autodoc-process-docstring", docstring_as_rst)
    app.connect("autodoc-process-signature", shorten_signature)
    app.connect("autodoc-skip-member", skip_fields)
