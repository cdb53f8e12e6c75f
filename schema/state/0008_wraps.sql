-- Wrappers: each runs an agent in its terminal, and starts it again when a row here says so. No file, exit code or signal does.
CREATE TABLE wraps (
    token        TEXT NOT NULL PRIMARY KEY, -- in the agent's environment
    pid          INTEGER NOT NULL,          -- the wrapper; without it the row is void
    started      INTEGER NOT NULL,
    is_auto      INTEGER NOT NULL,          -- whether it starts agents again
    host_pid     INTEGER,                   -- the agent's process, by the first hook in it
    host_started INTEGER,
    session      TEXT,                      -- the session that the agent is in, and the folder where that began
    folder       BLOB,
    restart_for  TEXT,                      -- the session that is to be followed by a new one
    handoff      TEXT                       -- with which the new one goes on
) STRICT, WITHOUT ROWID;

-- A bridge tells how full a context is, where there is no transcript: NULL, or the tokens that the host keeps free of it.
ALTER TABLE contexts ADD COLUMN reserve INTEGER;
-- A session that nobody has ended is over at this time, or when its process is. NULL: it has ended.
ALTER TABLE endings ADD COLUMN due INTEGER;
