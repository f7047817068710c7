# SPDX-License-Identifier: MIT
"""A function of the library that takes tensors and options."""
import ctypes
import struct
import sys

from ._error import Error
from ._tensors import view_of

_FORMATS = {"float": "f", "int32_t": "i", "int64_t": "q", "size_t": "N"}


class Call:
    """A function that takes tensors and options. The structs are written to a frame of memory: tensors, options, the options' tensors."""

    def __init__(self, library, declared):
        self.library, self.name, self.declared = library, declared.name, declared
        header = library.header
        self.function = None  # looked up when it is first called
        self.options = header.options.get(declared.options_type, {})
        self.tensor_bytes = ctypes.sizeof(header.structs["tilewright_tensor"])
        most = header.constants["TILEWRIGHT_MAX_RANK"]
        self.pack = [struct.Struct(f"=Qii{r}q{8 * (most - r)}x{r}q{8 * (most - r)}x").pack_into for r in range(most + 1)]
        self.options_at = len(declared.tensors) * self.tensor_bytes
        self.defaults = self._defaults(header.structs.get(declared.options_type))
        self.options_end = self.options_at + len(self.defaults)
        self.frame_bytes = self.options_end + self.tensor_bytes * len(self.options)
        self.free_frames = []  # so that threads do not wait for each other, and a frame is not allocated for each call
        self.writers = {name: struct.Struct(_FORMATS[o.kind]).pack_into for name, o in self.options.items() if o.kind in _FORMATS}

    def _defaults(self, options_struct):
        if options_struct is None:
            return b""
        values = options_struct()
        values.size = ctypes.sizeof(options_struct)
        for name, option in self.options.items():
            if option.default is not None:
                setattr(values, name, option.default)
        return bytes(values)

    def _new_frame(self):
        self.function = self.function or self.library.function(self.name)
        buffer = ctypes.create_string_buffer(self.frame_bytes)
        base = ctypes.addressof(buffer)
        arguments = [base + i * self.tensor_bytes for i in range(len(self.declared.tensors))]
        return buffer, base, arguments + ([base + self.options_at] if self.defaults else [])

    def refuse(self, sentence):
        raise Error(f"{self.name}: {sentence}")

    def view(self, name, x, stream):
        try:
            return view_of(x, stream)
        except Error as e:
            raise Error(f"{self.name}: {name} {e}") from None

    def __call__(self, tensors, options, outputs=1):
        """The first `outputs` of the tensors are written. Options that are None have their defaults; `stream`: a handle, or an object that has
        one; None: the current stream of the tensors' library."""
        stream = handle_of(self.name, options.get("stream"))
        names = self.declared.tensors
        if len(tensors) != len(names):
            raise Error(f"{self.name}: takes {len(names)} tensors here, but libtilewright declares ({', '.join(names)})", "internal")
        views = [self.view(name, x, stream) for name, x in zip(names, tensors)]
        given = []
        for name, value in options.items():
            if value is None or name == "stream":
                continue
            option = self.options.get(name)
            if option is None:
                self.refuse(f"there is no option {name}; there are {', '.join(self.options)}")
            if option.kind == "const tilewright_tensor*":
                views.append(self.view(name, value, stream))
                names = [*names, name]
            given.append((name, option, value))
        device = self._device(names, views, outputs)
        if stream is None:
            stream = next((v.stream(device) if callable(v.stream) else v.stream for v in views if v.stream is not None), None)
        try:
            frame = self.free_frames.pop()
        except IndexError:
            frame = self._new_frame()
        try:
            keep = self._write(frame, views, given, stream)
            if not stream and device is not None and device > 0:
                status = self._on_device(device, frame)
            else:
                status = self.function(*frame[2])
            del keep
            self.library.require(self.name, status)
        finally:
            self.free_frames.append(frame)

    def _device(self, names, views, outputs):
        """The GPU of all tensors, -1 for host memory."""
        device, first = None, None
        for i, v in enumerate(views):
            if i < outputs and v.is_readonly:
                self.refuse(f"{names[i]} is read-only")
            if (v.device == -1) != self.library.emulates:
                self.refuse(f"{names[i]} is in {'a GPU' if self.library.emulates else 'the host'}'s memory, but calls run on the "
                            f"{'CPU emulator' if self.library.emulates else 'GPU'}; move it there")
            if v.device is None or v.device == device:
                continue
            if device is not None:
                self.refuse(f"{names[i]} is on GPU {v.device} and {first} on GPU {device}; all tensors must be on one")
            device, first = v.device, names[i]
        return device

    def _write(self, frame, views, given, stream):
        buffer, base, _ = frame
        elements, bytes_each, count = self.library.elements, self.tensor_bytes, len(self.declared.tensors)
        keep = []
        at = 0
        for i, v in enumerate(views):
            if i == count:
                at = self.options_end
            rank = len(v.shape)
            if rank >= len(self.pack):
                self.refuse(f"a tensor has {rank} dimensions; they have 0 to {len(self.pack) - 1}")
            element = elements.get(v.type)
            if element is None:
                self.refuse(f"libtilewright has no elements of type {v.type}; there are {', '.join(elements)}")
            self.pack[rank](buffer, at, v.address, element, rank, *v.shape, *v.strides)
            at += bytes_each
        buffer[self.options_at:self.options_end] = self.defaults
        at = self.options_end
        for name, option, value in given:
            where = self.options_at + option.offset
            if option.kind == "const tilewright_tensor*":
                struct.pack_into("P", buffer, where, base + at)
                at += bytes_each
            elif name in self.writers:
                self._write_number(buffer, where, name, option, value)
            else:
                struct.pack_into("P", buffer, where, self._pointer(name, option, value, keep))
        if stream:
            struct.pack_into("P", buffer, self.options_at + self.options["stream"].offset, stream)
        return keep

    def _write_number(self, buffer, where, name, option, value):
        if isinstance(value, str):
            if option.choices is None or value not in option.choices:
                self.refuse(f"{name} is {value!r}; " + (f"there are {', '.join(map(repr, option.choices))}" if option.choices else "it is a number"))
            value = option.choices[value]
        try:
            self.writers[name](buffer, where, value)
        except (struct.error, TypeError, OverflowError) as e:
            self.refuse(f"{name} is {value!r}, which is no {option.kind.removesuffix('_t')} ({e})")

    def _pointer(self, name, option, value, keep):
        if option.kind == "const char*" and isinstance(value, str):
            keep.append(ctypes.create_string_buffer(value.encode()))
            return ctypes.addressof(keep[-1])
        if option.kind == "void*" and isinstance(value, int):
            return value
        return self.refuse(f"{name} is a {type(value).__name__}; it must be a {'string' if option.kind == 'const char*' else 'number, an address'}")

    def _on_device(self, device, frame):
        """The default stream is that of the current device."""
        torch = sys.modules.get("torch")
        if torch is None:
            return self.function(*frame[2])
        with torch.cuda.device(device):
            return self.function(*frame[2])


def handle_of(operation, stream):
    """The address that the driver knows a stream by; None if there is none."""
    if stream is None or isinstance(stream, int):
        return stream
    for attribute in ("cuda_stream", "ptr", "handle"):  # PyTorch, CuPy, others
        if isinstance(getattr(stream, attribute, None), int):
            return getattr(stream, attribute)
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    raise Error(f"{operation}: stream is a {type(stream).__name__}; give PyTorch's or CuPy's stream, or its handle")
