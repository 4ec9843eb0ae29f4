# SPDX-License-Identifier: Apache-2.0
"""The few calls of libpkrt that the benchmarks need, on PyTorch's tensors (ctypes; one rank)."""
import ctypes as c
import os

ELEMS = {"bfloat16": 0, "float16": 1, "float32": 2, "float8_e4m3fn": 3, "float8_e5m2": 4, "int8": 5, "int32": 6}


class Options(c.Structure):
    _fields_ = [("size", c.c_size_t), ("backend", c.c_int), ("ranks", c.c_int),
                ("devices", c.POINTER(c.c_int)), ("driver", c.c_char_p)]


class Arg(c.Structure):
    _fields_ = [("name", c.c_char_p), ("tensor", c.c_void_p), ("i", c.c_int64), ("f", c.c_double)]


class Runtime:
    """One rank on device 0; kernels bound to torch tensors and launched on torch's current stream."""

    def __init__(self, library="libpkrt.so.0"):
        self.lib = c.CDLL(library)
        self.lib.pkrt_last_error.restype = c.c_char_p
        self.ctx = c.c_void_p()
        options = Options(c.sizeof(Options), 1, 1, None, None)
        self._check(self.lib.pkrt_context_create(c.byref(self.ctx), c.byref(options)))

    def _check(self, status):
        if status:
            raise RuntimeError(self.lib.pkrt_last_error(self.ctx).decode())

    def _tensor(self, t):
        dims = (c.c_int64 * t.dim())(*t.shape)
        strides = (c.c_int64 * t.dim())(*t.stride())
        pointers = (c.c_void_p * 1)(t.data_ptr())
        out = c.c_void_p()
        elem = ELEMS[str(t.dtype).removeprefix("torch.")]
        self._check(self.lib.pkrt_tensor_wrap(self.ctx, c.byref(out), elem, t.dim(), dims, strides, pointers, 0))
        return out

    def bind(self, ptx, **args):
        """The kernel of the module in file `ptx`, bound to tensors, ints and floats by name."""
        text = open(ptx, "rb").read()
        module, kernel = c.c_void_p(), c.c_void_p()
        self._check(self.lib.pkrt_module_load(self.ctx, c.byref(module), text, c.c_size_t(len(text))))
        rows = (Arg * len(args))()
        for row, (name, value) in zip(rows, args.items()):
            row.name = name.encode()
            if isinstance(value, float):
                row.f = value
            elif isinstance(value, int):
                row.i = value
            else:
                row.tensor = self._tensor(value)
        self._check(self.lib.pkrt_kernel_bind(module, c.byref(kernel), None, rows, len(args)))
        return kernel

    def launch(self, kernel, stream):
        """Launches on a torch stream."""
        streams = (c.c_void_p * 1)(stream.cuda_stream)
        self._check(self.lib.pkrt_kernel_launch(kernel, streams))
