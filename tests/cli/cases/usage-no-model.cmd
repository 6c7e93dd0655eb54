"$CLI" quantize --data random
