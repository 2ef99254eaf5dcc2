"""What play tells about hidden hands."""
