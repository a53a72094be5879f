// Gives a library without sources of its own something to archive.
