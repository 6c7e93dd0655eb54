# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls of other quantizers' functions as commands: their keywords go to the program as they are, which knows the words."""
from __future__ import annotations

import os
import tempfile
from enum import Enum
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional

from .._model import ModelLike, list_inputs, run_on, word, write_model
from .._program import run
from .._samples import describe_shapes


class CalibrationDataReader:
    """Base class of what gives samples: get_next() returns a dictionary of input names and arrays, None at the end."""

    def get_next(self) -> Optional[Mapping[str, Any]]:
        raise NotImplementedError

    def __iter__(self) -> "CalibrationDataReader":
        return self

    def __next__(self) -> Mapping[str, Any]:
        sample = self.get_next()
        if sample is None:
            raise StopIteration
        return sample


class QuantFormat(Enum):
    """How the quantized model is written."""
    QOperator = 0
    QDQ = 1


class QuantType(Enum):
    """Types of weights and activations."""
    QInt8 = 0
    QUInt8 = 1
    QFLOAT8E4M3FN = 2
    QInt16 = 3
    QUInt16 = 4
    QInt4 = 5
    QUInt4 = 6


class CalibrationMethod(Enum):
    """How ranges of activations are found; scales are any numbers."""
    MinMax = 0
    Entropy = 1
    Percentile = 2
    Distribution = 3


def keyword_options(keywords: Mapping[str, Any]) -> List[str]:
    """What was given, None and empty lists left out."""
    return [f"--{name}={word(value)}" for name, value in keywords.items()
            if value is not None and not (isinstance(value, (list, tuple, dict)) and len(value) == 0)]


def call(command: List[str], model: ModelLike, output: Any, keywords: Mapping[str, Any], reader: Any = None,
         random_shape: Any = None, needs_samples: bool = False, option: str = "output") -> Dict[str, Any]:
    """Runs a command on a model.

    command: its name with options that come first.
    output: (nullable) where its file or folder goes, and option how the command calls that.
    keywords: of the function, with its values.
    reader: (nullable) samples; without them random ones of random_shape are taken, if needs_samples.

    Returns what the program says. Raises VernierError.
    """
    with tempfile.TemporaryDirectory(prefix="vernier-") as name:
        folder = Path(name)
        path = write_model(model, folder)
        arguments = [*command, path, *keyword_options(keywords)]
        if output is not None:
            arguments.append(f"--{option}={os.fspath(output)}")
        if reader is not None:
            return run_on(arguments, reader, path)
        if needs_samples:
            arguments += ["--data=random", *describe_shapes(random_shape, list(list_inputs(path)) if random_shape else [])]
        return run(arguments)
