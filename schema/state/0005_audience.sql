-- Which sessions are given a handoff by themselves: `interactive` ones, or `any`.
ALTER TABLE handoffs ADD COLUMN audience TEXT NOT NULL DEFAULT 'interactive';
