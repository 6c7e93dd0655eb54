#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# build.sh [--work FOLDER]: the wheel for Python of what is committed, on Debian 12 or newer, x86-64: FOLDER/out/vernier-….whl.
# Some ten minutes and 2 GB; FOLDER is build-wheel unless named. What was made there before is taken again, but for the program.
#
# In the wheel are the Python package, the program, and beside it what it needs: catalogues, man pages, the demo. The program is
# one file without libraries: all but glibc are linked into it, from the sources of Debian (libraries.sh). So it starts at once,
# and pip can put it into the folder of programs as it is: no Python runs when somebody types vernier-cli.
#
# It runs wherever glibc is 2.28 or newer: GCC builds it against headers and names of that version (sysroot.sh). The code is that
# of the packages for Debian, and gives the same bytes. Left out are PDF, which would bring cairo, pango and fonts, MPI, which
# has to be that of the machine, and OpenBLAS, which is larger than all the rest: it is loaded where there is one, Debian's or
# scipy-openblas32 of Python.
#
# tests/wheel.sh builds it twice and tries it.
set -euo pipefail

GLIBC=2.28
here=$(dirname "$(realpath "$0")")
source=$(realpath "$here/../..")
. "$source/tests/lib/setup.sh"
. "$here/sysroot.sh"
. "$here/libraries.sh"

work=$source/build-wheel
case ${1:-} in
  --work) work=$2 ;;
  '') ;;
  *) sed -n '3,/^[^#]/s/^# \?//p' "$0"; exit 2 ;;
esac

# On the PATH may be others before those of Debian.
export PATH=/usr/bin:$PATH LC_ALL=C.UTF-8 TZ=UTC
umask 022
install_packages gcc libc6-dev make dpkg-dev ninja-build pkg-config gettext autoconf automake libtool cmake nasm \
  protobuf-c-compiler libopenblas-dev python3-onnx python3-venv python3-pip ca-certificates git binutils
mkdir -p "$work/logs"
work=$(realpath "$work")
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" "$source/meson.build")
SOURCE_DATE_EPOCH=$(git -C "$source" log -1 --format=%ct)
export SOURCE_DATE_EPOCH

tools=$work/tools/bin
if [ ! -x "$tools/auditwheel" ]; then
  /usr/bin/python3 -m venv "$work/tools"
  "$tools/python" -m pip install -q -r "$here/requirements.txt" >"$work/logs/pip.log" 2>&1 ||
    { cat "$work/logs/pip.log"; exit 1; }
fi
MESON=$tools/meson
make_sysroot "$work/sysroot" "$("$tools/python" -c 'import ziglang; print(ziglang.__path__[0])')"
get_sources "$work/sources"

stage=$work/stage
libraries=$stage$PREFIX
export CC="gcc --sysroot=$work/sysroot -B$work/sysroot/usr/lib"
export C_INCLUDE_PATH=$libraries/include LIBRARY_PATH=$libraries/lib PKG_CONFIG_LIBDIR=$libraries/lib/pkgconfig
flags="-fPIC -ffunction-sections -fdata-sections -fstack-protector-strong -D_FORTIFY_SOURCE=2"
flags+=" -ffile-prefix-map=$work=/vernier"
export CFLAGS="-O2 $flags" LDFLAGS=-static-libgcc
build_libraries "$work/sources" "$stage" "$work/logs"
# Headers only; the program loads the library.
cp "$(ls /usr/lib/x86_64-linux-gnu/openblas-*/pkgconfig/openblas.pc | head -1)" "$libraries/lib/pkgconfig"

echo "Building the program"
rm -rf "$work/source" "$work/build" "$work/tree"
mkdir "$work/source"
git -C "$source" archive HEAD | tar -x -C "$work/source"
# The build says itself how much each layer is optimized.
export CFLAGS=$flags LDFLAGS="-static-libgcc -Wl,--gc-sections -Wl,--as-needed -Wl,-z,relro,-z,now -Wl,--build-id=none"
"$MESON" setup "$work/build" "$work/source" --prefix=/usr --libdir=lib --buildtype=plain -Doptimization=2 -Db_pie=true \
  -Dprefer_static=true -Dapp=disabled -Dpdf=false -Dmpi=disabled -Dtests=false -Donnx_python=/usr/bin/python3 \
  "-Dbuild_maker=wheel $version" >"$work/logs/vernier.log"
"$NINJA" -C "$work/build" >>"$work/logs/vernier.log" || { tail -20 "$work/logs/vernier.log"; exit 1; }
DESTDIR=$work/tree "$MESON" install -C "$work/build" --no-rebuild --strip --quiet
for name in libc6 libgcc-s1 python3-onnx; do cp -L "/usr/share/doc/$name/copyright" "$stage/copyright/$name"; done

rm -rf "$work/out"
mkdir "$work/out"
wheel=$(/usr/bin/python3 "$here/make_wheel.py" "$work/source" "$work/tree/usr" "$stage" "$version" "${GLIBC//./_}" "$work/out")
"$tools/auditwheel" show "$wheel" >"$work/out/auditwheel.txt"
grep -q "manylinux_${GLIBC//./_}_x86_64" "$work/out/auditwheel.txt" || { cat "$work/out/auditwheel.txt"; exit 1; }
sha256sum "$wheel"
