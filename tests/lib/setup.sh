# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by run.sh and tests/run.sh: what Debian packages are needed, and how the build is configured.

BUILD_PACKAGES=(gcc libc6-dev meson ninja-build pkg-config gettext libglib2.0-dev libgdk-pixbuf-2.0-dev libgtk-4-dev
  libadwaita-1-dev libprotobuf-c-dev protobuf-c-compiler libjson-glib-dev libopenblas-dev librsvg2-common
  adwaita-icon-theme python3-onnx)
TEST_PACKAGES=(libonnx-testdata xvfb dbus desktop-file-utils appstream python3-venv python3-pip ca-certificates
  fonts-cantarell fonts-dejavu-core binutils libopenmpi-dev openmpi-bin
  xdotool openbox python3-pyatspi at-spi2-core)

# Debian's tools are the ones the project is tried with; others may stand before them on the PATH.
MESON=meson
NINJA=ninja

as_root () {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  else
    sudo "$@"
  fi
}

# install_packages NAME...: those that are not there yet
install_packages () {
  local missing=() name
  for name in "$@"; do
    dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null | grep -qx installed || missing+=("$name")
  done
  if [ "${#missing[@]}" -gt 0 ]; then
    echo "Installing: ${missing[*]}"
    as_root apt-get update -q >/dev/null
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}" >/dev/null
  fi
  [ -x /usr/bin/meson ] && MESON=/usr/bin/meson
  [ -x /usr/bin/ninja ] && NINJA=/usr/bin/ninja
  return 0
}

# configure_build FOLDER [MESON OPTION...]
configure_build () {
  local folder=$1
  shift
  if [ -f "$folder/build.ninja" ]; then
    [ "$#" = 0 ] || "$MESON" configure "$folder" "$@"
  else
    "$MESON" setup "$folder" "$@" >/dev/null || { "$MESON" setup "$folder" "$@"; return 1; }
  fi
}
