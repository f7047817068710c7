# SPDX-License-Identifier: MIT
"""The one exception of this package."""


class Error(RuntimeError):
    """A call was refused or could not start: nothing was queued. The text is one sentence that begins with the operation's name and says what
    is wrong and what to do. `kind` is "wrong_call" (the arguments), "no_device", "no_kernel", "device_failed" or "internal"."""

    def __init__(self, sentence, kind="wrong_call"):
        super().__init__(sentence)
        self.kind = kind
