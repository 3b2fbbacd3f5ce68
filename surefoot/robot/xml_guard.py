"""XML read with suspicion: no entities or document types, bounded size, depth and count; a line for every element."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from surefoot.errors import FileFormatError
from surefoot.files import read_bytes

MAX_DEPTH = 4000
MAX_ELEMENTS = 400_000
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)


@dataclass
class Element:
    """An XML element: tag, attributes, children, the line where it starts, and the tag that it is in."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    parent: str = ""

    def all(self, tag: str) -> list[Element]:
        """Children with that tag."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> Element | None:
        """The first child with that tag, or None."""
        return next((child for child in self.children if child.tag == tag), None)

    def walk(self) -> Iterator[Element]:
        """This element and all below it, in document order."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting.extend(reversed(element.children))


def read_xml(path: str | Path) -> Element:
    """The root element of a file.

    Raises:
        FileFormatError: There is no such file, it is too large, or `_parse_xml` refuses it.
    """
    advice = "keep meshes in files of their own; a robot description is text of some hundred kB"
    return _parse_xml(read_bytes(path, advice=advice), path)


def _parse_xml(data: bytes, file: str | Path) -> Element:
    """The root element of a document.

    Raises:
        FileFormatError: Not well-formed, or it declares entities or a document type, or is too deep or too large.
    """
    parser = expat.ParserCreate()
    root = Element("", {}, 0)
    stack, count = [root], [0]

    def refuse(message: str) -> FileFormatError:
        return FileFormatError(message, file=file, line=parser.CurrentLineNumber)

    def start(tag: str, attributes: dict[str, str]) -> None:
        count[0] += 1
        if len(stack) > MAX_DEPTH or count[0] > MAX_ELEMENTS:
            raise refuse(f"more than {MAX_DEPTH} nested or {MAX_ELEMENTS} elements")
        element = Element(tag, attributes, parser.CurrentLineNumber, parent=stack[-1].tag)
        stack[-1].children.append(element)
        stack.append(element)

    def end(_tag: str) -> None:
        stack.pop()

    def doctype(*_: object) -> None:
        raise refuse("document types and entities are not allowed")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = doctype
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise FileFormatError(
            f"not well-formed XML: {expat.ErrorString(error.code)}", file=file, line=error.lineno,
            next_step="fix the file at that line",
        ) from error  # fmt: skip
    except (ValueError, LookupError) as error:  # an encoding that does not exist, a bad byte in it
        raise FileFormatError(f"not readable XML: {error}", file=file, line=parser.CurrentLineNumber) from error
    return root.children[0]


def numbers(text: str, count: int | None = None) -> list[float] | None:
    """The finite decimal numbers in a text, or None if one cannot be read or the count is not right.

    Args:
        text: Numbers separated by white space.
        count: How many there must be; None for any.
    """
    words = text.split()
    if (count is not None and len(words) != count) or not all(_NUMBER.match(word) for word in words):
        return None
    values = [float(word) for word in words]
    return values if all(abs(value) < float("inf") for value in values) else None
