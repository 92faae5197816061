"""A title, a table of facts and a drawing, as HTML to be put into somebody else's page."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from xml.etree import ElementTree

from fabkit.output.svg import child


def fact_sheet(title: str, facts: Mapping[str, str], svg: str) -> str:
    """A piece of a page, in that page's letters and colours.

    Args:
        title: the heading.
        facts: what the table says: a row for each name.
        svg: the drawing below.

    Returns:
        HTML. Whatever the texts are, they are put in as text; the drawing is put in as a picture,
        in which nothing runs.

    Example:
        >>> fact_sheet("<b>", {"pieces": "2"}, "<svg/>")[:70]
        '<div class="mathjax_ignore tex2jax_ignore"><h3>&lt;b&gt;</h3><table><t'
    """
    # Notebooks take dollar signs for formulas where they are not told to leave them alone.
    page = ElementTree.Element("div", {"class": "mathjax_ignore tex2jax_ignore"})
    child(page, "h3").text = title
    table = child(page, "table")
    for name, said in facts.items():
        row = child(table, "tr")
        child(row, "th", scope="row", style="text-align: left").text = name
        child(row, "td", style="text-align: left").text = said
    drawn = base64.b64encode(svg.encode()).decode("ascii")
    source = f"data:image/svg+xml;base64,{drawn}"
    child(page, "img", src=source, alt=title, style="max-width: 100%")
    return ElementTree.tostring(page, encoding="unicode", method="html")
