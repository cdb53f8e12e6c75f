-- The window that a session lets its host fill, by a variable of its own environment; and when the status line told the window.
ALTER TABLE contexts ADD COLUMN compaction_window INTEGER;
ALTER TABLE contexts ADD COLUMN window_at INTEGER;
