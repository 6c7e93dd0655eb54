#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh [SECONDS [KIND...]]   libFuzzer on each kind of files (file-kinds.def; default: 60 seconds, all kinds), for so
#                              many seconds of the processor
# run.sh --models [FILE...]    every truncation, and 10,000 flipped bits, of networks (default: those of $VN_SHARED)
#
# Builds with Clang, AddressSanitizer and UndefinedBehaviorSanitizer, unless VN_FUZZ_BUILD=0. Everything is kept in
# $VN_FUZZ_FOLDER (default: build-check/fuzz), and is what the next run starts from:
#
#   corpus/KIND    files that reach what no smaller one reaches
#   found/KIND     what ended in a crash, a leak, a hang or too much memory, as small as it could be made, each with its
#                  report (.txt); mend the cause, then copy the file to tests/fuzz/corpus/KIND, which the suite replays
#   log.tsv        time, kind, seconds of the processor, executions, edges reached, features, files in the corpus, number
#                  of what was found
#
# Hangs count in seconds of the processor, too, as others may be busy on the machine: $VN_FUZZ_HANG (default: 20).
set -euo pipefail
cd "$(dirname "$0")/../.."
. ./tests/lib/setup.sh

folder=${VN_FUZZ_FOLDER:-build-check/fuzz}
hang=${VN_FUZZ_HANG:-20}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
shared=${VN_SHARED:-}
[ -z "$shared" ] && [ -d ../shared/models ] && shared=$(cd ../shared && pwd)

if [ "${VN_FUZZ_BUILD:-1}" != 0 ]; then
  install_packages clang libclang-rt-dev "${BUILD_PACKAGES[@]}" "${TEST_PACKAGES[@]}"
  CC=${CLANG:-clang} configure_build "$folder/build" -Db_sanitize=address,undefined -Db_lundef=false -Dmpi=disabled \
    -Dapp=disabled -Doptimization=1 -Dc_args=-fsanitize=fuzzer-no-link -Dfuzz=true
  "$NINJA" -C "$folder/build" tests/fuzz/fuzz-engine tests/fuzz/fuzz-files tests/fuzz/fuzz-pipeline
  for program in engine files pipeline; do
    cp -f "$folder/build/tests/fuzz/fuzz-$program" "$folder/.new" && mv -f "$folder/.new" "$folder/fuzz-$program"
  done
fi

TMPDIR=$(mktemp -d "$([ -w /dev/shm ] && echo /dev/shm || echo /tmp)/vn-fuzz-run-XXXXXX")     # in memory, if that can be
export TMPDIR G_SLICE=always-malloc LC_ALL=C.UTF-8 GSETTINGS_BACKEND=memory
export ASAN_OPTIONS=allocator_may_return_null=1:detect_stack_use_after_return=0
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export LSAN_OPTIONS=print_suppressions=0:suppressions=$PWD/tests/lsan.supp
trap 'rm -rf "$TMPDIR"' EXIT
engine=("$folder/fuzz-engine" -rss_limit_mb=2048 -malloc_limit_mb=1024 -timeout=$((3 * hang)) -max_len=65536)

# where REPORT: a word for the place: the first of our functions in a stack, or what was said
where () {
  { sed -n 's/^ *#[0-9]* 0x[0-9a-f]* in \([a-z_0-9]*\) [^ ]*\/src\/[^ ]*:[0-9].*/\1/p' "$1"
    sed -n 's/^.*\(ERROR\|CRITICAL\|WARNING\) \*\*: [0-9:.]* *\(.*\)$/\2/p' "$1" | tr -cs 'A-Za-z0-9' '-' | cut -c1-60
    echo unknown; } | grep -v '^vn_memory_\|^LLVMFuzzer' | head -n 1
}

# keep KIND FILE: gives what was found a name of its own, and makes it smaller
keep () {
  local kind=$1 file=$2 report=$TMPDIR/report name status=0 form
  form=$(basename "$file"); form=${form%%-*}
  (ulimit -t "$hang"
    ASAN_OPTIONS=$ASAN_OPTIONS:fast_unwind_on_malloc=0 VN_FUZZ_KIND=$kind exec "${engine[@]}" "$file") >"$report" 2>&1 ||
    status=$?
  if [ "$status" = 0 ]; then          # others took the time, or it does not happen again
    rm -f "$file"
    return 0
  fi
  name=$folder/found/$kind/$form-$(where "$report")
  if [ -e "$name" ] && [ "$(stat -c %s "$name")" -le "$(stat -c %s "$file")" ]; then
    rm -f "$file"
    return 0
  fi
  [ -e "$name" ] || echo "$kind: found $name"
  if [ "$form" = crash ]; then
    VN_FUZZ_KIND=$kind "${engine[@]}" -minimize_crash=1 -max_total_time=30 -exact_artifact_path="$TMPDIR/small" "$file" \
      >/dev/null 2>&1 || true
    [ ! -s "$TMPDIR/small" ] || mv -f "$TMPDIR/small" "$file"
    (VN_FUZZ_KIND=$kind exec "${engine[@]}" "$file") >"$report" 2>&1 || true
    name=$folder/found/$kind/$form-$(where "$report")
  fi
  mv -f "$file" "$name"
  cp "$report" "$name.txt"
}

number () {
  local value
  value=$(sed -n "$1" "$2" | tail -n 1)
  echo "${value:-0}"
}

# fuzz_kind KIND SECONDS
fuzz_kind () {
  local kind=$1 seconds=$2 used=0 executions=0 before log=$TMPDIR/log new=$TMPDIR/new TIMEFORMAT='%U %S'
  local seeds=$TMPDIR/seeds/$kind corpus=$folder/corpus/$kind
  mkdir -p "$corpus" "$folder/found/$kind" "$TMPDIR/seeds" "$new"
  ASAN_OPTIONS=detect_leaks=0 "$folder/fuzz-files" "$kind" --seeds "$seeds" || echo "$kind: not all seeds could be made"
  case $kind in
    plan|prepare) find /usr/share/libonnx-testdata/data/node -name model.onnx -size -4k 2>/dev/null | sort | awk 'NR % 4 == 0' |
      while read -r path; do cp "$path" "$seeds/$(basename "$(dirname "$path")")"; done ;;
  esac
  local words=()
  [ ! -s "$seeds.dict" ] || words=("-dict=$seeds.dict")
  before=$(ls "$folder/found/$kind" | grep -vc '\.txt$' || true)
  # libFuzzer counts by the clock: what others took of it comes after. Each beginning reads the whole corpus, so the
  # last few seconds are not worth one.
  while [ "$used" = 0 ] || [ "$((seconds - used))" -gt "$((2 + seconds / 20))" ]; do
    { time VN_FUZZ_KIND=$kind "${engine[@]}" -max_total_time="$((seconds - used))" -print_final_stats=1 \
      -artifact_prefix="$new/" "${words[@]}" "$corpus" "$seeds" >"$log" 2>&1 || true; } 2>"$TMPDIR/time"
    # after what the shell says of crashes
    used=$(tail -n 1 "$TMPDIR/time" | awk -v used="$used" '{ printf "%.0f", used + $1 + $2 + 0.5 }')
    executions=$((executions + $(number 's/^stat::number_of_executed_units: *\([0-9]*\).*/\1/p' "$log")))
    if ! grep -q INITED "$log" && [ -z "$(ls -A "$new")" ]; then
      echo "$kind: libFuzzer did not begin"
      tail -n 3 "$log"
      break
    fi
    for file in "$new"/*; do
      [ ! -e "$file" ] || keep "$kind" "$file"
    done
  done
  # Only what is needed stays; VN_FUZZ_MERGE=0 leaves that, which takes its time, to another run.
  mkdir -p "$corpus.small"
  if [ "${VN_FUZZ_MERGE:-1}" != 0 ] &&
    VN_FUZZ_KIND=$kind "${engine[@]}" -merge=1 "$corpus.small" "$corpus" "$seeds" >"$TMPDIR/merge" 2>&1; then
    rm -rf "$corpus" && mv "$corpus.small" "$corpus"
  else
    rm -rf "$corpus.small"
  fi
  printf '%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\n' "$(date -u +%FT%TZ)" "$kind" "$used" "$executions" \
    "$(number 's/.* cov: \([0-9]*\) .*/\1/p' "$log")" "$(number 's/.* ft: \([0-9]*\) .*/\1/p' "$log")" \
    "$(ls "$corpus" | wc -l)" "$(($(ls "$folder/found/$kind" | grep -vc '\.txt$' || true) - before))" | tee -a "$folder/log.tsv"
}

if [ "${1:-}" = --models ]; then
  shift
  [ "$#" -gt 0 ] || set -- "$shared"/models/*.onnx "$shared"/models/*/*.onnx
  status=0
  for path in "$@"; do
    for damage in cut flip; do
      "$folder/fuzz-pipeline" --damage "$damage" --count 10000 "$path" || status=1
    done
  done
  exit "$status"
fi

seconds=${1:-60}
[ "$#" = 0 ] || shift
[ "$#" -gt 0 ] || set -- $("$folder/fuzz-files" --list)
for kind in "$@"; do
  fuzz_kind "$kind" "$seconds"
done
