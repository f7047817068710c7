# SPDX-License-Identifier: MIT
"""Calls whose tensors are all of one library with DLPack's C exchange API, as PyTorch has it: libtilewright reads them itself, which takes a tenth
of the time that Python needs. What it does not take is left to the reader of each tensor."""
import ctypes

from ._error import Error

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_ANY, _NONE = "any", 0  # of None, which goes with each library; of classes without the interface


class Interfaces(dict):
    """The address of the library's functions by the tensor's class."""

    def __missing__(self, kind):
        capsule = getattr(kind, "__dlpack_c_exchange_api__", None)
        try:
            address = _NONE if capsule is None else _pointer_of(capsule, b"dlpack_exchange_api")
        except (TypeError, ValueError):
            address = _NONE
        self[kind] = address = _ANY if kind is type(None) else address
        return address


class _Struct:
    """The bytes of a struct, at an address that does not change."""

    def __init__(self, value):
        self.memory, self.keep = bytearray(value), []
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))


class _Plan:
    """How a call with options of certain names is made."""

    def __init__(self, struct, call, interface, names):
        self.writers = [call.writers[name] for name in names]
        self.are_tensors = [write is None for _, write in self.writers]
        self.packed = {}  # structs of options by the values of those that are no tensors
        places = [where - call.options_at for where, write in self.writers if write is None]
        self.places = (ctypes.c_int32 * max(len(places), 1))(*places)
        self.call = struct(ctypes.cast(call.library.function(call.name), ctypes.c_void_p).value, interface, ctypes.addressof(self.places),
                           len(call.tensors), len(places), call.stream_at - call.options_at)
        self.address = ctypes.addressof(self.call)


class Exchange:
    """Of one operation."""

    def __init__(self, call):
        library = call.library
        self.call, self.interfaces = call, library.interfaces
        self.struct = library.header.structs["tilewright_dlpack_call"]
        prototype = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.py_object)
        self.function = prototype(("tilewright_call_dlpack", library.loaded))
        self.defaults = _Struct(call.defaults)
        self.plans = {}

    def __call__(self, tensors, options):
        """The status of the call; -1: the tensors, or the options, are not for it."""
        interfaces = self.interfaces
        interface = interfaces[type(tensors[0])]
        for x in tensors:
            if interfaces[type(x)] != interface and x is not None:
                return -1
        if not interface or interface is _ANY:
            return -1
        plan = self.plans.get((interface, *options)) or self._make_plan(interface, options)
        if plan is None:
            return -1
        if not options:
            return self.function(plan.address, self.defaults.address, tensors)
        more, scalars = [], []
        for x, is_tensor in zip(options.values(), plan.are_tensors):
            if not is_tensor:
                scalars.append(x)
            elif x is None or interfaces[type(x)] == interface:
                more.append(x)
            else:
                return -1
        try:
            key = (*scalars, *map(type, scalars))  # 1 is no float, 1.0 no integer
            packed = plan.packed.get(key) or self._pack(plan, options, key)
        except (Error, TypeError):  # the other way of calling says what is wrong
            return -1
        return self.function(plan.address, packed.address, (*tensors, *more))

    def _pack(self, plan, options, key):
        """The options' struct without tensors. It is kept: most calls repeat the options of earlier ones."""
        packed = _Struct(self.call.defaults)
        for (name, x), (where, write) in zip(options.items(), plan.writers):
            if write is not None and x is not None:
                write(packed.memory, where - self.call.options_at, name, x, packed.keep)
        if len(plan.packed) >= 256:
            plan.packed.clear()
        plan.packed[key] = packed
        return packed

    def _make_plan(self, interface, options):
        """None for options that are unknown, and for a stream."""
        names = tuple(options)
        known = all(name in self.call.writers for name in names)
        self.plans[(interface, *names)] = plan = _Plan(self.struct, self.call, interface, names) if known else None
        return plan
