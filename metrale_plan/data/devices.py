"""Bundled device profiles: what a class of GPU shows, with memory in exact bytes. Data, no logic."""

from metrale_plan.device import DeviceSpec

CLASSES: tuple[str, ...] = ("gb10", "hopper", "b200", "b300", "strix", "strix-hip")
"""The engine's hardware classes; the last two have no profile."""

UTILIZATION_CEILINGS: dict[str, float] = {"gb10": 0.85}
"""Highest gpu_memory_utilization that a class's own recipes use, by its class file; the other classes name none."""

MIB = 2**20
GIB = 2**30

DEVICES: tuple[DeviceSpec, ...] = (
    # Host and device share one memory; the driver itself shows 130663886848 bytes.
    DeviceSpec(id="gb10", hardware_class="gb10", total=124610 * MIB, sm_count=48, splitk="legacy", unified=True),
    DeviceSpec(id="h100-sxm", hardware_class="hopper", total=81559 * MIB, sm_count=132, splitk="auto"),
    DeviceSpec(id="h100-nvl", hardware_class="hopper", total=94 * GIB, sm_count=132, splitk="auto"),  # data sheet
    DeviceSpec(id="h200-sxm", hardware_class="hopper", total=143771 * MIB, sm_count=132, splitk="auto"),
    DeviceSpec(id="b200", hardware_class="b200", total=183359 * MIB, sm_count=148, splitk="legacy"),
    DeviceSpec(id="gb200-b200", hardware_class="b200", total=186 * GIB, sm_count=148, splitk="legacy"),  # data sheet
    DeviceSpec(id="gb300", hardware_class="b300", total=279 * GIB, sm_count=148, splitk="legacy"),  # data sheet
    DeviceSpec(id="hgx-b300", hardware_class="b300", total=275040 * MIB, sm_count=148, splitk="legacy"),
)

MARKETING_WORDS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"gb10"}), "gb10"),
    (frozenset({"h100", "nvl"}), "h100-nvl"),
    (frozenset({"h100"}), "h100-sxm"),
    (frozenset({"h200"}), "h200-sxm"),
    (frozenset({"gb200"}), "gb200-b200"),
    (frozenset({"b200"}), "b200"),
    (frozenset({"gb300"}), "gb300"),
    (frozenset({"b300"}), "hgx-b300"),
)
"""Lower-case words of a marketing name, and the profile they mean; the first row whose words are all there wins."""
