# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by build.sh and tests/matrix.sh: minimal systems of a version of Debian, in folders, to build and try things in.
# Sets $work, $mirror and $suites by the arguments of the script, and leaves the rest in $rest.

# read_arguments FOLDER ARGUMENT...: [--work FOLDER] [--mirror ADDRESS] [SUITE...] [-- REST...]
# Without a suite those of $usual_suites, or the versions that packages are made for.
read_arguments () {
  work=$1 mirror='' suites=() rest=()
  shift
  while [ "$#" -gt 0 ]; do
    case $1 in
      --work) work=$2; shift 2 ;;
      --mirror) mirror=$2; shift 2 ;;
      --) shift; rest=("$@"); break ;;
      -*) sed -n '3,/^[^#]/s/^# \?//p' "$0"; exit 2 ;;
      *) suites+=("$1"); shift ;;
    esac
  done
  [ "${#suites[@]}" -gt 0 ] || read -ra suites <<<"${usual_suites:-bookworm trixie}"
  [ "$(id -u)" = 0 ] || { echo "$0 sets up systems of its own: run it as root" >&2; exit 2; }
  for tool in debootstrap unshare git; do
    command -v "$tool" >/dev/null || { echo "$tool is missing: apt install debootstrap util-linux git" >&2; exit 2; }
  done
  [ -n "$mirror" ] || mirror=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' 'Created-By: Packages' |
    awk '$1 == "Debian" && $2 == "Debian" && !found { found = 1; print $3 }')
  [ -n "$mirror" ] || { echo "apt knows no mirror of Debian: name one with --mirror" >&2; exit 2; }
  mkdir -p "$work"
  work=$(realpath "$work")
}

say () { echo "== $suite: $*"; }

# enter SYSTEM HOST COMMAND...: runs it as root in there; what it mounted and started is gone afterwards
enter () {
  local system=$1 host=$2
  shift 2
  unshare --mount --uts --ipc --pid --fork --kill-child --propagation private sh -c '
    system=$1 host=$2; shift 2
    hostname "$host"
    mount -t proc proc "$system/proc"
    mount -t tmpfs tmpfs "$system/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=666 devpts "$system/dev/pts"
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive TERM=dumb \
      chroot "$system" "$@"
  ' sh "$system" "$host" "$@"
}

# make_base: a minimal system of $suite, as it comes, in $base; made once
make_base () {
  base=$work/base-$suite
  [ -f "$base/.done" ] && return
  say "setting up a base system"
  rm -rf "$base"
  debootstrap --variant=minbase "$suite" "$base" "$mirror" >"$work/debootstrap-$suite.log"
  echo "deb $mirror $suite main" >"$base/etc/apt/sources.list"
  # Nothing is started in there.
  printf '#!/bin/sh\nexit 101\n' >"$base/usr/sbin/policy-rc.d"
  chmod +x "$base/usr/sbin/policy-rc.d"
  touch "$base/.done"
}

# copy_base SYSTEM HOST: a copy of it that may be changed
copy_base () {
  rm -rf "$1"
  cp -a --reflink=auto "$base" "$1"
  cp -L /etc/resolv.conf "$1/etc/resolv.conf"
  echo "127.0.0.1 localhost $2" >"$1/etc/hosts"
  enter "$1" "$2" apt-get -q update >/dev/null
}

# hurry SYSTEM: packages are unpacked without waiting for the disk, as the system is thrown away
hurry () { echo force-unsafe-io >"$1/etc/dpkg/dpkg.cfg.d/hurry"; }
