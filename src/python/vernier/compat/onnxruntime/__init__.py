# SPDX-License-Identifier: GPL-3.0-or-later
"""What scripts import of onnxruntime to quantize."""
from . import quantization

__all__ = ["quantization"]
