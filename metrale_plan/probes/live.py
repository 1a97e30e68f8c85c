"""Every source of this machine asked once: raw readings as plain values, each failure beside what the others said."""

import os
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime

from metrale_plan import __version__
from metrale_plan.probes.base import ProbeRequest
from metrale_plan.probes.cuda import read_cuda, runtime_module
from metrale_plan.probes.host import read_host
from metrale_plan.probes.nvml import Nvml
from metrale_plan.probes.packages import cupy_distributions
from metrale_plan.reading.raw import CudaRaw, Failure, NvmlRaw, RawReading

VARIABLES = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")
"""What decides which GPUs CUDA shows, and in which order."""


def read_live(request: ProbeRequest, environ: Mapping[str, str] = os.environ) -> RawReading:
    """Read this machine, in this process: a CUDA context stays until it ends. It never raises for a failing source."""
    found = runtime_module()
    session = Nvml.opened()
    cuda = CudaRaw(failure=found) if isinstance(found, Failure) else None
    nvml = NvmlRaw(failure=session) if isinstance(session, Failure) else None
    before = session.free_now() if isinstance(session, Nvml) else {}
    if not isinstance(found, Failure):
        cuda = read_cuda(found[0], found[1], request, read_host, time.sleep)
    if isinstance(session, Nvml):
        nvml = session.read(before)
        session.close()
    return RawReading(
        read_at=datetime.now(UTC).isoformat(timespec="seconds"),
        metrale_plan=__version__,
        python=".".join(map(str, sys.version_info[:3])),
        system=f"{sys.platform} {os.uname().machine}" if hasattr(os, "uname") else sys.platform,
        own_pid=os.getpid(),
        environment={name: environ[name] for name in VARIABLES if name in environ},
        packages=cupy_distributions(),
        cuda=cuda or CudaRaw(),
        nvml=nvml or NvmlRaw(),
        host=read_host(),
    )


def read_in_child(request: ProbeRequest, timeout: float = 60.0) -> RawReading:
    """The same in a child process, so that no context stays behind and a hanging or crashing driver is survived."""
    from metrale_plan.probes.child import read_in_child as read

    return read(request, timeout)
