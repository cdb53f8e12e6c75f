-- A context is given once per session and moment, whoever gives it.

ALTER TABLE injections ADD COLUMN moment TEXT NOT NULL DEFAULT 'start';

-- Who gives a session its context at a moment. A claim that was neither settled nor released by `until` is void: whoever
-- made it is gone.
CREATE TABLE claims (
    session   TEXT NOT NULL,
    moment    TEXT NOT NULL,            -- `start`, or `compaction:` and the message that marks it
    token     INTEGER NOT NULL,         -- whose it is: only who knows it can renew or release it
    until     INTEGER NOT NULL,         -- milliseconds since 1970
    injection INTEGER,                  -- the receipt, as soon as there is one
    settled   INTEGER,                  -- milliseconds since 1970: the session has it
    PRIMARY KEY (session, moment)
) STRICT, WITHOUT ROWID;
CREATE INDEX claims_by_injection ON claims (injection) WHERE injection IS NOT NULL;
