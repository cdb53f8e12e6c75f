-- Bridges that were put into a host's folders, so that taking them out leaves everything as it was before.

CREATE TABLE installations (
    file         BLOB NOT NULL PRIMARY KEY,     -- the bridge's path: only compared, and need not be text
    version      TEXT NOT NULL,
    sha256       BLOB NOT NULL,                 -- of the file as it was written: tells whether it was edited since
    folders_made INTEGER NOT NULL               -- so many of the folders above it were not there before, innermost first
) STRICT;
