#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# usage: run-headless.sh PROGRAM [ARGUMENT...]
# Runs a widget test on a virtual display and a session bus of its own, so that nothing of the desktop it is started
# from is seen or touched. Without the tools for that the test is skipped.
command -v xvfb-run >/dev/null 2>&1 && command -v dbus-run-session >/dev/null 2>&1 || {
  echo "1..0 # SKIP xvfb-run or dbus-run-session is missing"
  exit 77
}
home=$(mktemp -d) || exit 99
trap 'rm -rf "$home"' EXIT
env -u WAYLAND_DISPLAY -u DBUS_SESSION_BUS_ADDRESS \
  HOME="$home" XDG_CONFIG_HOME="$home/config" XDG_DATA_HOME="$home/data" XDG_CACHE_HOME="$home/cache" \
  XDG_RUNTIME_DIR="$home" NO_AT_BRIDGE=1 \
  xvfb-run -a -s "-screen 0 1920x1200x24 -nolisten tcp" dbus-run-session -- "$@"
