"""The booklet: challenges, at full size or several to a page, and their solutions, as a PDF file."""
