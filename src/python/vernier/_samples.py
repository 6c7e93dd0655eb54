# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples of whatever kind a script has them in, as the stream of tensors that the program reads."""
from __future__ import annotations

import itertools
import os
import struct
from typing import Any, Iterable, Iterator, List, Mapping, Optional, Sequence, Union

import numpy as np

from ._program import VernierError

Data = Union[str, "os.PathLike[str]", Any]
"""A path as `--data` takes it, a list of paths, an array whose first axis counts samples, a mapping of input names to such
arrays, an iterable of samples, a DataLoader, or an object with get_next().

A sample is an array, a mapping of input names to arrays, or a sequence of arrays in the order of the inputs. An array has the
shape of the input, the axis of the batch may be missing, and its type becomes that of the input. What no input takes, such as
labels, is left out."""


def _to_array(value: Any) -> "np.ndarray[Any, Any]":
    """Arrays, tensors of PyTorch and whatever else NumPy reads."""
    for step in ("detach", "cpu", "numpy"):
        method = getattr(value, step, None)
        if callable(method):
            value = method()
    return np.ascontiguousarray(value)


def list_paths(data: Any) -> List[str]:
    """The paths, if data is a list of nothing else."""
    if not isinstance(data, (list, tuple)) or not all(isinstance(one, (str, os.PathLike)) for one in data):
        return []
    return [os.path.abspath(one) for one in data]


def _iterate_arrays(arrays: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    given = {name: _to_array(value) for name, value in arrays.items()}
    sizes = {array.shape[0] if array.ndim > 0 else 0 for array in given.values()}
    if len(sizes) > 1:
        raise VernierError("the arrays have different numbers of samples: " + ", ".join(map(str, sorted(sizes))), "setting")
    for i in range(max(sizes, default=0)):
        yield {name: array[i] for name, array in given.items()}


def _iterate(data: Any) -> Iterator[Any]:
    get_next = getattr(data, "get_next", None)
    if not callable(get_next):
        yield from _iterate_arrays(data) if isinstance(data, Mapping) else data
        return
    while True:
        sample = get_next()
        if sample is None:
            return
        yield sample


def _name_arrays(sample: Any, inputs: Sequence[str], index: int) -> Mapping[str, Any]:
    if isinstance(sample, Mapping):
        missing = [name for name in inputs if name not in sample]
        unknown = [str(name) for name in sample if name not in inputs]
        if missing and unknown:
            raise VernierError(f"sample {index} has arrays for {', '.join(unknown)}, and the model has inputs: "
                               + ", ".join(inputs), "setting")
        return {name: _to_array(sample[name]) for name in inputs if name in sample}
    if not isinstance(sample, (list, tuple)):
        sample = (sample,)
    # a DataLoader adds labels, which no input takes
    if len(sample) < len(inputs):
        raise VernierError(f"sample {index} has {len(sample)} arrays, and the model has {len(inputs)} inputs: "
                           + ", ".join(inputs), "setting")
    return {name: _to_array(value) for name, value in zip(inputs, sample)}


def _is_batch(array: "np.ndarray[Any, Any]", kind: str) -> bool:
    """Whether there may be several samples in an array, and the input takes one at a time: kind is "float32[1,3,224,224]"."""
    dims = kind[kind.find("[") + 1:].rstrip("]").split(",")
    return dims[0] == "1" and array.ndim == len(dims)


def _split(arrays: Mapping[str, Any], inputs: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
    """The samples of a batch, where the model takes one at a time."""
    sizes = {array.shape[0] if _is_batch(array, inputs.get(name, "")) else 1 for name, array in arrays.items()}
    if len(sizes) != 1 or sizes == {1}:
        yield arrays
        return
    for i in range(sizes.pop()):
        yield {name: array[i:i + 1] for name, array in arrays.items()}


_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9, "float16": 10,
          "float64": 11, "uint32": 12, "uint64": 13}
"""Names of NumPy's types and numbers of TensorProto's."""


def _pack(kind: bytes, payload: bytes, dtype: int = 0, shape: Sequence[int] = ()) -> bytes:
    """A message as vernier-samples(7) describes it."""
    return struct.pack(f"<4sc3BQ{len(shape)}q", b"VNS1", kind, dtype, len(shape), 0, len(payload), *shape) + payload


def _pack_array(array: "np.ndarray[Any, Any]", index: int, name: str) -> bytes:
    code = _TYPES.get(array.dtype.name)
    if code is None:
        raise VernierError(f"sample {index}: no model takes elements of type {array.dtype}, as for input {name!r}", "setting")
    return _pack(b"T", array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes(), code, array.shape)


def pack_samples(data: Any, inputs: Mapping[str, str], limit: Optional[int] = None) -> Iterator[bytes]:
    """The stream that `--data -` takes, piece by piece.

    data: samples that are no path, see `Data`. Batches are split where the model takes one sample at a time.
    inputs: the model's inputs in its order: names and types, such as "float32[1,3,224,224]".
    limit: (nullable) how many samples are taken at most.

    Raises VernierError, when the first piece is asked for, if there are no samples, and later if one has other inputs than the
    first.
    """
    samples = (one for i, sample in enumerate(_iterate(data)) for one in _split(_name_arrays(sample, list(inputs), i), inputs))
    names: List[str] = []
    for i, arrays in enumerate(itertools.islice(samples, limit)):
        if i == 0:
            names = list(arrays)
            yield _pack(b"N", b"".join(name.encode() + b"\0" for name in names))
        elif set(arrays) != set(names):
            raise VernierError(f"sample {i} has arrays for {', '.join(arrays)}, the first one for {', '.join(names)}", "setting")
        for name in names:
            yield _pack_array(arrays[name], i, name)
    if not names:
        raise VernierError("no samples were given: calibration needs at least one", "setting")


def describe_shapes(shape: Any, inputs: Sequence[str]) -> List[str]:
    """`--shape` for each input: of a shape, of a list of them in the order of the inputs, or of a mapping of names to them."""
    if not shape:
        return []
    if isinstance(shape, Mapping):
        named: Iterable[Any] = shape.items()
    elif isinstance(shape[0], (list, tuple)):
        named = zip(inputs, shape)
    else:
        named = [(inputs[0], shape)]
    return [f"--shape={name}={'x'.join(str(int(size)) for size in sizes)}" for name, sizes in named]
