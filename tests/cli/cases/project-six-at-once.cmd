# six runs of one project that begin together are all kept, in it and in another; each has its file
"$CLI" quantize "$DEMO/demo.onnx" -o a.onnx -d random -n 1 --skip-compare --save-project p.vernier >/dev/null 2>&1
mkfifo barrier
exec 9<>barrier
for i in 1 2 3 4 5 6; do
  (read -r go <&9; "$CLI" quantize p.vernier -o $i.onnx --skip-compare --save-project q.vernier -t 1 >/dev/null 2>&1
    echo "exit $?") &
done
printf "go\n%.0s" 1 2 3 4 5 6 >&9
wait
"$CLI" runs p.vernier --json | grep -c '"id"'
"$CLI" runs q.vernier --json | grep -c '"id"'
ls p.vernier-runs | wc -l; ls q.vernier-runs | wc -l
rm -rf ./*
