"""`fabkit schema`."""

from __future__ import annotations

import json
from typing import Annotated

from fabkit.cli.context import Context, takes
from fabkit.cli.options import argument
from fabkit.core.errors import InputError, did_you_mean, shown
from fabkit.model.library import SCHEMAS, schema_of


@takes()
def schema(
    context: Context,
    kind: Annotated[str, argument("set|profile|challenge", "The kind of file.", lambda: SCHEMAS)],
) -> None:
    """Print the JSON schema of a set, profile or challenge file.

    Editors complete and check a TOML file whose first line names it: `#:schema set.schema.json`.
    """
    if kind not in SCHEMAS:
        message = f"there is no schema {shown(kind)}; there are {', '.join(SCHEMAS)}"
        raise InputError.of("", message + did_you_mean(kind, SCHEMAS))
    print(json.dumps(schema_of(kind), indent=2, ensure_ascii=False))
