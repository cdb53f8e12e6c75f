-- Made after a bulk load: sorting once is faster than keeping order while rows come in.
CREATE UNIQUE INDEX concepts_by_name ON concepts (name);
CREATE INDEX mentions_by_concept ON mentions (concept, note);
CREATE INDEX edges_by_b ON edges (b);
-- Most edges stand on one note, and most concepts have few edges. A hub has thousands: its strongest ones are found
-- here without a look at the others.
CREATE INDEX strong_edges_by_a ON edges (a, notes DESC) WHERE notes > 1;
CREATE INDEX strong_edges_by_b ON edges (b, notes DESC) WHERE notes > 1;
