#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what is missing, builds, and opens Vernier; without a display it quantizes the demo model and prints the result.
# Arguments go to the application: ./run.sh my-model.onnx
set -euo pipefail
cd "$(dirname "$0")"
. ./tests/lib/setup.sh

install_packages "${BUILD_PACKAGES[@]}"
configure_build build -Dtests=false -Db_pch=true
"$NINJA" -C build >/dev/null

if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  exec build/src/app/vernier "$@"
fi

echo "No display: quantizing the demo network on the command line."
out=$(mktemp -d)
build/src/cli/vernier-cli quantize data/demo/demo.onnx -o "$out/demo.int8.onnx" --data data/demo/samples \
  --preprocess minus-one-one --per-channel --report "$out/report"
echo "The quantized model and the report are in $out"
