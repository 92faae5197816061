"""Load profiles: presets, files and single settings, validated and merged."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import tomli_w

from fabkit.core.errors import (
    ErrorDetail,
    ErrorList,
    InputError,
    did_you_mean,
    escape,
    join_names,
    nearest,
    quote,
    truncate,
)
from fabkit.core.lines import located
from fabkit.core.parsing import parse_toml, read_text
from fabkit.core.units import format_degrees, format_mm
from fabkit.profiles.layers import (
    LEAST_RELEASE_MM,
    MARK_BORES,
    MARK_DIAMETER_MM,
    mark_span,
    recess_span,
)
from fabkit.profiles.profile import (
    ANGLE,
    CHOICE,
    COLOUR,
    FILAMENTS,
    LENGTH,
    MAX_RIB_SHARE,
    NAME,
    NUMBER,
    PRUSASLICER,
    RIB_COUNT,
    SETTINGS,
    TEXT,
    Profile,
    Setting,
)

if TYPE_CHECKING:
    from fabkit.core.documents import Table

_PRESETS = Path(__file__).resolve().parent / "presets"
#: Writers of values with a unit, by kind of setting.
_FORMATS: dict[str, Any] = {LENGTH: partial(format_mm, digits=6), ANGLE: format_degrees}
_LONGEST_TITLE = 200
_LONGEST_TEXT = 40
#: Of presets in slicers.
_LONGEST_NAME = 100

#: Keys of earlier versions and their new names.
RENAMED = {
    "stub": "peg",
    "stub.diameter": "peg.diameter",
    "stub.height": "peg.height",
    "board.seat": "board.socket",
    "recess.mouth": "recess.lead_in",
}

#: The settings by their full keys.
BY_KEY = {setting.key: setting for setting in SETTINGS}


def preset_names(group: str = "") -> list[str]:
    """Return the names of the shipped profiles, ``default`` first, or of the layers of a group."""
    names = [path.stem for path in (_PRESETS / group).glob("*.toml")]

    def rank(name: str) -> tuple[bool, str]:
        # Numbers by their size: magnet-6x2 comes before magnet-10x2.
        return name != "default", re.sub(r"\d+", lambda number: number[0].zfill(9), name)

    return sorted(names, key=rank)


def layer_groups() -> dict[str, list[str]]:
    """Return the names of the shipped layers by group, a folder: profiles of one thing only, such
    as the magnet, that are layered on one of `preset_names`."""
    folders = sorted(path.name for path in _PRESETS.iterdir() if path.is_dir())
    return {folder: preset_names(folder) for folder in folders}


def layer_names() -> list[str]:
    """Return the names that ``-p`` accepts: profiles, then the layers of each group."""
    return [*preset_names(), *itertools.chain(*layer_groups().values())]


def load_profile(
    chosen: Sequence[str] = (),
    settings: Sequence[str] = (),
    set_values: Mapping[str, Any] = MappingProxyType({}),
) -> Profile:
    """Build the effective profile, like `merge_layers`.

    Raises:
        InputError: for an unknown preset or key, an invalid value, or contradicting numbers; with
            all errors of one layer.
    """
    profile = merge_layers(chosen, settings, set_values)
    if errors := list(contradictions(profile)):
        source = f"profile {profile.name}"
        raise InputError(f"{source} with -s" if settings else source, errors)
    return profile


def merge_layers(
    chosen: Sequence[str] = (),
    settings: Sequence[str] = (),
    set_values: Mapping[str, Any] = MappingProxyType({}),
) -> Profile:
    """Merge layers and settings into a profile, whose numbers may contradict each other.

    Args:
        chosen: presets by name or files by path, on top of ``default``; later ones take precedence.
        settings: single settings such as ``"unit=15 mm"``; they override all of these.
        set_values: a set's own defaults, `PuzzleSet.profile_values`; ``chosen`` and ``settings``
            override them.

    Raises:
        InputError: for an unknown preset or key, or an invalid value; with all errors of one layer.
    """
    values = read_layer("default") | dict(set_values)
    layers = [read_layer(name) for name in chosen]
    for layer in layers:
        values |= layer
    # Of layers below `default`, nothing is left.
    below = max((number for number, name in enumerate(chosen, 1) if name == "default"), default=0)
    for key, between in (("name", "+"), ("title", " + ")):
        texts = dict.fromkeys(layer[key] for layer in layers[below:])
        values[key] = between.join(texts) or values[key]
    values |= _read_settings(settings)
    if settings:
        values["title"] = f"{values['title']}; changed: {', '.join(settings)}"
    values["title"] = values["title"][:_LONGEST_TITLE]
    return Profile(**values)


def dump_profile(profile: Profile, base: Profile | None = None) -> str:
    """Return the TOML that reproduces a profile; only what differs from ``base``, if given."""
    document: dict[str, Any] = {"title": profile.title}
    for setting in SETTINGS:
        section, _, key = setting.key.rpartition(".")
        value = getattr(profile, setting.attribute)
        if base is None or value != getattr(base, setting.attribute):
            table = document.setdefault(section, {}) if section else document
            table[key] = _FORMATS.get(setting.kind, lambda value: value)(value)
    return tomli_w.dumps(document)


def contradictions(profile: Profile) -> Iterable[ErrorDetail]:
    """Yield the contradictions in a profile that hold for any piece."""
    thickness_mm = profile.thickness_mm
    inset_mm = profile.inset_mm
    depth_mm = profile.label_depth_mm
    side_mm = thickness_mm - profile.top_chamfer_mm - profile.foot_chamfer_mm
    if side_mm < 0.5:
        yield ErrorDetail(
            "thickness",
            f"{format_mm(thickness_mm)} less both chamfers leaves {format_mm(side_mm)} of "
            "straight side; the minimum is 0.5 mm",
        )
    if profile.unit_mm < 8 * inset_mm:
        yield ErrorDetail("inset", f"{format_mm(inset_mm)} is more than an eighth of the unit")
    yield from _printer_contradictions(profile)
    if profile.gap_min_mm > profile.gap_max_mm:
        conflict = f"is more than gap.max, {format_mm(profile.gap_max_mm)}"
        yield ErrorDetail("gap.min", f"{format_mm(profile.gap_min_mm)} {conflict}")
    if profile.faces == "both" and profile.fit not in ("embedded", "none"):
        yield ErrorDetail(
            "label.faces",
            'is "both", but the back has open recesses; choose recess.fit "embedded" or "none"',
        )
    if profile.faces != "none" and depth_mm >= thickness_mm / 3:
        third = f"is a third or more of the thickness {format_mm(thickness_mm)}"
        yield ErrorDetail("label.depth", f"{format_mm(depth_mm)} {third}")
    if profile.mark_stroke_mm > profile.mark_width_mm / 3:
        yield ErrorDetail(
            "mark.stroke",
            f"{format_mm(profile.mark_stroke_mm)} is more than a third of mark.width, "
            f"{format_mm(profile.mark_width_mm)}, and a cross would look like a dot; choose a "
            "smaller mark.stroke or a larger mark.width",
        )
    ball_mm = profile.ball_mm
    radius_mm = round(ball_mm / 2, 6)
    if profile.link_mm >= ball_mm:
        yield ErrorDetail(
            "ball.link",
            f"{format_mm(profile.link_mm)} is as wide as a ball, {format_mm(ball_mm)}, or wider; "
            "choose a smaller ball.link or a larger ball.diameter",
        )
    if profile.ball_flat_mm >= radius_mm:
        yield ErrorDetail(
            "ball.flat",
            f"{format_mm(profile.ball_flat_mm)} below a ball's middle is not inside a ball of "
            f"{format_mm(ball_mm)}; choose less than {format_mm(radius_mm)}",
        )
    if profile.fit == "ribs":
        yield from _rib_contradictions(profile)
    if profile.has_recesses:
        try:
            span = recess_span(profile)
        except ValueError as error:
            yield ErrorDetail("recess", str(error))
        else:
            yield from _recess_contradictions(profile, span.depth_mm)


def _rib_contradictions(profile: Profile) -> Iterable[ErrorDetail]:
    magnet_mm = profile.magnet_diameter_mm
    root_mm = magnet_mm + profile.rib_root_mm
    crest_mm = magnet_mm + profile.rib_crest_mm
    if crest_mm >= root_mm:
        yield ErrorDetail(
            "recess.rib_crest", "must be smaller than recess.rib_root, or there is no rib"
        )
    elif crest_mm < magnet_mm / 2:
        yield ErrorDetail(
            "recess.rib_crest",
            f"{format_mm(profile.rib_crest_mm)} leaves no hole between the ribs for a magnet "
            f"{format_mm(magnet_mm)} across; choose a value nearer to 0 mm",
        )
    elif RIB_COUNT * profile.rib_width_mm > MAX_RIB_SHARE * math.pi * root_mm:
        yield ErrorDetail(
            "recess.rib_width",
            f"{format_mm(profile.rib_width_mm)} is too wide for {RIB_COUNT} ribs in a recess of "
            f"{format_mm(root_mm)}; choose a smaller width or another recess.fit",
        )


def _printer_contradictions(profile: Profile) -> Iterable[ErrorDetail]:
    """Check what OrcaSlicer and Bambu Studio need, and that plates of one colour can be printed."""
    names = {
        "printer.model": profile.printer_model,
        "printer.preset": profile.printer_preset,
        "printer.process": profile.process_preset,
        "filament.preset": profile.filament_preset,
    }
    missing = [key for key, name in names.items() if not name]
    if missing and profile.slicer != PRUSASLICER:
        yield ErrorDetail(
            "printer.slicer",
            f'is "{profile.slicer}", which reads plates, colours and pauses only with the names of '
            f"its presets; state {join_names(missing)}, or choose a printer (`fabkit profiles` "
            "lists them)",
        )
    if profile.plate_colours == "single" and (profile.has_inlays or profile.tones != "plain"):
        yield ErrorDetail(
            "plate.colours",
            'is "single", but letters, texts or tones are inlaid in a second colour; choose '
            '"mixed", or label.inlay none, board.text engraved and cell.tones plain',
        )


def _recess_contradictions(profile: Profile, depth_mm: float) -> Iterable[ErrorDetail]:
    """Check that the lead-in, which continues down to the ribs' crests, ends inside the recess, and
    that marks of south poles fit; those of closed cavities are in the floor."""
    if profile.magnet_pack != int(profile.magnet_pack):
        yield ErrorDetail(
            "magnet.pack",
            f"is {profile.magnet_pack:g}; expected a whole number of magnets such as 10",
        )
    ribs_mm = (profile.rib_root_mm - profile.rib_crest_mm) / 2 if profile.fit == "ribs" else 0.0
    if not profile.embedded and profile.lead_in_mm + ribs_mm >= depth_mm:
        with_ribs = f", with the {format_mm(ribs_mm)} of the ribs," if ribs_mm else ""
        yield ErrorDetail(
            "recess.lead_in",
            f"{format_mm(profile.lead_in_mm)}{with_ribs} is deeper than the recess, "
            f"{format_mm(depth_mm)}; choose a smaller lead-in",
        )
    yield from _release_contradictions(profile)
    if profile.polarity != "alternating":
        return
    try:
        mark_span(profile)
    except ValueError as error:
        yield ErrorDetail("magnet.polarity", str(error))
    least_mm = MARK_BORES * MARK_DIAMETER_MM
    if profile.embedded and profile.magnet_diameter_mm < least_mm:
        yield ErrorDetail(
            "magnet.polarity",
            'is "alternating", and the mark of a south pole, '
            f"{format_mm(MARK_DIAMETER_MM)} across, "
            "would fill the floor under a magnet of "
            f"{format_mm(profile.magnet_diameter_mm)}; choose one of {format_mm(least_mm)} at "
            "least, or another magnet.polarity",
        )


def _release_contradictions(profile: Profile) -> Iterable[ErrorDetail]:
    """Check that a pin fits through the hole for pushing a magnet out, and a magnet does not."""
    release_mm = profile.release_mm
    maximum_mm = profile.magnet_diameter_mm / 2
    if release_mm and profile.embedded:
        yield ErrorDetail(
            "recess.release",
            "a magnet in a closed cavity cannot be pushed out; choose 0 mm, or recess.fit press, "
            "glue or ribs",
        )
    elif release_mm and not LEAST_RELEASE_MM <= release_mm <= maximum_mm:
        yield ErrorDetail(
            "recess.release",
            f"is {format_mm(release_mm)}; expected 0 mm for none, or {format_mm(LEAST_RELEASE_MM)} "
            f"(a pin) to {format_mm(maximum_mm)} (half the magnet's diameter)",
        )


def read_layer(name: str) -> dict[str, Any]:
    """Return what a preset or file states, by attributes of `Profile`, with ``name`` and ``title``.

    Raises:
        InputError: for an unknown preset or key, or an invalid value; with all errors.
    """
    if name in layer_names():
        (path,) = _PRESETS.rglob(f"{name}.toml")
        source = f"profile {name}"
    elif name.endswith(".toml") or "/" in name or "\\" in name:
        path = Path(name)
        source = escape(name)
    else:
        choices = f"choose from {join_names(layer_names(), len(preset_names()))}"
        near = did_you_mean(name, layer_names())
        message = (
            f"there is no profile {quote(name)}; {choices}, or give a path to a .toml file{near}"
        )
        raise InputError.of("", message)
    errors = ErrorList(source)
    text = read_text(path, source, "a TOML file")
    with located(text, source):
        values = _read_values(parse_toml(text, source), errors)
    return {"title": path.stem, **values, "name": path.stem}


def _read_values(document: dict[str, Any], errors: ErrorList) -> dict[str, Any]:
    """Return values by attributes of `Profile`; raise InputError with all errors of a document."""
    from fabkit.core.documents import read_document

    layer = read_document(profile_table(), document, errors, [*BY_KEY], RENAMED)
    errors.raise_if_any()
    return table_values(layer)


def table_values(layer: Any) -> dict[str, Any]:
    """Return what a `profile_table` states, by attributes of `Profile`."""
    values = {"title": layer.title} if layer.title else {}
    for setting in SETTINGS:
        section, _, key = setting.key.rpartition(".")
        value = getattr(getattr(layer, section) if section else layer, key, None)
        if value is not None:
            values[setting.attribute] = value
    return values


def format_values(values: Mapping[str, Any]) -> dict[str, str]:
    """Return values by attributes of `Profile` as ``-s`` takes them, by key; without the title.

    Example:
        >>> format_values({"title": "thin", "thickness_mm": 4.0, "fit": "none"})
        {'thickness': '4 mm', 'recess.fit': 'none'}
    """
    return {
        setting.key: str(_FORMATS.get(setting.kind, str)(values[setting.attribute]))
        for setting in SETTINGS
        if setting.attribute in values
    }


def set_note(set_values: Mapping[str, Any], profile: Profile) -> str:
    """Return a note on the defaults of a set, besides its unit, that a profile keeps, if any."""
    defaults = {
        attribute: value
        for attribute, value in set_values.items()
        if attribute not in ("unit_mm", "title") and value == getattr(profile, attribute)
    }
    if not defaults:
        return ""
    texts = ", ".join(f"{key}={value}" for key, value in format_values(defaults).items())
    magnets = "" if defaults.get("fit") != "none" else "; for magnets, add -s recess.fit=press"
    return f"the set's own defaults, which -p and -s override: {texts}{magnets}"


@cache
def profile_table() -> type[Table]:
    """Build the model of a profile file from `SETTINGS`."""
    from pydantic import Field, create_model

    from fabkit.core.documents import Table, Text

    title = Field(None, max_length=_LONGEST_TITLE, description="one-line description")
    tables: dict[str, dict[str, Any]] = {"": {"title": (Text, title)}}
    for setting in SETTINGS:
        section, _, key = setting.key.rpartition(".")
        field = Field(None, description=setting.description)
        tables.setdefault(section, {})[key] = (_type_of(setting), field)
    top = tables.pop("")
    for section, fields in tables.items():
        top[section] = (create_model(section, __base__=Table, **fields), None)
    return create_model("profile", __base__=Table, **top)


def _read_settings(settings: Sequence[str]) -> dict[str, Any]:
    """Read the values of ``-s key=value`` options; the last one of a key applies."""
    from fabkit.core.documents import unknown_key

    errors = ErrorList("-s")
    texts = dict[str, str]()
    for text in settings:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            errors.add("", f'expected key=value such as "unit=15 mm", found {quote(text)}')
        texts[key.strip()] = value.strip()
    errors.raise_if_any()
    document = dict[str, Any]()
    for full_key, value in texts.items():
        if full_key not in BY_KEY:
            message = unknown_key(full_key, nearest(full_key, [*BY_KEY]), [*BY_KEY], RENAMED)
            errors.add(truncate(escape(full_key)), message)
            continue
        section, _, key = full_key.rpartition(".")
        table = document.setdefault(section, {}) if section else document
        table[key] = value
    return _read_values(document, errors)


def _type_of(setting: Setting) -> Any:
    from pydantic import Field

    from fabkit.core.documents import COLOUR as A_COLOUR
    from fabkit.core.documents import Text, choice, decimal, degrees, length_mm, optional_text
    from fabkit.profiles.filaments import FILAMENTS as THE_FILAMENTS

    if setting.kind == TEXT:
        return Annotated[Text, Field(max_length=_LONGEST_TEXT)]
    validators: dict[str, Any] = {
        LENGTH: length_mm,
        ANGLE: degrees,
        NUMBER: decimal,
        CHOICE: choice,
        COLOUR: lambda: A_COLOUR,
        FILAMENTS: lambda: THE_FILAMENTS,
        NAME: lambda: optional_text(_LONGEST_NAME),
    }
    return Annotated[Any, validators[setting.kind](*setting.limits)]
