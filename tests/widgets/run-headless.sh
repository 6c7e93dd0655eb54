#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# usage: run-headless.sh PROGRAM [ARGUMENT...]
# Runs a widget test on a virtual display and a session bus of its own, so that nothing of the desktop it is started
# from is seen or touched. Without the tools for that the test is skipped. The server chooses the display's number
# itself: tests that start at the same moment do not get in each other's way. It does not start anew when its last client leaves,
# which the next one might meet.
command -v Xvfb >/dev/null 2>&1 && command -v dbus-run-session >/dev/null 2>&1 || {
  echo "1..0 # SKIP Xvfb or dbus-run-session is missing"
  exit 0
}
home=$(mktemp -d) || exit 99
Xvfb -displayfd 1 -screen 0 1920x1200x24 -nolisten tcp -noreset >"$home/display" 2>"$home/xvfb.log" &
server=$!
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null; rm -rf "$home"' EXIT
tries=0
while [ ! -s "$home/display" ]; do
  tries=$((tries + 1))
  if [ $tries -gt 300 ] || ! kill -0 $server 2>/dev/null; then
    cat "$home/xvfb.log" >&2
    exit 99
  fi
  sleep 0.1
done
env -u WAYLAND_DISPLAY -u DBUS_SESSION_BUS_ADDRESS -u XAUTHORITY \
  DISPLAY=":$(cat "$home/display")" HOME="$home" XDG_CONFIG_HOME="$home/config" XDG_DATA_HOME="$home/data" \
  XDG_CACHE_HOME="$home/cache" XDG_STATE_HOME="$home/state" XDG_RUNTIME_DIR="$home" NO_AT_BRIDGE=1 \
  dbus-run-session -- "$@"
