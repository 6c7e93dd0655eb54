"$CLI" inspect --help
