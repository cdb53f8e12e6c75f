-- Handoffs: where each is in its life. The documents lie beside as files, and never change.

CREATE TABLE handoffs (
    id              TEXT NOT NULL PRIMARY KEY,
    scope           TEXT NOT NULL,      -- who shares them: the project's key, or @ and the channel that was named
    channel         TEXT NOT NULL,
    kind            TEXT NOT NULL,      -- session, task
    occasion        TEXT NOT NULL,      -- auto, manual, bye, end, rotation
    consume         TEXT NOT NULL,      -- once, sticky
    priority        INTEGER NOT NULL,   -- 0 is high
    status          TEXT NOT NULL,      -- draft, active, claimed, consumed, expired, cleared
    reason          TEXT,               -- why it has this status
    session         TEXT,               -- who wrote it
    source_id       TEXT,               -- the id that it had elsewhere
    goal            TEXT,
    working_dir     TEXT,
    created         INTEGER NOT NULL,   -- milliseconds since 1970, as are all times here
    created_by_pid  INTEGER NOT NULL,
    expires         INTEGER,
    changed         INTEGER NOT NULL,   -- when it got its status, and from whom
    changed_by_pid  INTEGER NOT NULL,
    changed_by      TEXT,
    superseded_by   TEXT,
    token           INTEGER,            -- claimed under this claim of a session, and only as long as that stands
    owner_pid       INTEGER,            -- claimed or written by this process, and only as long as that lives
    owner_started   INTEGER
) STRICT;
-- At most one waits for the next session, whatever happens.
CREATE UNIQUE INDEX handoffs_current ON handoffs (scope) WHERE kind = 'session' AND status = 'active';
CREATE INDEX handoffs_by_scope ON handoffs (scope, created);
CREATE INDEX handoffs_by_token ON handoffs (token) WHERE token IS NOT NULL;
CREATE INDEX handoffs_by_source ON handoffs (source_id) WHERE source_id IS NOT NULL;

-- Which session has which handoff: never twice.
CREATE TABLE handoff_receivers (
    session TEXT NOT NULL,
    handoff TEXT NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (session, handoff)
) STRICT, WITHOUT ROWID;

-- Every step of every handoff. Outlives the handoff.
CREATE TABLE handoff_events (
    number  INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    scope   TEXT NOT NULL,
    handoff TEXT NOT NULL,
    old     TEXT,                       -- NULL: there was none
    new     TEXT,                       -- NULL: there is none any more
    pid     INTEGER NOT NULL,
    session TEXT,
    reason  TEXT
) STRICT;
CREATE INDEX handoff_events_by_scope ON handoff_events (scope, number);
CREATE INDEX handoff_events_by_handoff ON handoff_events (handoff, number);

-- Where sessions were started, and in which process they live.
CREATE TABLE sessions (
    session TEXT NOT NULL PRIMARY KEY,
    scope   TEXT NOT NULL,
    channel TEXT NOT NULL,
    folder  BLOB NOT NULL,
    pid     INTEGER,
    started INTEGER,
    at      INTEGER NOT NULL,
    seen    INTEGER NOT NULL,           -- when it began, or was taken up again
    ended   INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_scope ON sessions (scope);

-- Sessions that ended and whose last handoff is still to be written.
CREATE TABLE endings (
    session       TEXT NOT NULL PRIMARY KEY,
    folder        BLOB NOT NULL,
    transcript    BLOB,
    at            INTEGER NOT NULL,
    taken         INTEGER,              -- since when somebody is writing it, and who
    owner_pid     INTEGER,
    owner_started INTEGER
) STRICT, WITHOUT ROWID;

-- The handoff that goes with a context, and the process without which a claim is void.
ALTER TABLE claims ADD COLUMN handoff TEXT;
ALTER TABLE claims ADD COLUMN owner_pid INTEGER;
ALTER TABLE claims ADD COLUMN owner_started INTEGER;
