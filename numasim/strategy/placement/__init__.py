"""Page placement: policies, and the homes of pages that are known before a run."""
