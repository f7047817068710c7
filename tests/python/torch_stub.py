# SPDX-License-Identifier: MIT
"""The interface of PyTorch that this package uses, on the emulated GPU: importing this file installs it as the module torch. It has no autograd:
operators() of a test calls the functions that tilewright.torch registers."""
import ast
import inspect
import math
import re
import sys
import types

from gpu_arrays import Base, packed

torch = types.ModuleType("torch")
ELEMENTS = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "int8": "i8", "int32": "i32", "int64": "i64"}


class Dtype:
    def __init__(self, name, element):
        self.name, self.element = name, element

    def __repr__(self):
        return f"torch.{self.name}"


DTYPES = {element: Dtype(name, element) for name, element in ELEMENTS.items()}
for dtype in DTYPES.values():
    setattr(torch, dtype.name, dtype)
torch.version = types.SimpleNamespace(hip="6.0")
torch.contiguous_format = "contiguous"


class _Inside:
    def __init__(self, memory, offset):
        self.owner, self.address = memory, memory.address + offset


class Tensor(Base):
    """As PyTorch's: no protocol of other libraries."""
    is_cuda, requires_grad = True, True
    current_streams = []  # devices whose stream was asked for

    dtype = property(lambda self: DTYPES[self.element])
    mT = property(lambda self: self.t())
    data_ptr = lambda self: self.memory.address
    get_device = lambda self: 0
    dim = lambda self: len(self.shape)
    numel = lambda self: math.prod(self.shape)

    def stride(self, dimension=None):
        return self.strides if dimension is None else self.strides[dimension]

    def new_empty(self, shape, dtype=None):
        element = dtype.element if dtype else self.element
        return Tensor(shape, element, values=None if element in ("i8", "i32") else [math.nan])

    def new_zeros(self, shape):
        return Tensor(shape, self.element, values=[0] * math.prod(shape))

    def to(self, dtype):
        return self if dtype == self.dtype else Tensor(self.shape, dtype.element, values=list(self.nested().values()))

    def float(self):
        return self.to(torch.float32)

    def clone(self, memory_format):
        return Tensor(self.shape, self.element, values=list(self.nested().values()))

    def contiguous(self):
        return self if self.strides == packed(self.shape) else Tensor(self.shape, self.element, values=list(self.nested().values()))

    def view(self, *shape):
        shape = shape[0] if isinstance(shape[0], tuple) else shape
        assert self.strides == packed(self.shape)
        if -1 in shape:
            shape = tuple(self.numel() // -math.prod(shape) if n == -1 else n for n in shape)
        return Tensor(shape, self.element, memory=self.memory)

    def first(self, i):
        """Element i of the first dimension, a view."""
        return Tensor(self.shape[1:], self.element, strides=self.strides[1:], memory=_Inside(self.memory, i * self.strides[0] * self.size))

    def reshape(self, *shape):
        return self.contiguous().view(*shape)

    def sum(self, dimension):
        assert dimension == 0
        total = {}
        for index, value in self.nested().items():
            total[index[1:]] = total.get(index[1:], 0) + value
        return Tensor(self.shape[1:], self.element, values=list(total.values()))


torch.Tensor = Tensor
torch._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda device: Tensor.current_streams.append(device) or 0)
torch.cuda = types.SimpleNamespace(is_available=lambda: True, device_count=lambda: 1,
                                   get_device_properties=lambda i: types.SimpleNamespace(gcnArchName="gfx942:sramecc+"))
torch.is_tensor = lambda x: isinstance(x, Tensor)
torch.zeros_like = lambda t: Tensor(t.shape, t.element, values=[0] * t.numel())
torch.nn = types.SimpleNamespace(functional=None)


class Operator:
    def __init__(self, schema):
        self.name, arguments, results = re.fullmatch(r"(\w+)\((.*)\) -> (.*)", schema).groups()
        self.arguments = [re.fullmatch(r"(\w+\??) (\w+)(?:=(.*))?", a).groups() for a in arguments.split(", ")]  # type, name, default
        self.num_results = results.count("Tensor")
        self.function = self.fake = self.setup = self.backward = None

    def __call__(self, *given):
        return self.function(*given)

    def gradients(self, inputs, grads_of):
        """The results, and what the backward pass says for each input, by name. grads_of(results): the gradients of some of the first results."""
        names = [name for _, name, _ in self.arguments]
        inputs = (*inputs, *(ast.literal_eval(default) for _, _, default in self.arguments[len(inputs):]))
        results = self.function(*inputs)
        saved = types.SimpleNamespace(needs_input_grad=[isinstance(x, Tensor) for x in inputs], set_materialize_grads=lambda value: None)
        saved.save_for_backward = lambda *tensors: setattr(saved, "saved_tensors", tensors)
        self.setup(saved, inputs, results)
        results = results if isinstance(results, tuple) else (results,)
        grads = grads_of(results)
        found = self.backward(saved, *grads, *[None] * (len(results) - len(grads)))
        return results, grads, dict(zip(names, found if isinstance(found, tuple) else (found,), strict=True))

    def check_declaration(self):
        """The functions take the schema's arguments."""
        names = [name for _, name, _ in self.arguments]
        parameters = list(inspect.signature(self.function).parameters.values())
        named = [p.name for p in parameters if p.kind != p.VAR_POSITIONAL]
        assert named == names[:len(named)] and (len(named) == len(names) or len(named) < len(parameters)), self.name
        inspect.signature(self.fake).bind(*names)
        assert (self.setup is None) == (self.backward is None), self.name
        for (kind, name, default), parameter in zip(self.arguments, inspect.signature(self.function).parameters.values()):
            assert (default is None) == (parameter.default is inspect.Parameter.empty), (self.name, name, kind)


operators = {}


class Library:
    def __init__(self, name, kind):
        assert (name, kind) == ("tilewright", "DEF")

    def define(self, schema):
        operator = Operator(schema)
        operators[operator.name] = operator
        setattr(torch.ops.tilewright, operator.name, types.SimpleNamespace(default=operator))

    def impl(self, name, function, key):
        operators[name].function = function


def register_fake(name, function, lib):
    operators[name.removeprefix("tilewright::")].fake = function


def register_autograd(name, backward, setup_context, lib):
    operator = operators[name.removeprefix("tilewright::")]
    operator.backward, operator.setup = backward, setup_context


torch.ops = types.SimpleNamespace(tilewright=types.SimpleNamespace(), aten=types.SimpleNamespace())
torch.library = types.SimpleNamespace(Library=Library, register_fake=register_fake, register_autograd=register_autograd)
sys.modules["torch"] = torch
