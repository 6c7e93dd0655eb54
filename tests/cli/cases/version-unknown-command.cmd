"$CLI" frobnicate
