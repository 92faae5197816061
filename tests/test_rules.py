"""The rules that the README names are those that there are."""

from __future__ import annotations

import re

from fabkit.verify.check import check
from tests.conftest import ROOT
from tests.prints import Order
from tests.taken import taken

ORDERS = [
    Order(),
    Order(("flippable",)),
    Order((), ("recess.fit=ribs", "magnet.polarity=alternating")),
]


def test_the_readme_names_every_rule() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text[text.index("| rule | asks |") :].split("\n\n")[0]
    told = [rule for row in table.splitlines()[2:] for rule in re.findall(r"`([a-z-]+)`", row)]
    rules = set()
    for order in ORDERS:
        report = check(taken("fridgeiq", order), order.profile())
        rules |= {finding.rule for finding in report.findings}
        rules |= {finding.rule for part in report.parts for finding in part.findings}
    assert sorted(told) == sorted(set(told)), "each rule once"
    assert set(told) == rules
