"""The bytes of JSON, CSV and zip files, and the schema of those that fabkit writes."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fabkit.core.errors import InputError, escape

#: The version of every JSON file that fabkit writes. Newer versions are refused.
SCHEMA_VERSION = 1
_NO_SCHEMA = "has no schema number; it is not a fabkit file"


def json_text(document: dict[str, Any], indent: int | None = 2) -> str:
    """Return a JSON file's text: the schema first, one trailing line break."""
    document = {"schema": SCHEMA_VERSION, **document}
    return json.dumps(document, indent=indent, ensure_ascii=False) + "\n"


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Return a CSV file's text, the same on every system.

    Example:
        >>> print(csv_text([["A", "B, C"], [1, None]]), end="")
        A,"B, C"
        1,
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def zip_bytes(contents: Mapping[str, bytes]) -> bytes:
    """Return a zip archive, compressed at the highest level. Equal contents give equal bytes.

    Example:
        >>> zip_bytes({"a.txt": b"text"})[:2]
        b'PK'
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in contents.items():
            info = zipfile.ZipInfo(name)
            info.create_system = 3  # Unix
            info.external_attr = 0o644 << 16
            archive.writestr(info, content, zipfile.ZIP_DEFLATED, 9)
    return packed.getvalue()


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON file that fabkit wrote.

    Raises:
        InputError: when it is not JSON, not an object, or of a newer schema.
        FileNotFoundError: when there is none.
    """
    name = escape(str(path))
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError.of(name, f"is not JSON: {escape(str(error))}") from None
    if not isinstance(document, dict):
        raise InputError.of(name, "expected a JSON object")
    if "schema" not in document:
        raise InputError.of(name, _NO_SCHEMA)
    check_schema(document, name)
    return document


def check_schema(document: Mapping[str, Any], source: str) -> None:
    """Refuse a document of a newer schema; one without a number may be written by hand.

    Raises:
        InputError: when the number is invalid; NewerSchemaError when it is too large.
    """
    schema = document.get("schema", SCHEMA_VERSION)
    if not isinstance(schema, int) or isinstance(schema, bool):
        raise InputError.of(source, _NO_SCHEMA)
    if schema > SCHEMA_VERSION:
        raise NewerSchemaError.of(
            source,
            f"was written by a newer fabkit (schema {escape(str(schema))}, this version supports "
            f"{SCHEMA_VERSION}); update fabkit or choose another folder with -o",
        )


class NewerSchemaError(InputError):
    """A file written by a newer fabkit. It is never overwritten."""
