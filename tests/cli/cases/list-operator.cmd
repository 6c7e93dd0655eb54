# What is known here of operators; what ONNX says of them depends on the build.
for name in Conv ai.onnx:Clip@7 com.microsoft:MatMulNBits Scaler; do "$CLI" list operators $name | sed '/^$/,$d'; done
"$CLI" list operators Relu --json | head -8
for name in Nope Conv@x com.microsoft:Conv '' @ :; do "$CLI" list operators "$name"; echo "exit $?"; done
