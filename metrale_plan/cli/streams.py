"""stdout and stderr that outlive their reader: closed or broken ones swallow what is written, so that the exit code
a command computed is the one it ends with."""

import io
from typing import Any, TextIO

from metrale_plan.errors import InputError


def unwritable(error: OSError) -> InputError:
    """The answer has nowhere to go: a full disk, say."""
    return InputError("MP291", f"the answer cannot be written: {error.strerror or error}", accepted="a writable place")


class Outlasting:
    """A text stream around another; once the reader is gone, writing does nothing."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream: TextIO = io.StringIO() if stream is None else stream
        self.broken = stream is None

    def write(self, text: str) -> int:
        """Write to the stream underneath, while anybody reads it."""
        if not self.broken:
            try:
                self._stream.write(text)
            except BrokenPipeError:
                self.broken = True
            except OSError as error:
                self.broken = True
                raise unwritable(error) from None
        return len(text)

    def flush(self) -> None:
        """Flush the stream underneath, while anybody reads it."""
        if not self.broken:
            try:
                self._stream.flush()
            except BrokenPipeError:
                self.broken = True
            except OSError as error:
                self.broken = True
                raise unwritable(error) from None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
