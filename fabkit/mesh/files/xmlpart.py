"""Reading the XML parts of a 3MF package, piece by piece and within bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from xml.parsers import expat

from fabkit.core.errors import InputError, cut, printable
from fabkit.mesh.files.package import CHUNK, Package

#: No tag and no comment may be longer: expat begins each anew with every further piece.
MAX_TOKEN = 2 * CHUNK
#: Different names of elements and attributes; expat keeps all it has seen.
MAX_NAMES = 10_000
MAX_DEPTH = 100

Attributes = Mapping[str, str]
Handler = Callable[[Attributes], None]


def read_xml(
    package: Package,
    part: str,
    source: str,
    begin: Mapping[tuple[str, str], Handler],
    end: Mapping[str, Callable[[], None]] | None = None,
    prefix: Callable[[str, str], None] | None = None,
) -> None:
    """Reads a part, and calls a handler for each element that has one.

    Names are written ``namespace name``, as expat does. What is inside of an element without a
    handler is passed over, as the 3MF specification asks for.

    Args:
        package: where the part is.
        part: its name.
        source: the file's name in messages.
        begin: handlers by the parent's name (empty for the root) and the element's own.
        end: what is called at an element's end, by its name.
        prefix: is told each namespace: its prefix and its name.

    Raises:
        InputError: when it is not well-formed, has a document type, or breaks a bound.
    """
    chunks = package.chunks(part)
    first = next(chunks, b"")
    # Any other encoding would only be a way to say something else than it seems.
    encoding = "utf-16" if first.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
    names: dict[str, str] = {}
    parser = expat.ParserCreate(encoding, " ", names)
    _Walk(parser, part, source, begin, end or {}, prefix)
    fed = 0
    try:
        for chunk in chain([first], chunks):
            parser.Parse(chunk, False)
            fed += len(chunk)
            if fed - parser.CurrentByteIndex > MAX_TOKEN:
                raise InputError.of(
                    source, f"has a tag or comment longer than {MAX_TOKEN} bytes", part
                )
            if len(names) > MAX_NAMES:
                raise InputError.of(source, f"has more than {MAX_NAMES} names of elements", part)
        parser.Parse(b"", True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        reason = cut(printable(str(error)[:200]))
        raise InputError.of(source, f"is not well-formed XML: {reason}", part) from None


class _Walk:
    """The place in a document, kept along with the parser that it sets up."""

    def __init__(
        self,
        parser: expat.XMLParserType,
        part: str,
        source: str,
        begin: Mapping[tuple[str, str], Handler],
        end: Mapping[str, Callable[[], None]],
        prefix: Callable[[str, str], None] | None,
    ) -> None:
        self._part, self._source = part, source
        self._begin, self._end, self._prefix = begin, end, prefix
        self._path = [""]
        self._passed_over = 0
        self._prefixes = 0
        parser.StartElementHandler = self._start_element
        parser.EndElementHandler = self._end_element
        parser.StartDoctypeDeclHandler = self._start_doctype
        parser.StartNamespaceDeclHandler = self._start_namespace

    def _start_element(self, name: str, attributes: dict[str, str]) -> None:
        if not self._passed_over:
            handler = self._begin.get((self._path[-1], name))
            if handler:
                self._path.append(name)
                handler(attributes)
                return
            if len(self._path) == 1:
                raise InputError.of(
                    self._source, "does not begin with the element of a 3MF part", self._part
                )
        self._passed_over += 1
        if self._passed_over > MAX_DEPTH:
            raise InputError.of(self._source, f"nests elements deeper than {MAX_DEPTH}", self._part)

    def _end_element(self, name: str) -> None:
        if self._passed_over:
            self._passed_over -= 1
            return
        self._path.pop()
        if name in self._end:
            self._end[name]()

    def _start_doctype(self, *_: object) -> None:
        raise InputError.of(
            self._source, "has a document type (DOCTYPE), which 3MF forbids", self._part
        )

    def _start_namespace(self, prefix: str | None, name: str | None) -> None:
        self._prefixes += 1
        if self._prefixes > MAX_NAMES:
            raise InputError.of(
                self._source, f"declares more than {MAX_NAMES} namespaces", self._part
            )
        if self._prefix:
            self._prefix(prefix or "", name or "")
