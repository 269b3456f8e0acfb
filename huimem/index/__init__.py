"""Records → chunks → index: the only writer of the state folder, all of it derived from the files."""
