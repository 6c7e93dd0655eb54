# SPDX-License-Identifier: GPL-3.0-or-later
"""xquant: quantize_onnx_model(); python -m vernier.compat.xquant -c CONFIG.json [-i MODEL] [-o MODEL]."""
from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Optional, Union

from .._model import write_model
from .._program import run

Path_ = Union[str, "os.PathLike[str]"]


def quantize_onnx_model(config: Union[Path_, Dict[str, Any]], input_model: Any = None,
                        output_path: Optional[Path_] = None) -> Any:
    """Quantizes a model with a configuration of XQuant.

    config: the path of a JSON file, or what is in it; paths in a dictionary are relative to the current folder.
    input_model: a path or a ModelProto, instead of the configuration's.
    output_path: instead of the configuration's.

    Returns the quantized ModelProto if input_model is one, None otherwise. Raises VernierError.
    """
    is_proto = input_model is not None and not isinstance(input_model, (str, os.PathLike))
    with tempfile.TemporaryDirectory(prefix="vernier-") as name:
        folder = Path(name)
        # the paths in a configuration that has none itself start from the current folder
        text = [json.dumps(config).encode()] if isinstance(config, dict) else None
        arguments = ["xquant", "--config=-" if isinstance(config, dict) else f"--config={os.fspath(config)}"]
        if input_model is not None:
            arguments.append(f"--input={write_model(input_model, folder)}")
        target = output_path if output_path is not None else folder / "model.q.onnx" if is_proto else None
        if target is not None:
            arguments.append(f"--output={os.fspath(target)}")
        run(arguments, None, text)
        if not is_proto:
            return None
        import onnx

        return onnx.load(str(target))


def main(arguments: Optional[List[str]] = None) -> None:
    """Reads the options, and quantizes."""
    parser = argparse.ArgumentParser(description="Quantizes a model with a configuration of XQuant.")
    parser.add_argument("-c", "--config", required=True, metavar="CONFIG.json")
    parser.add_argument("-i", "--input_path", metavar="MODEL")
    parser.add_argument("-o", "--output_path", metavar="MODEL")
    words = sys.argv[1:] if arguments is None else arguments
    # its manual has "--config./demo.json"
    given = parser.parse_args([re.sub("^--config(?=[./])", "--config=", word) for word in words])
    quantize_onnx_model(given.config, given.input_path, given.output_path)


if __name__ == "__main__":
    main()
