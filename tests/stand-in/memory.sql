-- maenifold's memory.db as GraphDatabase.cs makes it (main of 2026-02-20, versions 1.0.5 and 1.0.6), as far as it was
-- read at the source. The tables of sqlite-vec are left out: nothing here can make them, and nobody needs them.
CREATE TABLE concepts (
    concept_name TEXT PRIMARY KEY,
    first_seen TEXT,
    occurrence_count INTEGER DEFAULT 0  -- never written
);
CREATE TABLE concept_mentions (
    concept_name TEXT NOT NULL,
    source_file TEXT NOT NULL,
    mention_count INTEGER DEFAULT 1,
    PRIMARY KEY (concept_name, source_file),
    FOREIGN KEY (concept_name) REFERENCES concepts(concept_name) ON DELETE CASCADE
);
CREATE INDEX idx_mentions_by_file ON concept_mentions(source_file);
CREATE TABLE concept_graph (
    concept_a TEXT NOT NULL,
    concept_b TEXT NOT NULL,
    co_occurrence_count INTEGER,
    source_files TEXT,                  -- a JSON array of addresses
    PRIMARY KEY (concept_a, concept_b),
    FOREIGN KEY (concept_a) REFERENCES concepts(concept_name) ON DELETE CASCADE,
    FOREIGN KEY (concept_b) REFERENCES concepts(concept_name) ON DELETE CASCADE
);
CREATE INDEX idx_graph_concept_b ON concept_graph(concept_b);
CREATE TABLE concept_communities (
    concept_name TEXT PRIMARY KEY,
    community_id INTEGER NOT NULL,
    modularity REAL,
    resolution REAL,
    detected_at TEXT,
    FOREIGN KEY (concept_name) REFERENCES concepts(concept_name) ON DELETE CASCADE
);
CREATE INDEX idx_communities_by_id ON concept_communities(community_id);
CREATE TABLE file_content (
    file_path TEXT PRIMARY KEY,         -- an address
    title TEXT,
    content TEXT,                       -- without front matter
    summary TEXT,                       -- never written
    last_indexed TEXT,                  -- the file's time, in UTC, with seven digits of a second
    status TEXT,
    file_md5 TEXT,
    file_size INTEGER,
    last_accessed TEXT
);
CREATE VIRTUAL TABLE file_search USING fts5(
    title, content, summary, content=file_content, tokenize='unicode61 remove_diacritics 0'
);
CREATE TRIGGER file_content_ai AFTER INSERT ON file_content BEGIN
    INSERT INTO file_search(rowid, title, content, summary) VALUES (new.rowid, new.title, new.content, new.summary);
END;
CREATE TRIGGER file_content_ad AFTER DELETE ON file_content BEGIN
    INSERT INTO file_search(file_search, rowid, title, content, summary)
        VALUES ('delete', old.rowid, old.title, old.content, old.summary);
END;
CREATE TRIGGER file_content_au AFTER UPDATE ON file_content BEGIN
    INSERT INTO file_search(file_search, rowid, title, content, summary)
        VALUES ('delete', old.rowid, old.title, old.content, old.summary);
    INSERT INTO file_search(rowid, title, content, summary) VALUES (new.rowid, new.title, new.content, new.summary);
END;
