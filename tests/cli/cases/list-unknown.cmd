"$CLI" list gadgets
