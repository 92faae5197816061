"""Numbers of solutions that have been published, each asked on the command line and certified."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabkit.cli import main
from tests.support.published import facts

COUNTS = facts("polyforms")["counts"]
#: Transcripts of these are longer than a certificate may be, or take minutes to write.
TOO_LONG_TO_CERTIFY = {"pentominoes 6 x 10", "pentominoes 5 x 12", "10 pentominoes on 5 x 10"}
#: A few from each source are counted in every run.
QUICK = {
    "pentominoes 3 x 20",
    "pentominoes 8 x 8 without the middle",
    "5 pentominoes on 5 x 5",
    "X three times as large, of nine of the others",
}
ALL = [
    pytest.param(
        fact, id=fact["name"], marks=[] if fact["name"] in QUICK else [pytest.mark.integration]
    )
    for fact in COUNTS
]


@pytest.mark.parametrize("fact", ALL)
def test_published_counts(
    fact: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    challenge = tmp_path / "challenge.json"
    challenge.write_text(json.dumps(fact["challenge"]))
    arguments = ["solve", fact["set"], "--file", str(challenge), "--count", "--json"]
    certificate = tmp_path / "certificate.json"
    if fact["name"] not in TOO_LONG_TO_CERTIFY:
        arguments += ["--certificate", str(certificate)]
    assert main(arguments) == (0 if fact["up_to_symmetry"] else 1)
    answer = json.loads(capsys.readouterr().out)
    assert answer["count_up_to_symmetry"] == fact["up_to_symmetry"]
    if certificate.is_file():
        assert main(["certify", str(certificate), "--json"]) == 0
        claim = json.loads(capsys.readouterr().out)["claim"]
        assert claim["count_up_to_symmetry"] == fact["up_to_symmetry"]
