"$CLI" prepare --list-passes | cut -c 1-30 | head -5
