"$CLI" list
