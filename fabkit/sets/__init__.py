"""Files of sets, challenges and catalogs: read, checked and written."""
