"""Which bundled device a GPU is, by the name its driver gives."""

from collections.abc import Iterable

from metrale_plan.device import DeviceSpec

NAME_PARTS: dict[str, tuple[str, ...]] = {
    "gb10": ("GB10",),
    "h100-nvl": ("H100", "NVL"),
    "h100-sxm": ("H100", "HBM3"),
    "h200-sxm": ("H200",),
    "gb200-b200": ("GB200",),
    "b200": ("B200",),
    "gb300": ("GB300",),
    "hgx-b300": ("B300",),
}
"""Words of the driver's name for each device; the first row whose words all occur is the device."""


def match_device(name: str, profiles: Iterable[DeviceSpec]) -> DeviceSpec | None:
    """The bundled device that a driver's `name` means, or None."""
    by_id = {profile.id: profile for profile in profiles}
    return next((by_id[key] for key, parts in NAME_PARTS.items() if all(part in name for part in parts)), None)
