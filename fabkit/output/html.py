"""HTML from the templates in the folder beside this file; every text in it is escaped."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabkit.core.errors import OutsideError, printable

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"


def render_html(template: str, **values: Any) -> str:
    """Fills in a template. Texts are escaped; ``markupsafe.Markup`` is put in as it is.

    Raises:
        OutsideError: when the file is missing.
    """
    from jinja2 import TemplateNotFound

    try:
        return _environment().get_template(template).render(values)
    except TemplateNotFound as error:
        raise OutsideError(f"{error.name} is missing; install fabkit again") from None


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["printable"] = printable
    return environment


def fact_sheet(title: str, facts: Mapping[str, str], svg: str) -> str:
    """A title, a table of facts and a drawing, to be put into somebody else's page.

    The drawing is put in as a picture, in which nothing runs.

    Example:
        >>> fact_sheet("<b>", {"pieces": "2"}, "<svg/>")[:70]
        '<div class="mathjax_ignore tex2jax_ignore"><h3>&lt;b&gt;</h3><table><t'
    """
    drawn = base64.b64encode(svg.encode()).decode("ascii")
    return render_html("facts.html", title=title, facts=facts, drawn=drawn)
