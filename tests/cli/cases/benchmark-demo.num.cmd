"$CLI" benchmark "$DEMO/demo.onnx" --data "$DEMO/samples/star" --preprocess minus-one-one --repeat 3 --threads 2 --top 0 >all ||
  exit
grep -v '%' all | sed -e "s/instructions .*/instructions NAMES/" -e "s/[KMG]B\b/bytes/g"
grep '%' all | sed -E -e 's/ +([0-9]+) .* /\1 /' | grep -E ' (Conv|Gemm)$' | sort -k 2
rm all
