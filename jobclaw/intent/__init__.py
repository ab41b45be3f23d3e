"""What a text is about, judged offline: the tiers of spec/router.md §5, cheapest first."""
