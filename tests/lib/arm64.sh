# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by tests/matrix.sh: AArch64, cross-compiled and run by QEMU in a system of its own, whose packages of two architectures
# touch nothing of this machine.

ARM64_TOOLS=(build-essential gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user meson ninja-build pkg-config gettext git
  python3 python3-onnx protobuf-c-compiler libglib2.0-dev-bin libonnx-testdata shared-mime-info)
ARM64_LIBRARIES=(libc6-dev libglib2.0-dev libgdk-pixbuf-2.0-dev libjson-glib-dev libopenblas-dev libprotobuf-c-dev libcairo2-dev
  libpango1.0-dev librsvg2-common)
# What the magic number of a file must be for QEMU to run it: a 64-bit ELF program or library for AArch64.
ARM64_MAGIC=':qemu-aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
ARM64_MAGIC+=':\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:/usr/bin/qemu-aarch64:'
# Recipes that solve no equations with OpenBLAS, whose kernels are others there.
ARM64_RECIPES=(plain compared percentile npu trained weights mse)
# Convolutions, LSTM, GRU, attention
ARM64_NETWORKS=(mnist_cntk_op8 kws_micro_fp32 cls_mobilenetv2_035_128_flowers vit_cct2_32_op20 aud_dtln_1_lstm
  aud_gtcrn_stream_gru)
ARM64_FEW_RECIPES=(plain weights)
# A test that takes as many CPU seconds without QEMU, or more, is left out: in QEMU it takes up to 60 times as long.
ARM64_SECONDS=2

# enter_emulated SYSTEM COMMAND...: as enter, but programs for AArch64 run, too. Formats that the kernel hands to other programs
# belong to a namespace of users (since Linux 6.7), so that those of this machine stay as they are.
enter_emulated () {
  local system=$1
  shift
  unshare --user --map-root-user --mount --uts --ipc --pid --fork --kill-child --propagation private sh -c '
    system=$1 magic=$2; shift 2
    mount -t proc proc "$system/proc"
    mount -t binfmt_misc binfmt_misc "$system/proc/sys/fs/binfmt_misc" || { echo "QEMU needs Linux 6.7" >&2; exit 1; }
    mount -t tmpfs tmpfs "$system/dev/shm"
    [ ! -d "$system/shared" ] || mount --rbind "$VN_SHARED" "$system/shared"
    printf %s "$magic" >"$system/proc/sys/fs/binfmt_misc/register" || exit 1
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive TERM=dumb \
      chroot "$system" "$@"
  ' sh "$system" "$ARM64_MAGIC" "$@"
}

# arm64_stand_in NAME: an empty package in place of one that libraries to compile with want, and that Debian 12 cannot install for
# two machines at a time
arm64_stand_in () {
  local place=$system/stand-in/$1 version
  version=$(enter "$system" arm64 apt-cache show --no-all-versions "$1" | sed -n 's/^Version: //p')
  mkdir -p "$place/DEBIAN"
  cat >"$place/DEBIAN/control" <<END
Package: $1
Version: $version
Architecture: arm64
Maintainer: nobody <nobody@localhost>
Description: takes the place of $1
END
  enter "$system" arm64 sh -ec "dpkg-deb -b /stand-in/$1 /stand-in/$1.deb && dpkg -i /stand-in/$1.deb"
}

arm64_set_up () {
  system=$work/matrix-arm64
  copy_base "$system" arm64
  hurry "$system"
  mkdir "$system/source"
  git -C "$source" archive HEAD | tar -x -C "$system/source"
  [ -z "${VN_SHARED:-}" ] || mkdir "$system/shared"
  enter "$system" arm64 sh -ec "dpkg --add-architecture arm64
    apt-get -q update" >"$log" 2>&1 &&
    arm64_stand_in gobject-introspection >>"$log" 2>&1 &&
    enter "$system" arm64 sh -ec "apt-get -q -y --no-install-recommends install ${ARM64_TOOLS[*]} \
      ${ARM64_LIBRARIES[*]/%/:arm64}" >>"$log" 2>&1 &&
    enter_emulated "$system" sh -c '/usr/lib/aarch64-linux-gnu/gdk-pixbuf-2.0/gdk-pixbuf-query-loaders --update-cache'
}

# Without real networks: what tests find out about these is not up to the processor, as long as “same” finds the same bytes, and
# an hour of emulation.
arm64_build () {
  enter_emulated "$system" sh -ec "cd /source
    meson setup /build --cross-file tests/lib/aarch64-linux-gnu.ini -Dapp=disabled -Dmpi=disabled -Dwerror=false
    ninja -k 0 -C /build" >>"$log" 2>&1
}

# arm64_package: the packages with the window, and that what they install quantizes the demo
arm64_package () {
  local tree=/package/vernier start=$SECONDS
  mkdir -p "$system$tree"
  git -C "$source" archive HEAD | tar -x -C "$system$tree"
  cp -a "$system$tree/data/debian" "$system$tree/debian"
  enter "$system" arm64 sh -ec "cd $tree
    apt-get -q -y --no-install-recommends install crossbuild-essential-arm64
    apt-get -q -y --no-install-recommends -a arm64 build-dep ." >>"$log" 2>&1 || return 1
  enter_emulated "$system" sh -ec "cd $tree
    export MESON_OPTIONS='--cross-file $tree/tests/lib/aarch64-linux-gnu.ini' DEB_BUILD_OPTIONS='nocheck noautodbgsym'
    dpkg-buildpackage -us -uc -b -j$(nproc) --host-arch arm64 -Pcross,nocheck" >>"$log" 2>&1 || return 1
  enter "$system" arm64 sh -ec "apt-get -q -y --no-install-recommends install /package/*.deb" >>"$log" 2>&1 || return 1
  # What was asked for while packages were set up, without QEMU.
  enter_emulated "$system" sh -c '/usr/lib/aarch64-linux-gnu/glib-2.0/glib-compile-schemas /usr/share/glib-2.0/schemas' \
    >>"$log" 2>&1 || return 1
  enter_emulated "$system" sh -ec "debian=$tree/debian/tests
    \$debian/quantize-demo
    \$debian/contents" >"$work/package-arm64.txt" 2>&1 || { tail "$work/package-arm64.txt"; return 1; }
  say "package: $(((SECONDS - start + 59) / 60)) minutes"
  (cd "$system/package" && ls -s --block-size=K -- *.deb)
}

# arm64_select SUITE: sets $names to the tests of a suite that are run, and $left to those that take too long. Cases of the
# command line are selected one by one: $cases_left
arm64_select () {
  local costs=$work/arm64-$1-costs.txt all=() measured=() name
  names=() left=() cases_left=''
  mapfile -t all < <(enter "$system" arm64 meson test -C /build --no-rebuild --list --suite "$1" | sed -n 's|^.* / ||p' | sort -u)
  [ "${#all[@]}" -gt 0 ] || { echo "no tests in the suite $1" >&2; return 1; }
  [ -z "$every" ] || { names=("${all[@]}"); return; }
  for name in "${all[@]}"; do [[ $name = cli-cases-* ]] || measured+=("$name"); done
  python3 "$source/tests/costs.py" "$usual" --stop-after "$ARM64_SECONDS" "${measured[@]}" >"$costs" 2>&1 || true
  for name in "${all[@]}"; do
    if [[ $name = cli-cases-* ]] || awk -v name="$name" -v most="$ARM64_SECONDS" \
        '$2 == "'"$1"'" && $4 == name && $1 < most { found = 1 } END { exit !found }' "$costs"; then
      names+=("$name")
    else
      left+=("$name")
    fi
  done
  [[ " ${all[*]} " != *" cli-cases-"* ]] || arm64_select_cases
}

arm64_select_cases () {
  local costs=$work/arm64-cases-costs.txt
  rm -f "$costs"
  VN_NO_VERIFY=1 VN_CASES_COSTS=$costs "$source/tests/cli/run-cases.sh" "$usual/src/cli/vernier-cli" "$source" \
    "$usual/tests/cli/make-open" >>"$log" 2>&1 || true
  cases_left=$(awk -v most="$ARM64_SECONDS" '$1 >= most { printf "%s ", $2 }' "$costs")
}

# arm64_run_suite NAME
arm64_run_suite () {
  local names left cases_left told=$work/arm64-$1.txt start=$SECONDS code=0
  arm64_select "$1" || return 1
  enter_emulated "$system" sh -c "cd /source && export VN_CASES_LEFT_OUT='$cases_left' &&
    meson test -C /build --no-rebuild --print-errorlogs --timeout-multiplier 40 --suite $1 ${names[*]}" >"$told" 2>&1 || code=$?
  cat "$told" >>"$log"
  say "$1: $(sed -nE 's/^(Ok|Fail|Skipped|Timeout): *([0-9]+).*/\1 \2,/p' "$told" | tr '\n' ' ')left out ${#left[@]}," \
    "$(((SECONDS - start + 59) / 60)) minutes"
  grep -aE '(FAIL|TIMEOUT|ERROR) +[0-9]|^[0-9]+ cases, |^not ok ' "$told" | sort -u || true
  [ "${#left[@]}" = 0 ] || echo "left out, as they take $ARM64_SECONDS s of CPU time or more without QEMU: ${left[*]}"
  [ -z "$cases_left" ] || echo "so do these cases of the command line: $cases_left"
  return "$code"
}

# arm64_write SOURCE CLI FOLDER ENTER...: files of the demo and of some networks
arm64_write () {
  local tree=$1 cli=$2 folder=$3 same
  shift 3
  same="env VN_NO_VERIFY=1 VN_SHARED=${shared:-} python3 $tree/tests/networks/same_files.py $cli $tree --write $folder"
  "$@" sh -ec "$same --recipes ${ARM64_RECIPES[*]}
    [ -z '${VN_SHARED:-}' ] || $same --shared --networks ${ARM64_NETWORKS[*]} --recipes ${ARM64_FEW_RECIPES[*]}" >>"$log" 2>&1
}

arm64_compare () {
  local start=$SECONDS
  rm -rf "$work/files-amd64"
  shared=${VN_SHARED:-} arm64_write "$source" "$usual/src/cli/vernier-cli" "$work/files-amd64" env &&
    shared=/shared arm64_write /source /build/src/cli/vernier-cli /files enter_emulated "$system" || return 1
  say "same: $(find "$work/files-amd64" -type f ! -name report.pdf | wc -l) files, $(((SECONDS - start + 59) / 60)) minutes;" \
    "of which differ:"
  diff -rq -x report.pdf "$work/files-amd64" "$system/files"     # fonts are those of the system
}

# arm64_check_usual: is there what files and times are compared with?
arm64_check_usual () {
  usual=$source/build-tests/meson
  [ -x "$usual/src/cli/vernier-cli" ] || { echo "run tests/run.sh first, which builds $usual" >&2; return 1; }
}

try_arm64 () {
  local parts=() what every='' usual
  [ "${rest[0]:-}" != --every ] || { every=yes; rest=("${rest[@]:1}"); }
  parts=("${rest[@]}")
  [ "${#parts[@]}" -gt 0 ] || parts=(same unit fuzz-replay cli package)
  log=$work/matrix-arm64.log
  arm64_check_usual || { failed+=(arm64); return; }
  suite=bookworm
  make_base
  suite=arm64
  say "${parts[*]}: the log is in $log"
  arm64_set_up || { tail -30 "$log"; failed+=(arm64); return; }
  # The packages are built by themselves.
  [ "${parts[*]}" = package ] || arm64_build || { tail -30 "$log"; failed+=(arm64); return; }
  for what in "${parts[@]}"; do
    case $what in
      same) arm64_compare || failed+=("arm64 same") ;;
      package) arm64_package || failed+=("arm64 package") ;;
      *) arm64_run_suite "$what" || failed+=("arm64 $what") ;;
    esac
  done
  rm -rf "$system"
}
