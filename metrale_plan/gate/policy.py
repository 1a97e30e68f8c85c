"""What a gate asks of a serve beyond fitting, as plain values; the config file is read elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from metrale_plan.gate.patterns import matches
from metrale_plan.gate.threshold import Threshold

ALL_WARNINGS = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignore:
    """A code that does not count for a while.

    Attributes:
        code: the code.
        reason: why, as the config says.
        expires: the last day on which it is ignored.
        paths: patterns of the configs it is ignored in; empty for all of them.
        where: "file:line" of the entry.
    """

    code: str
    reason: str
    expires: date
    paths: tuple[str, ...] = ()
    where: str = ""

    def covers(self, code: str, path: str, today: date) -> bool:
        """Whether it lets this code pass in this config today."""
        return code == self.code and today <= self.expires and (not self.paths or matches(path, self.paths))


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a gate asks; the default asks nothing.

    Attributes:
        least_headroom: memory that must stay free, as a size or a share of the free memory.
        utilization_ceiling: highest --gpu-memory-utilization, by hardware class.
        warnings_as_errors: codes of warnings that are a breach; "all" for every one.
        ignored: codes that do not count.
        forbidden_variables: METRALE_* names, or prefixes ending in *, that no config may set.
        required_flags: keys of flags that every recipe and command line has to give.
    """

    least_headroom: Threshold | None = None
    utilization_ceiling: Mapping[str, float] = field(default_factory=dict)
    warnings_as_errors: frozenset[str] = frozenset()
    ignored: tuple[Ignore, ...] = ()
    forbidden_variables: tuple[str, ...] = ()
    required_flags: tuple[str, ...] = ()

    def is_error(self, code: str) -> bool:
        """Whether a warning of this code is a breach."""
        return code in self.warnings_as_errors or ALL_WARNINGS in self.warnings_as_errors

    def forbids(self, variable: str) -> bool:
        """Whether no config may set this variable."""
        return any(
            variable.startswith(name[:-1]) if name.endswith("*") else variable == name
            for name in self.forbidden_variables
        )

    def ignore_of(self, code: str, path: str, today: date) -> Ignore | None:
        """The entry that lets a code pass, or None."""
        return next((entry for entry in self.ignored if entry.covers(code, path, today)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceMap:
    """Which devices the configs under some patterns are for."""

    paths: tuple[str, ...]
    devices: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateConfig:
    """One gate config file, or the defaults.

    Attributes:
        file: the file, or None for the defaults.
        folder: what its patterns are relative to, absolute.
        rules: the rules date as text, or None for the latest.
        devices: devices of configs that no map names.
        maps: the first one that means a config decides.
        exclude: patterns of configs that are left out.
    """

    file: str | None = None
    folder: str = ""
    rules: str | None = None
    devices: tuple[str, ...] = ()
    maps: tuple[DeviceMap, ...] = ()
    exclude: tuple[str, ...] = ()
    policy: Policy = Policy()

    def devices_for(self, path: str) -> tuple[str, ...]:
        """Devices of a config, by its path relative to `folder`; empty when nothing says."""
        return next((entry.devices for entry in self.maps if matches(path, entry.paths)), self.devices)

    def excludes(self, path: str) -> bool:
        """Whether a config is left out."""
        return matches(path, self.exclude)


NO_CONFIG = GateConfig()
