# a pipe that nobody reads does not keep the command: the first signal cancels, the second would end it; and one that is read gets
# the model
mkfifo pipe
quantize() { exec "$CLI" quantize "$DEMO/demo.onnx" "$@" -d random -n 1 --skip-compare -t 1 2>err.txt >/dev/null; }
# no thread of a process or of its child computes, so often in a row: it waits for the pipe
waits() {
  local n=0
  while [ $n -lt 5 ] && kill -0 $1 2>/dev/null; do
    n=$((n + 1))
    grep -qs '^State:.[RD]' /proc/$1/task/*/status /proc/$(cut -d' ' -f1 /proc/$1/task/$1/children)/task/*/status && n=0
    sleep 0.02
  done
}
for option in "-o pipe" "-o q.onnx --save-recipe pipe" "-o q.onnx --report pipe.md"; do
  [ "$option" = "${option%.md}" ] || mkfifo pipe.md
  for signal in INT TERM; do
    (quantize $option) &
    for n in {1..1200}; do
      grep -q interrupts /proc/$!/task/*/comm /proc/$(cut -d' ' -f1 /proc/$!/task/$!/children)/task/*/comm 2>/dev/null && break
      kill -0 $! 2>/dev/null || break
      sleep 0.05
    done
    waits $!; kill -$signal $!; wait $!; echo "$option, $signal: exit $?"; cat err.txt | grep -v "^note"
  done
done
timeout 60 cat pipe >copy.onnx & (quantize -o pipe); wait
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx -d random -n 1 --skip-compare >/dev/null 2>&1
cmp copy.onnx q.onnx && echo same
rm -f ./*
