"""The command line: each command unpacks its options, calls the workspace and prints."""
