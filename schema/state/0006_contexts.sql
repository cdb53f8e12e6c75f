-- How full the contexts of sessions are: what only a hook or a status line is told, and what the agent was told of it.
CREATE TABLE contexts (
    session     TEXT NOT NULL PRIMARY KEY,
    transcript  BLOB,               -- the host's record of the conversation, which tells the rest
    window      INTEGER,            -- in tokens, by the host's status line
    tokens      INTEGER,            -- in the context, by the host's status line
    tokens_at   INTEGER,            -- milliseconds since 1970, as are all times here
    model       TEXT,
    notified    INTEGER NOT NULL DEFAULT 0, -- the level that the agent was told of: 2 WARN, 3 CRITICAL
    notified_at INTEGER,
    reset       INTEGER,            -- since when it may be told again: the last compaction
    at          INTEGER NOT NULL    -- of the last change
) STRICT, WITHOUT ROWID;
