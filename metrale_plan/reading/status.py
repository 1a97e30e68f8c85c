"""What a failing CUDA call means for someone who wanted to know free memory: its status as a coded "cannot tell"."""

from metrale_plan.errors import CannotTell
from metrale_plan.reading.raw import CudaRaw, Failure, RawReading
from metrale_plan.reading.visible import Visibility

INSTEAD = "--device ID for a bundled profile, or --free-memory SIZE with --total-memory SIZE"
UNREAD = "free memory cannot be read"

FULL, NO_DRIVER_OR_TOO_OLD, NO_DEVICE, BAD_ORDINAL = 2, 35, 100, 101

MEANINGS: dict[int, tuple[str, str]] = {
    FULL: ("MP316", "the GPU is full, not even a CUDA context fits"),
    3: ("MP315", "the driver did not start (a suspended GPU, or device nodes that are missing)"),
    34: ("MP315", "a toolkit's link stub was found in place of the driver library"),
    46: ("MP314", "the GPU is held by another process in an exclusive compute mode, or is busy"),
    103: ("MP315", "the driver library is not NVIDIA's own"),
    802: ("MP315", "the system is not ready: the fabric manager of its NVSwitches does not run"),
    803: ("MP315", "the driver's library and its kernel module are of different versions"),
    804: ("MP315", "a CUDA compatibility package is in use that this GPU does not support"),
    999: ("MP315", "the driver is in a broken state (an unloaded module, or device nodes that are missing)"),
}
"""Status -> code and meaning, where the status alone says it all."""


def version(number: int) -> str:
    """CUDA's version number, 12090, as 12.9."""
    return f"{number // 1000}.{number % 1000 // 10}"


def explained(failure: Failure, cuda: CudaRaw, visibility: Visibility, ordinal: int) -> CannotTell:
    """Why the reading ended, from the call that failed; the status and CUDA's own words are always in it."""
    status = failure.status
    said = failure.text if status is None else f"status {status}, {failure.text}"
    if status == NO_DRIVER_OR_TOO_OLD:
        return _driver(cuda)
    if status == NO_DEVICE:
        hidden = visibility.told
        why = f"the driver shows no GPU: {hidden}" if hidden else "the driver shows no GPU"
        return CannotTell("MP303", f"{UNREAD}: {why}", where=_variable(visibility), accepted=INSTEAD)
    if status == BAD_ORDINAL:
        return no_ordinal(cuda, visibility, ordinal)
    if status in MEANINGS:
        code, meaning = MEANINGS[status]
        return CannotTell(code, f"{UNREAD}: {meaning} ({said})", accepted=INSTEAD)
    if status is None and "prohibit" in failure.text:
        return CannotTell("MP314", f"{UNREAD}: {failure.text}", accepted=INSTEAD)
    return CannotTell("MP304", f"{UNREAD}: {failure.call} failed: {said}", accepted=INSTEAD)


def no_ordinal(cuda: CudaRaw, visibility: Visibility, ordinal: int) -> CannotTell:
    """An ordinal that CUDA does not show."""
    count = cuda.device_count
    if count is not None and 0 <= ordinal < count:
        read = ", ".join(str(device.ordinal) for device in cuda.devices) or "none"
        message = f"the GPU with ordinal {ordinal} was not read; read were: {read}"
        return CannotTell("MP303", message, where="--gpu-ordinal", accepted=read)
    accepted = "an ordinal that CUDA shows" if not count else f"0 to {count - 1}" if count > 1 else "0"
    hidden = visibility.told
    message = f"there is no GPU with ordinal {ordinal}" + (f": {hidden}" if hidden else "")
    return CannotTell("MP303", message, where="--gpu-ordinal", accepted=accepted)


def _driver(cuda: CudaRaw) -> CannotTell:
    if not cuda.driver_version:
        return CannotTell(
            "MP302",
            f"{UNREAD}: no NVIDIA driver is visible (not installed, or a container started without the GPU)",
            accepted=INSTEAD,
        )
    needs = f", this cupy was built for {version(cuda.runtime_version)}" if cuda.runtime_version else ""
    return CannotTell(
        "MP302",
        f"{UNREAD}: the driver is too old, it supports CUDA {version(cuda.driver_version)}{needs}",
        accepted=INSTEAD,
    )


def _variable(visibility: Visibility) -> str | None:
    return None if visibility.text is None else "CUDA_VISIBLE_DEVICES"


def unanswered(raw: RawReading, visibility: Visibility, ordinal: int) -> CannotTell | None:
    """Why no GPU was read at all: the reading itself, cupy, or its first call; None when CUDA answered."""
    cuda = raw.cuda
    if raw.failure is not None:
        return CannotTell("MP317", f"{UNREAD}: {raw.failure.text}", accepted=INSTEAD)
    if cuda.module is None:
        if not raw.packages:
            accepted = f"pip install 'metrale-plan[cuda12]' (or [cuda13]), {INSTEAD}"
            return CannotTell("MP301", f"{UNREAD}: cupy is not installed", accepted=accepted)
        said = f": {cuda.failure.text}" if cuda.failure else ""
        return CannotTell(
            "MP301",
            f"{UNREAD}: {' and '.join(raw.packages)} cannot be imported{said}",
            accepted=f"a clean install of one of cupy-cuda12x and cupy-cuda13x, {INSTEAD}",
        )
    return None if cuda.failure is None else explained(cuda.failure, cuda, visibility, ordinal)
