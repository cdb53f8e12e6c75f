-- The graph index of one set of vaults: derived from the notes, so it is dropped and made again rather than migrated.

-- What the index was made from and how; see `fingerprint` and `totals` in src/store/index/.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value NOT NULL
) WITHOUT ROWID;

-- One row per folder with notes. An equal digest says, without a look at its notes, that nothing in it changed;
-- NULL asks for a closer look next time (a file was written while it was being read).
CREATE TABLE folders (
    id     INTEGER PRIMARY KEY,
    vault  INTEGER NOT NULL,
    path   TEXT NOT NULL,
    digest BLOB
);
CREATE UNIQUE INDEX folders_by_place ON folders (vault, path);

-- One row per markdown file, in the state in which it was read. Kept apart from what the files say, so that a
-- comparison with the disk reads little.
CREATE TABLE files (
    folder   INTEGER NOT NULL,
    name     TEXT NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    size     INTEGER NOT NULL,
    settled  INTEGER NOT NULL,      -- 0: written so shortly before it was read that it may have changed unseen
    hash     BLOB,                  -- of the content; NULL for a file that is no note
    note     INTEGER,               -- NULL for a file that is no note
    rejected INTEGER,               -- why it is none: 1 no text, 2 unreadable, 3 generated
    PRIMARY KEY (folder, name)
) WITHOUT ROWID;

-- A note's id is its place in time: ids are in the order of (mtime_ns, vault, folder, name). `mtime_ns` is
-- the file's time or that of its last commit (docs/design/index.md); 0 is not known. "Newest first" is
-- then "largest id first" in every table that holds ids, the full-text index included.
CREATE TABLE notes (
    id          INTEGER PRIMARY KEY,
    folder      INTEGER NOT NULL,
    name        TEXT NOT NULL,
    mtime_ns    INTEGER NOT NULL,
    title       TEXT NOT NULL,
    subject     TEXT,               -- what is shown in place of the title of a document of maenifold's, which is an id
    aliases     TEXT NOT NULL,      -- JSON array
    tags        TEXT NOT NULL,      -- JSON array
    sections    TEXT NOT NULL,      -- JSON array
    status      TEXT,
    created     INTEGER,            -- seconds
    modified    INTEGER,            -- seconds, as the front matter says
    fresh_until INTEGER,            -- day; NULL never fades
    excerpt     TEXT NOT NULL,
    remarks     INTEGER NOT NULL,   -- bit set
    links       INTEGER NOT NULL    -- counting links in the text
);

-- What a note may be called, in the normal form of concepts: 1 its title, 2 an alias, 3 its file name. Each name
-- once per note, as the best of these.
CREATE TABLE names (
    name TEXT NOT NULL,
    kind INTEGER NOT NULL,
    note INTEGER NOT NULL,
    PRIMARY KEY (name, note)
) WITHOUT ROWID;

CREATE TABLE concepts (
    id    INTEGER PRIMARY KEY,
    name  TEXT NOT NULL,
    notes INTEGER NOT NULL,         -- notes that mention it
    links INTEGER NOT NULL          -- links that name it
);

CREATE TABLE mentions (
    note    INTEGER NOT NULL,
    concept INTEGER NOT NULL,
    links   INTEGER NOT NULL,
    PRIMARY KEY (note, concept)
) WITHOUT ROWID;

-- Two concepts in the same note, a < b. `fading` sums up when those notes stop being fresh, so that an edge's
-- weight on any day is known without a look at its notes.
CREATE TABLE edges (
    a      INTEGER NOT NULL,
    b      INTEGER NOT NULL,
    notes  INTEGER NOT NULL,
    fading BLOB NOT NULL,
    PRIMARY KEY (a, b)
) WITHOUT ROWID;

-- Contentless: the notes themselves are on disk, and a copy here would double the index.
CREATE VIRTUAL TABLE fulltext USING fts5 (
    title, labels, body,
    content = '', contentless_delete = 1,
    tokenize = 'unicode61 remove_diacritics 2'
);

-- What a context quotes of a note, made when the note is read: building a context reads no file.
CREATE TABLE quotes (
    note    INTEGER PRIMARY KEY,
    card    TEXT NOT NULL,          -- the shortest quote that says what the note is about
    prior   REAL NOT NULL,          -- what name, size and folder say of its relevance
    keys    BLOB NOT NULL,          -- its hashed names: four bytes each
    refs    BLOB NOT NULL,          -- the hashed names in its text: four bytes each and one for the kind
    passage TEXT NOT NULL,          -- JSON: the pieces of a long quote, most important first
    lines   BLOB NOT NULL           -- hashes of its lines, which tell what the next change touches
);

-- When the content of a note was seen to be new, in seconds: the note's time. History, and not derived from the files
-- as they are: a new build takes it over from the index before. Only the newest few thousand rows are kept.
CREATE TABLE changes (
    note  INTEGER NOT NULL,
    at    INTEGER NOT NULL,
    prior REAL NOT NULL,            -- as in `quotes`: the ranking reads this table alone
    PRIMARY KEY (note, at)
) WITHOUT ROWID;

-- The changes of notes that are gone: they count for nothing, unless the file comes back, as it does when a branch is
-- checked out and left again. None of the text is kept.
CREATE TABLE gone (
    vault   INTEGER NOT NULL,
    folder  TEXT NOT NULL,
    name    TEXT NOT NULL,
    hash    BLOB NOT NULL,          -- of the last content
    last    INTEGER NOT NULL,       -- its newest change
    changes TEXT NOT NULL,          -- JSON array: all of them, in seconds
    PRIMARY KEY (vault, folder, name)
) WITHOUT ROWID;

-- The hashed names of a note, and those that its text has. A reference leads to every note that has its key, so that no
-- row changes when another note comes or goes.
CREATE TABLE keys (
    key  INTEGER NOT NULL,
    note INTEGER NOT NULL,
    PRIMARY KEY (key, note)
) WITHOUT ROWID;

-- By key, for those who ask which notes refer to one. Wiki links are in `mentions` already.
CREATE TABLE refs (
    key  INTEGER NOT NULL,
    note INTEGER NOT NULL,
    kind INTEGER NOT NULL,          -- 1 a link, 2 a mention of a file, 3 a proper name, 4 a tag
    PRIMARY KEY (key, note)
) WITHOUT ROWID;

-- The files of code that a note names, hashed: four bytes each. Only notes that name some. By note, and not by key: a
-- session's start reads those of the newest notes at once, to know which files are worth a look.
CREATE TABLE named_files (
    note  INTEGER PRIMARY KEY,
    files BLOB NOT NULL
);

-- The sessions and workflows of maenifold's that go on.
CREATE TABLE threads (
    note INTEGER PRIMARY KEY,
    at   TEXT NOT NULL,             -- how far it is: `thought 2/5`
    bare INTEGER NOT NULL           -- 1: it says nothing beside that and its subject
);

-- The notes that a session most likely needs, best first: known when the index is written, because it depends on
-- nothing but the notes and their history.
CREATE TABLE ranking (
    place      INTEGER PRIMARY KEY,
    note       INTEGER NOT NULL,
    activation REAL NOT NULL,
    walk       REAL NOT NULL,
    linked     INTEGER NOT NULL,    -- whether a note that the walk came to links with it
    sessions   INTEGER NOT NULL,    -- in how many the note changed
    age        INTEGER NOT NULL,    -- how many there were since its last change
    with_it    INTEGER NOT NULL,    -- how many other notes changed then, if that was no session's work
    -- What a context shows of the first ones, again: a session's start reads them in one go, and not each from a page of
    -- its own. NULL for the others.
    vault      INTEGER,
    folder     TEXT,
    name       TEXT,
    title      TEXT,
    mtime_ns   INTEGER,
    card       TEXT,
    prior      REAL
);
