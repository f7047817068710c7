# SPDX-License-Identifier: MIT
"""A function of the library that takes tensors and options. A call costs little more than reading the tensors: the C structs are packed into a
frame of memory that is used again."""
import ctypes
import struct
import sys

from ._error import Error
from ._exchange import Exchange

_NUMBERS = {"float": "f", "int32_t": "i", "int64_t": "q", "size_t": "N"}
_TENSOR = "const tilewright_tensor*"
_pack_address = struct.Struct("P").pack_into


class Call:
    """A frame holds the tensors, the options, and the options' tensors."""

    def __init__(self, library, declared):
        header = library.header
        self.library, self.name, self.tensors, self.parameters = library, declared.name, declared.tensors, declared.parameters
        self.position = {name: i for i, (_, name) in enumerate(declared.parameters)}
        self.options = header.options[declared.options_type]
        self.tensor_bytes, most = ctypes.sizeof(header.structs["tilewright_tensor"]), header.constants["TILEWRIGHT_MAX_RANK"]
        self.pack = [struct.Struct(f"=Qii{r}q{8 * (most - r)}x{r}q{8 * (most - r)}x").pack_into for r in range(most + 1)]
        self.options_at = len(self.tensors) * self.tensor_bytes
        self.defaults = self._default_options(header.structs[declared.options_type])
        self.options_end = self.options_at + len(self.defaults)
        self.writers = {name: self._writer(o) for name, o in self.options.items() if name != "stream"}
        self.stream_at = self.options_at + self.options["stream"].offset
        self.function = self.exchange = None  # made by the first call
        self.free_frames = []  # threads that call at once have one each

    def _default_options(self, options_struct):
        values = options_struct()
        values.size = ctypes.sizeof(options_struct)
        for name, option in self.options.items():
            if option.default is not None:
                setattr(values, name, option.default)
        return bytes(values)

    def _new_frame(self):
        self.function = self.function or self.library.function(self.name)
        buffer = bytearray(self.options_end + self.tensor_bytes * len(self.options))
        base = ctypes.addressof(ctypes.c_char.from_buffer(buffer))
        at = {name: base + i * self.tensor_bytes for i, name in enumerate(self.tensors)} | {"options": base + self.options_at}
        return buffer, base, [at.get(name) for _, name in self.parameters]

    def refuse(self, sentence):
        raise Error(f"{self.name}: {sentence}")

    def __call__(self, tensors, options, outputs=1, **texts):
        """The first `outputs` of the tensors are written. Options that are None have their defaults; `stream`: a handle, or an object that has
        one; None: the current stream of the tensors' library. texts: parameters that are strings."""
        if not texts and len(tensors) == len(self.tensors) and not self.library.emulates:
            self.exchange = self.exchange or Exchange(self)
            status = self.exchange(tensors, options)
            if status >= 0:
                return self.library.require(self.name, status) if status else None
        stream = options.pop("stream", None) if options else None
        if stream is not None:
            stream = handle_of(self.name, stream)
        try:
            frame = self.free_frames.pop()
        except IndexError:
            frame = self._new_frame()
        try:
            self._run(frame, tensors, options, outputs, stream, texts)
        finally:
            self.free_frames.append(frame)

    def _run(self, frame, tensors, options, outputs, stream, texts):
        buffer, base, arguments = frame
        device, ready, keep, at = None, None, [], 0
        if len(tensors) != len(self.tensors):
            self.refuse(f"libtilewright takes the tensors {', '.join(self.tensors)}; install the library and the package of one version")
        readers, host, pack = self.library.readers, self.library.emulates, self.pack

        def write(i, x):
            """Of option i, if it is a name. Returns the stream on which x is ready."""
            nonlocal device
            address, element, shape, strides, on, is_readonly, stream_of, owner = readers[type(x)](x, stream)
            if on != device or on is None:
                device = self._same_device(i, on, device, host)
            if is_readonly and i in range(outputs):
                raise Error("is read-only")
            rank = len(shape)
            if rank >= len(pack):
                raise Error(f"has {rank} dimensions; tensors have 0 to {len(pack) - 1}")
            pack[rank](buffer, at, address, element, rank, *shape, *strides)
            if owner is not None:
                keep.append(owner)
            return stream_of

        i = 0
        try:
            for i, x in enumerate(tensors):
                if x is None:
                    arguments = self._with(arguments, self.tensors[i], None)
                else:
                    ready = write(i, x) or ready
                at += self.tensor_bytes
            for i, x in texts.items():
                if not isinstance(x, str):
                    raise Error(f"is a {type(x).__name__}, but must be a string")
                arguments = self._with(arguments, i, x.encode())
            buffer[at:self.options_end] = self.defaults
            at = self.options_end
            for i, x in options.items():
                if x is None:
                    continue
                where, write_value = self._find_writer(i)
                if write_value is not None:
                    write_value(buffer, where, i, x, keep)
                    continue
                ready = write(i, x) or ready
                _pack_address(buffer, where, base + at)
                at += self.tensor_bytes
        except Error as e:
            self.refuse(f"{i if isinstance(i, str) else self.tensors[i]} {e}")
        if stream is None and ready is not None:
            stream = ready(device) if callable(ready) else ready
        if stream:
            _pack_address(buffer, self.stream_at, stream)
            status = self.function(*arguments)
        else:
            status = self.function(*arguments) if not device else self._on_device(device, arguments)
        if status:
            self.library.require(self.name, status)

    def _with(self, arguments, name, value):
        """The arguments with another one for a parameter."""
        i = self.position[name]
        return [*arguments[:i], value, *arguments[i + 1:]]

    def _same_device(self, i, on, device, host):
        """`device`, or where it is None, `on`. -1: host memory, None: the current GPU."""
        if (on == -1) is not host:
            raise Error("is in a GPU's memory, but calls run on the CPU emulator" if host
                        else "is in the host's memory, but calls run on the GPU; move it there")
        if on is not None and device is not None:
            raise Error(f"is on GPU {on}, but other tensors are on GPU {device}")
        return device if on is None else on

    def _on_device(self, device, arguments):
        """The default stream is that of the current device."""
        torch = sys.modules.get("torch")
        if torch is None or device < 0:
            return self.function(*arguments)
        with torch.cuda.device(device):
            return self.function(*arguments)

    def _find_writer(self, name):
        try:
            return self.writers[name]
        except KeyError:
            raise Error(f"is no option; there are {', '.join(self.options)}") from None

    def _writer(self, option):
        """Where an option is in the frame, and the function that writes it there: None for a tensor."""
        where = self.options_at + option.offset
        if option.kind == _TENSOR:
            return where, None
        if option.kind in _NUMBERS:
            return where, _number_writer(option)
        return where, _write_pointer


def _number_writer(option):
    pack, choices = struct.Struct(_NUMBERS[option.kind]).pack_into, option.choices

    def write(buffer, where, name, value, keep):
        if isinstance(value, str):
            if choices is None or value not in choices:
                raise Error(f"is {value!r}, but must be {'one of ' + ', '.join(map(repr, choices)) if choices else 'a number'}")
            value = choices[value]
        try:
            pack(buffer, where, value)
        except (struct.error, TypeError, OverflowError) as e:
            raise Error(f"is {value!r}, which is no {option.kind.removesuffix('_t')} ({e})") from None
    return write


def _write_pointer(buffer, where, name, value, keep):
    """A string, or an address."""
    if isinstance(value, str):
        keep.append(ctypes.create_string_buffer(value.encode()))
        value = ctypes.addressof(keep[-1])
    if not isinstance(value, int):
        raise Error(f"is a {type(value).__name__}, but must be a string or an address")
    _pack_address(buffer, where, value)


def handle_of(operation, stream):
    """The address that the driver knows a stream by."""
    if stream is None or isinstance(stream, int):
        return stream
    for attribute in ("cuda_stream", "ptr", "handle"):  # PyTorch, CuPy, others
        if isinstance(getattr(stream, attribute, None), int):
            return getattr(stream, attribute)
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    raise Error(f"{operation}: stream is a {type(stream).__name__}; give PyTorch's or CuPy's stream, or its handle")
