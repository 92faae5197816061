"""The booklet: challenges at full size to lay pieces on, and their solutions, as a PDF file."""
