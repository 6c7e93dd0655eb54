# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by build.sh: a C library to build against that is older than this system's, for GCC as it is installed.

# make_sysroot FOLDER ZIG_FOLDER: headers and libraries of glibc $GLIBC, in there. Zig comes with what it takes to make them:
# headers of all versions in one, and the version that each symbol came with. The libraries have these names and no code.
make_sysroot () {
  local sysroot=$1 zig=$2 include=$2/lib/libc/include trial=$1/trial
  [ -f "$sysroot/.done" ] && return
  rm -rf "$sysroot"
  mkdir -p "$sysroot/usr/include" "$sysroot/usr/lib" "$trial"
  for folder in any-linux-any x86-linux-any generic-glibc x86-linux-gnu; do
    cp -r "$include/$folder/." "$sysroot/usr/include"
  done
  # Zig passes it as an option.
  sed -i "1i #define __GLIBC_MINOR__ ${GLIBC#2.}" "$sysroot/usr/include/features.h"
  echo 'int main (void) { return 0; }' >"$trial/trial.c"
  (cd "$trial" && ZIG_GLOBAL_CACHE_DIR=$trial/cache ZIG_LOCAL_CACHE_DIR=$trial/cache \
    "$zig/zig" cc -target "x86_64-linux-gnu.$GLIBC" -fPIE -pie trial.c -o trial -lm -lpthread -ldl -lrt -lresolv)
  for file in Scrt1.o libc_nonshared.a libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1 libresolv.so.2; do
    find "$trial/cache/o" -name "$file" -exec cp {} "$sysroot/usr/lib" \;
    [ -f "$sysroot/usr/lib/$file" ] || { echo "zig cc made no $file" >&2; return 1; }
  done
  # It has no names for programs, only the places of their constructors, as any version of it.
  cp "$(gcc -print-file-name=crti.o)" "$(gcc -print-file-name=crtn.o)" "$sysroot/usr/lib"
  for name in m:6 pthread:0 dl:2 rt:1 resolv:2; do
    ln -s "lib${name%:*}.so.${name#*:}" "$sysroot/usr/lib/lib${name%:*}.so"
  done
  echo "GROUP (libc.so.6 libc_nonshared.a)" >"$sysroot/usr/lib/libc.so"
  rm -rf "$trial"
  touch "$sysroot/.done"
}
