"$CLI" --help
