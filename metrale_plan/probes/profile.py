"""The profile's reading: what a bundled device profile says, and which profile a live GPU is one of."""

from dataclasses import replace

from metrale_plan import catalog
from metrale_plan.device import DeviceSpec
from metrale_plan.errors import Problem


def read_profile(device: str | None) -> DeviceSpec | None:
    """The profile named, or None where none was; InputError MP208 for one that is not bundled."""
    return None if device is None else catalog.load_device(device)


def matched(name: str, live: DeviceSpec) -> tuple[DeviceSpec, Problem | None]:
    """A live GPU with the class facts of its profile; total, SM count and sharing stay its own. Warns as the engine."""
    profile = catalog.match_device(name, live)
    if profile is None:
        message = (
            f"{name} matches no bundled device: its own {live.sm_count} SMs and the legacy split-K policy are used"
        )
        return live, Problem(code="MP305", message=message, where=name, severity="warning")
    spec = replace(profile, total=live.total, sm_count=live.sm_count, unified=live.unified)
    if profile.sm_count == live.sm_count:
        return spec, None
    message = f"{name} has {live.sm_count} SMs, its class {profile.hardware_class} has {profile.sm_count}"
    return spec, Problem(code="MP306", message=message, where=name, severity="warning")
