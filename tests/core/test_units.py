"""Lengths, angles and numbers as people write them, however long."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabkit.core.units import format_mm, parse_degrees, parse_length_mm, parse_number


@given(
    st.integers(-(10**9), 10**9),
    st.sampled_from([("mm", 1), ("cm", 10), ("um", "0.001"), ("in", "25.4")]),
)
def test_what_is_read_is_the_nearest_to_what_is_written(micro: int, unit: tuple[str, str]) -> None:
    exact = Fraction(micro, 10**6) * Fraction(unit[1])
    assert parse_length_mm(f"{micro / 10**6:.6f} {unit[0]}") == float(round(exact, 6))


@given(st.integers(0, 10**9))
def test_what_is_formatted_is_read_again(micro: int) -> None:
    value_mm = micro / 10**6
    assert parse_length_mm(format_mm(value_mm, digits=6)) == value_mm


@pytest.mark.parametrize("digits", [22, 23, 28, 36])
def test_numbers_of_many_digits_are_numbers(digits: int) -> None:
    number = "1" * digits
    assert parse_length_mm(f"{number} mm") == parse_number(number) == float(number)
    assert parse_degrees(f"{number} deg") == float(number)
    assert parse_length_mm(f"0.{'0' * (digits - 3)}1 mm") == 0.0


@pytest.mark.parametrize("text", ["", "mm", "1e3 mm", "1,5 mm", "nan mm", "1_0 mm", "9" * 41, True])
def test_no_length(text: object) -> None:
    with pytest.raises(ValueError, match="expected a length such as"):
        parse_length_mm(text)
