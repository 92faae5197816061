"""The rules that the README names are those that there are."""

from __future__ import annotations

import re

import pytest

from fabkit.build.workbench import Workbench
from fabkit.model.accessory import things
from fabkit.model.library import load_set
from fabkit.model.profilefile import load_profile
from fabkit.verify.check import CheckReport, check
from fabkit.verify.taking import take
from tests.conftest import ROOT
from tests.support.faults.kits import kit
from tests.support.prints import Order

ORDERS = [
    Order(),
    Order(("flippable",)),
    Order((), ("recess.fit=ribs", "magnet.polarity=alternating")),
]
#: Rules on what only some sets have.
OF_BOARDS = ("ball-", "board-", "lid-", "seat-", "stub-")


def told() -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text[text.index("| rule | asks |") :].split("\n\n")[0]
    return [rule for row in table.splitlines()[2:] for rule in re.findall(r"`([a-z-]+)`", row)]


def rules_of(report: CheckReport) -> set[str]:
    rules = {finding.rule for finding in report.findings}
    return rules | {finding.rule for part in report.all_parts for finding in part.findings}


def test_the_readme_names_every_rule() -> None:
    rules = set()
    for order in ORDERS:
        made = kit(order, "QLMY")
        bodies = list(made.bodies.values())
        rules |= rules_of(check(take(bodies, made.puzzle, made.profile.unit_mm), made.profile))
    assert sorted(told()) == sorted(set(told())), "each rule once"
    assert {rule for rule in told() if not rule.startswith(OF_BOARDS)} == rules


@pytest.mark.long
def test_the_readme_names_every_rule_of_boards() -> None:
    rules = set()
    for name, settings in (("iqfit", []), ("iqstars", []), ("iqblock", ["lid.kind=snap"])):
        puzzle = load_set(name)
        profile = load_profile([], settings, puzzle.unit_mm)
        wanted = things(puzzle, profile)
        bench = Workbench(puzzle, wanted, profile)
        bodies = [bench.body(one) for one in wanted]
        rules |= rules_of(check(take(bodies, puzzle, profile.unit_mm), profile))
    assert {rule for rule in told() if rule.startswith(OF_BOARDS)} == {
        rule for rule in rules if rule.startswith(OF_BOARDS)
    }
