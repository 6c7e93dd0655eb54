"$CLI" list methods | head -5; "$CLI" list operators | grep -A2 "^com.vai"; "$CLI" list formats --json | tr -d "\n " | cut -c 1-60
