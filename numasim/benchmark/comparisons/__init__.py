"""The engine and the C runtime beside other libraries that are installed: the same program on either, in pairs."""
