# a name from a file cannot end a line, reach the terminal's controls or forge what is told: in what commands print, in errors and
# in reports
LC_ALL=C sed 's/scores/s\n\x1b[1m/g; s|/stem/act/Clip"|\nVerdict: As o"|' $DEMO/demo.onnx >m.onnx
all() { "$CLI" "$@" >out.txt 2>&1; cat out.txt >>all.txt; grep -aE '\\n|Verdict: As' out.txt; }
all inspect m.onnx | head -3
all quantize m.onnx -o q.onnx -d random -n 2 --origins --weakest cosine --report report | sed -E 's/[0-9.]+/#/g'
all compare m.onnx q.onnx -d random -n 1 >/dev/null
all quantize m.onnx -o q.onnx -d random -n 1 --skip-compare -x $'x\x1b[31m\nok'
all inspect $'no\nsuch\x1b[31m.onnx'
cat report/*.md report/*.html report/*.json >>all.txt
"$CLI" inspect m.onnx --json >>all.txt
LC_ALL=C grep -caP '[\x00-\x08\x0b-\x1f\x7f]|^Verdict: As' all.txt
rm -rf report ./*.onnx all.txt out.txt
