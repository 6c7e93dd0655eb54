# What ONNX Runtime does not take is no success, asked for or not: the verdict says so, and what was written stays.
unset VN_NO_VERIFY
cat >refuses <<'END'
#!/bin/sh
printf '{ "stage" : "%s", "error" : "no kernel for it" }' "${STAGE:-load}" >"$5/reply.json"
END
chmod +x refuses
data="$DEMO/demo.onnx --data $DEMO/samples --preprocess minus-one-one"
say() { grep -E "Refused|As good|no kernel|not verified" |
  sed -E -e 's/ The weakest.*//' -e 's/SQNR of [^.]+\.[^.]+\.[0-9]+.dB/SQNR of N/'; }
"$CLI" quantize $data -o q.onnx --python ./refuses >said; echo "exit $?"; say <said
STAGE=run "$CLI" quantize $data -o q.onnx --python ./refuses >said; echo "exit $?"; say <said
"$CLI" quantize $data -o asked.onnx --python ./refuses --verify --report report --json >said; echo "exit $?"
grep -E '"(code|level|message)" : "(refused|ONNX|problem|good)' said; grep -c '"refusal" : "ONNX' report/report.json
cmp q.onnx asked.onnx && echo same
# Where it cannot be asked that is told, and a failure only if that was asked for.
STAGE=float "$CLI" quantize $data -o q.onnx --python ./refuses >said; echo "exit $?"; say <said | sed "s|$DEMO|DEMO|"
STAGE=import "$CLI" quantize $data -o q.onnx --python ./refuses >said; echo "exit $?"; say <said
STAGE=import "$CLI" quantize $data -o q.onnx --python ./refuses --verify >said; echo "exit $?"; say <said
"$CLI" quantize $data -o q.onnx --no-verify >said; echo "exit $?"; say <said
VN_NO_VERIFY=1 "$CLI" quantize $data -o q.onnx --python ./refuses >said; echo "exit $?"; say <said
"$CLI" quantize $data -o q.onnx --verify --no-verify; echo "exit $?"
rm said refuses report/*.html report/*.pdf report/*.md
