"""The booklet, a PDF file: challenges, at full size or several to a page, and their solutions."""
