#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# tool.sh TOOL [ARGUMENT...]: runs a tool that judges what is installed; the test is skipped where it is missing.
command -v "$1" >/dev/null 2>&1 || {
  echo "skipped: $1 is missing"
  exit 77
}
exec "$@"
