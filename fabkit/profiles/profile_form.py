"""A profile as a form: what can be set, the values, and each error where it is caused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

from fabkit.core.errors import ErrorDetail, InputError
from fabkit.profiles.profile import SETTINGS, Profile
from fabkit.profiles.profile_file import (
    BY_KEY,
    dump_profile,
    format_values,
    layer_groups,
    load_profile,
    merge_layers,
    preset_names,
    read_layer,
)

#: A key of a profile in a message.
_KEY = re.compile(
    rf"(?<![\w.])({'|'.join(map(re.escape, sorted(BY_KEY, key=len, reverse=True)))})(?![\w.]*\w)"
)


@dataclass(frozen=True)
class ProfileForm:
    """Layers and settings for a profile, right or wrong.

    Attributes:
        layers: profiles by name or path, as with ``-p``.
        settings: values by key, as with ``-s``; the latest change comes last.
        set_values: a set's own defaults, `PuzzleSet.profile_values`.
    """

    layers: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    set_values: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def profile(self) -> Profile:
        """The effective profile.

        Raises:
            InputError: see `load_profile`.
        """
        return load_profile(self.layers, self._settings, self.set_values)

    @property
    def _settings(self) -> list[str]:
        return [f"{key}={value}" for key, value in self.settings.items()]

    def document(self, files: Iterable[str] = ()) -> dict[str, Any]:
        """Describe the form for a browser.

        Args:
            files: profile files to choose from, besides what is shipped.

        Returns:
            ``settings``, with key, kind and limits; ``layers`` to choose from, titles by name, in
            groups; by key the ``values``, and those that they have when ``reset``; and the
            ``faults`` of the values, each with its ``key`` and ``message``.
        """
        try:
            below = merge_layers(self.layers, (), self.set_values)
            faults = [
                self.fault(detail, partial(_has_error, key))
                for key, detail in self._errors().items()
            ]
        except InputError as error:  # a file that cannot be read is chosen, and need not stay so
            below = merge_layers((), (), self.set_values)
            faults = [{"key": "", "message": str(error)}]
        reset = format_values(vars(below))
        try:
            values = format_values(vars(merge_layers(self.layers, self._settings, self.set_values)))
        except InputError:
            values = reset | {key: text for key, text in self.settings.items() if key in reset}
        layers = dict(_shipped_layers())
        paths = sorted(set(files).union(self.layers).difference(*layers.values()))
        layers |= {"profile": layers["profile"] | {path: _title(path) for path in paths}}
        settings = [
            {"key": setting.key, "kind": setting.kind, "limits": list(setting.limits)}
            for setting in SETTINGS
        ]
        return {
            "settings": settings,
            "layers": layers,
            "values": values,
            "reset": reset,
            "faults": faults,
        }

    def changes(self) -> str:
        """Return what differs from the set's own profile, by layers and settings, as TOML.

        Raises:
            InputError: when the profile has errors.
        """
        title = merge_layers(self.layers, (), self.set_values).title
        profile = replace(self.profile, title=title)
        return dump_profile(profile, merge_layers((), (), self.set_values))

    def fault(self, detail: ErrorDetail, remains: Callable[[ProfileForm], bool]) -> dict[str, str]:
        """Describe an error at the key that causes it: the latest setting without which it is gone.

        An error that the layers already have is described at the first key that it names.

        Args:
            remains: whether a form without one of the settings has the error.
        """
        for key in reversed([*self.settings]):
            others = {other: text for other, text in self.settings.items() if other != key}
            if not remains(replace(self, settings=others)):
                break
        else:
            named = _KEY.search(f"{detail.key} {detail.message}")
            key = named[0] if named else ""
        return {"key": key, "message": detail.message if detail.key == key else str(detail)}

    def _errors(self) -> dict[str, ErrorDetail]:
        """Return the errors of the profile, by key."""
        try:
            _ = self.profile
        except InputError as error:
            return {detail.key: detail for detail in error.errors}
        return {}


def _has_error(key: str, form: ProfileForm) -> bool:
    return key in form._errors()


@lru_cache(1)
def _shipped_layers() -> dict[str, dict[str, str]]:
    groups = {"profile": preset_names(), **layer_groups()}
    return {group: {name: _title(name) for name in names} for group, names in groups.items()}


def _title(name: str) -> str:
    """Return the title of a layer; of one that cannot be read, its name."""
    try:
        return str(read_layer(name)["title"])
    except InputError:
        return Path(name).name
