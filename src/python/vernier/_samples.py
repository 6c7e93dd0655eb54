# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples of whatever kind a script has them in, as files that the program reads."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Iterable, Iterator, List, Mapping, Optional, Sequence, Union

import numpy as np

from ._program import VernierError

Data = Union[str, "os.PathLike[str]", Any]
"""A path as `--data` takes it, an array of samples, an iterable of samples, a DataLoader, or an object with get_next(). A sample
is an array, a mapping of input names to arrays, or a sequence of arrays in the order of the inputs."""


def _to_array(value: Any) -> "np.ndarray[Any, Any]":
    """Arrays, tensors of PyTorch and whatever else NumPy reads."""
    for step in ("detach", "cpu", "numpy"):
        method = getattr(value, step, None)
        if callable(method):
            value = method()
    return np.ascontiguousarray(value)


def _iterate(data: Any) -> Iterator[Any]:
    get_next = getattr(data, "get_next", None)
    if not callable(get_next):
        yield from data
        return
    while True:
        sample = get_next()
        if sample is None:
            return
        yield sample


def _name_arrays(sample: Any, inputs: Sequence[str], index: int) -> Mapping[str, Any]:
    if isinstance(sample, Mapping):
        return {str(name): _to_array(value) for name, value in sample.items()}
    if not isinstance(sample, (list, tuple)):
        sample = (sample,)
    # a DataLoader adds labels, which no input takes
    if len(sample) < len(inputs):
        raise VernierError(f"sample {index} has {len(sample)} arrays, and the model has {len(inputs)} inputs: "
                           + ", ".join(inputs), "setting")
    return {name: _to_array(value) for name, value in zip(inputs, sample)}


def write_samples(data: Data, inputs: Sequence[str], folder: Path, limit: Optional[int] = None) -> str:
    """Writes samples as .npz files, an array for each input.

    data: see `Data`; a path is returned as it is.
    inputs: names of the model's inputs, in its order.
    limit: (nullable) how many are taken at most.

    Returns what `--data` takes. Raises VernierError if there are no samples.
    """
    if isinstance(data, (str, os.PathLike)):
        return os.fspath(data)
    n = 0
    for index, sample in enumerate(_iterate(data)):
        if limit is not None and index >= limit:
            break
        np.savez(folder / f"{index:06d}.npz", **_name_arrays(sample, inputs, index))
        n += 1
    if n == 0:
        raise VernierError("there are no samples", "setting")
    return str(folder)


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
