#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# build.sh [--work FOLDER] [--mirror ADDRESS] [SUITE...]: the packages of what is committed, for each version of Debian (bookworm
# and trixie, unless named), made and tried in systems that debootstrap sets up for it. As root, on Debian; for each about 3 GB
# while it runs.
#
# Builds twice, in another folder, year, time zone, language and host, and compares the bytes; looks with lintian; installs in a
# fresh system and measures how long it takes to the first heat map of the demo, on the command line and in the window; runs
# autopkgtest. What remains is in FOLDER/out/SUITE: packages, SHA256SUMS, and lintian.txt, times.txt, autopkgtest.txt and
# window.png to look at. FOLDER is build-packages unless named; base systems are kept there for the next time, in
# FOLDER/base-SUITE. ADDRESS is where Debian's packages come from, unless named: what apt on this machine uses.
set -euo pipefail

here=$(dirname "$(realpath "$0")")
source=$(realpath "$here/../..")
. "$here/system.sh"
read_arguments "$source/build-packages" "$@"

name=vernier
version=$(sed -n '1s/.*(\(.*\)-[^-]*).*/\1/p' "$here/changelog")
revision=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$here/changelog")
export SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(date -d "$(sed -n 's/^ -- .*>  //p' "$here/changelog" | head -1)" +%s)

# export_source FOLDER: the source package's two parts in there: the archive of what is committed, and the same unpacked with
# debian/
export_source () {
  local tree=$1/$name-$version
  mkdir -p "$1"
  git -C "$source" archive --prefix="$name-$version/" HEAD | tar -x -C "$1"
  tar -C "$1" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw,a-s --format=gnu \
    -cf - "$name-$version" | xz -6 >"$1/${name}_$version.orig.tar.xz"
  cp -a "$tree/data/debian" "$tree/debian"
  # Each version of Debian has packages of its own, which the next one's replace.
  sed -i "1s/(.*) [a-z]*;/($revision~$suffix) $suite;/" "$tree/debian/changelog"
}

make_builder () {
  builder=$work/builder-$suite
  say "installing what the build needs"
  copy_base "$builder" builder
  hurry "$builder"
  export_source "$builder/build/first"
  enter "$builder" builder sh -c "cd /build/first/$name-$version &&
    apt-get -q -y --no-install-recommends install build-essential lintian faketime locales &&
    apt-get -q -y --no-install-recommends build-dep ." >"$work/builder-$suite.log"
  enter "$builder" builder localedef -i de_DE -f UTF-8 de_DE.UTF-8
  enter "$builder" builder useradd -m maker
}

# build_once FOLDER HOST ENVIRONMENT...: in the builder, as a user; the log is beside the folder of results
build_once () {
  local folder=$1 host=$2
  shift 2
  enter "$builder" "$host" chown -R maker "$folder"
  enter "$builder" "$host" setpriv --reuid=maker --regid=maker --init-groups env HOME=/home/maker "$@" \
    sh -c "umask \${UMASK:-022}; cd $folder/$name-$version && dpkg-buildpackage -us -uc -j$(nproc)" \
    >"$work/build-$suite-$host.log" 2>&1 ||
    { tail -30 "$work/build-$suite-$host.log"; return 1; }
}

# sums FOLDER: of the packages in there
sums () { (cd "$1" && sha256sum -- *.deb *.dsc *.orig.tar.xz *.debian.tar.xz); }

build_twice () {
  local other=/srv/quite/another/place
  say "building"
  build_once /build/first builder LC_ALL=C.UTF-8 TZ=UTC
  say "building again, elsewhere"
  export_source "$builder$other"
  build_once "$other" elsewhere LC_ALL=de_DE.UTF-8 LANGUAGE=de LANG=de_DE.UTF-8 TZ=Asia/Tokyo UMASK=002 NO_FAKE_STAT=1 \
    faketime -f '+400d'
  sums "$builder/build/first" >"$out/SHA256SUMS"
  sums "$builder$other" >"$work/again-$suite.txt"
  if ! diff "$out/SHA256SUMS" "$work/again-$suite.txt"; then
    echo "$suite: the second build has other bytes; both are in $builder" >&2
    return 1
  fi
  cp "$work/again-$suite.txt" "$out/SHA256SUMS.again"
  say "both builds have the same bytes"
}

run_lintian () {
  say "lintian"
  enter "$builder" builder setpriv --reuid=maker --regid=maker --init-groups sh -c \
    "cd /build/first && lintian --version &&
      lintian --fail-on error,warning --info --display-info --allow-root --no-tag-display-limit *.changes" \
    >"$out/lintian.txt" 2>&1 || { cat "$out/lintian.txt"; return 1; }
  grep -E '^[EWI]:' "$out/lintian.txt" || say "lintian has nothing to say"
}

# try_packages: from “apt install” to the first heat map, in a system that has nothing else
try_packages () {
  local tester=$work/tester-$suite demo=/usr/share/vernier/demo
  copy_base "$tester" tester
  mkdir "$tester/packages"
  cp "$out"/{vernier,vernier-cli,vernier-doc}_*.deb "$tester/packages"
  mkdir "$tester/source"
  cp -a "$builder/build/first/$name-$version/." "$tester/source"
  say "the command line alone"
  enter "$tester" tester sh -c "apt-get -q -s --no-install-recommends install /packages/vernier-cli_*.deb" >"$work/cli-$suite.log"
  ! grep -E 'Inst (libgtk|libadwaita)' "$work/cli-$suite.log" || { echo "$suite: vernier-cli brings GTK" >&2; return 1; }
  say "installing"
  enter "$tester" tester sh -c "start=\$(date +%s.%N)
    apt-get -q -y install /packages/*.deb >/install.log 2>&1 || { tail -20 /install.log; exit 1; }
    installed=\$(date +%s.%N)
    vernier-cli quantize $demo/demo.onnx -o /tmp/demo.int8.onnx --data $demo/samples --preprocess minus-one-one \\
      --report /tmp/report >/tmp/told
    drawn=\$(date +%s.%N)
    grep -q '<svg' /tmp/report/report.html || exit 1
    cat /tmp/told
    echo \"apt install, with what it loads: \$(echo \"\$start \$installed\" | awk '{ printf \"%.1f\", \$2 - \$1 }') s\"
    seconds=\$(echo \"\$installed \$drawn\" | awk '{ printf \"%.1f\", \$2 - \$1 }')
    echo \"vernier-cli, from then to the heat map in the report: \$seconds s\"" \
    >"$out/times.txt"
  say "opening the window"
  enter "$tester" tester apt-get -q -y install --no-install-recommends autopkgtest dbus xvfb xdotool openbox python3-pyatspi \
    at-spi2-core imagemagick >"$work/tester-$suite.log" 2>&1
  enter "$tester" tester sh /source/debian/tests/window /window.png >"$work/window-$suite.log" 2>&1 ||
    { tail "$work/window-$suite.log"; return 1; }
  grep '^vernier, ' "$work/window-$suite.log" >>"$out/times.txt"
  cp "$tester/window.png" "$out/window.png"
  enter "$tester" tester sh -c "apt-get -q -y install --no-install-recommends man-db >/dev/null 2>&1
    for page in /usr/share/man/man?/vernier*; do
      LC_ALL=C.UTF-8 MANWIDTH=100 MANROFFSEQ= man --warnings -E UTF-8 -l -Tutf8 -Z \"\$page\" >/dev/null
    done" >"$out/man.txt" 2>&1
  cat "$out/times.txt"
  [ ! -s "$out/man.txt" ] || { cat "$out/man.txt"; return 1; }
  say "autopkgtest"
  enter "$tester" tester sh -c "autopkgtest --no-built-binaries /packages/*.deb /source/ -- null" >"$out/autopkgtest.txt" 2>&1 ||
    { tail -40 "$out/autopkgtest.txt"; return 1; }
  tail -3 "$out/autopkgtest.txt"
  rm -rf "$tester"
}

for suite in "${suites[@]}"; do
  case $suite in
    bookworm) suffix=deb12u1 ;;
    trixie) suffix=deb13u1 ;;
    *) suffix=$suite ;;
  esac
  out=$work/out/$suite
  rm -rf "$out"
  mkdir -p "$out"
  make_base
  make_builder
  build_twice
  cp "$builder"/build/first/*.{deb,dsc,changes,buildinfo,tar.xz} "$out"
  run_lintian
  try_packages
  rm -rf "$builder"
  (cd "$out" && sha256sum -c --quiet SHA256SUMS)
  say "packages are in $out"
  cat "$out/SHA256SUMS"
done
