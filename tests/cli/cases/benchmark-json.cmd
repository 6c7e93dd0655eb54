"$CLI" benchmark "$DEMO/demo.onnx" --json --repeat 3 --threads 2 >all || exit
grep -o '"[a-z_]*" :' all | sort -u
grep -E '"(runs|threads|nodes_in_model)" :' all
rm all
