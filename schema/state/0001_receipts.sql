-- What sessions were given. Precious: this database is only ever migrated, one file here per step and transaction.

-- One row per context that was made. The columns are what is looked for; the rest of the receipt is JSON, as
-- schema/json/explain.schema.json has it. Rows are numbered in the order of writing, which no clock can turn back.
CREATE TABLE injections (
    id        INTEGER PRIMARY KEY,
    session   TEXT NOT NULL,
    project   TEXT NOT NULL,            -- the project's key
    at        INTEGER NOT NULL,         -- seconds since 1970
    delivered INTEGER NOT NULL,         -- 0 for a dry run
    budget    INTEGER NOT NULL,
    tokens    INTEGER NOT NULL,
    chars     INTEGER NOT NULL,
    sha256    TEXT NOT NULL,            -- of the text
    receipt   TEXT NOT NULL
) STRICT;
CREATE INDEX injections_by_session ON injections (session, id);
-- Old dry runs make room for new ones, however many deliveries lie between them.
CREATE INDEX dry_runs ON injections (id) WHERE delivered = 0;
