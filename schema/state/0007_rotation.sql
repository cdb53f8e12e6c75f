-- Rotations: sessions that asked to go on in a fresh context, and how far each of them is. What a rotation carries is a
-- handoff, which the rotation claims until the new session has it.
CREATE TABLE rotations (
    id             INTEGER PRIMARY KEY,
    session        TEXT NOT NULL,
    scope          TEXT NOT NULL,
    host           TEXT NOT NULL,       -- claude-code, opencode
    host_pid       INTEGER NOT NULL,    -- the process that the session lives in
    host_started   INTEGER NOT NULL,
    socket         BLOB,                -- where its window is: tmux's socket and pane
    pane           TEXT,
    handoff        TEXT NOT NULL,
    file           BLOB,                -- the file that the agent named
    task           TEXT,                -- what is to be done then
    prompt         TEXT NOT NULL,       -- the first prompt of the new session
    state          TEXT NOT NULL,       -- scheduled, reserved, clearing, cleared, waiting, stuck; done, cancelled, dropped, expired, superseded
    reason         TEXT,                -- why it has this state, or why it still has it
    recorded       INTEGER NOT NULL,    -- milliseconds since 1970
    changed        INTEGER NOT NULL,
    recorded_tick  INTEGER NOT NULL,    -- milliseconds of a clock that nobody sets
    prompted_tick  INTEGER NOT NULL,    -- when the session's last turn began; 0 if before this was recorded
    owner_pid      INTEGER,             -- the worker, and the token without which it may do nothing
    owner_started  INTEGER,
    token          INTEGER,
    postponed      INTEGER NOT NULL DEFAULT 0,  -- so many turns ended while agents still worked in the background
    new_session    TEXT,
    in_a_row       INTEGER NOT NULL,    -- the number of rotations since a person last said something, this one included
    is_prompted    INTEGER NOT NULL DEFAULT 0   -- a person has said something in the new session
) STRICT;
-- One at a time in a session, and in a window.
CREATE UNIQUE INDEX rotations_open ON rotations (session)
    WHERE state IN ('scheduled', 'reserved', 'clearing', 'stuck');
CREATE UNIQUE INDEX rotations_of_pane ON rotations (socket, pane)
    WHERE pane IS NOT NULL AND state IN ('scheduled', 'reserved', 'clearing', 'stuck', 'cleared', 'waiting');
CREATE INDEX rotations_by_new_session ON rotations (new_session) WHERE new_session IS NOT NULL;
CREATE INDEX rotations_by_handoff ON rotations (handoff);
