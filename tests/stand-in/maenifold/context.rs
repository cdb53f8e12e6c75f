//! BuildContext: the concepts that share files with one. Always text.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OptionalExtension, Row};

use crate::Thrown;
use crate::decay;
use crate::markdown::normalized;
use crate::payload::Payload;
use crate::places::{self, Places};

/// How many relations a walk goes on from.
const WALKED_RELATIONS: usize = 5;
const SHOWN_FILES: usize = 3;
const SHOWN_EXPANDED: usize = 20;

/// Edges of a concept. maenifold gives no order to ties: these come as SQLite returned them, first where the concept is the
/// smaller of two, by the other's name, then as they were made.
const EDGES: &str = "SELECT CASE WHEN concept_a = ?1 THEN concept_b ELSE concept_a END, co_occurrence_count, source_files \
     FROM concept_graph WHERE concept_a = ?1 OR concept_b = ?1";
const TIES: &str = "concept_a != ?1, CASE WHEN concept_a = ?1 THEN concept_b ELSE '' END, rowid";

pub(crate) struct Relation {
    pub(crate) name: String,
    pub(crate) count: i64,
    pub(crate) files: Vec<String>,
    score: f64,
    community: Option<i64>,
}

struct Sibling {
    name: String,
    n_shared: usize,
    overlap: f64,
}

pub(crate) struct Context {
    pub(crate) concept: String,
    depth: i64,
    pub(crate) relations: Vec<Relation>,
    expanded: Vec<String>,
    community: Option<i64>,
    siblings: Vec<Sibling>,
}

pub(crate) fn context(places: &Places, payload: &Payload) -> Result<Context, Thrown> {
    let concept = payload.required("conceptName")?;
    let depth = payload.whole("depth", 2)?;
    let most = payload.whole("maxEntities", 20)?;
    places.ensure_tables()?;
    if depth < 0 {
        return Err(Thrown::internal("depth must be >= 0"));
    }
    let concept = normalized(&concept);
    let connection = places.open_to_read()?;
    let mut context = Context {
        concept,
        depth,
        relations: Vec::new(),
        expanded: Vec::new(),
        community: None,
        siblings: Vec::new(),
    };
    let is_known = "SELECT COUNT(*) > 0 FROM concepts WHERE concept_name = ?1";
    if !connection.query_row(is_known, [&context.concept], |row| row.get(0))? {
        return Ok(context);
    }
    context.relations = relations(places, &connection, &context.concept, most)?;
    let walked: Vec<String> = context
        .relations
        .iter()
        .take(WALKED_RELATIONS)
        .map(|relation| relation.name.clone())
        .collect();
    context.relations.sort_by(|a, b| b.score.total_cmp(&a.score));
    context.find_communities(&connection)?;
    if depth > 1 {
        let mut visited = BTreeSet::from([context.concept.clone()]);
        for name in walked {
            walk(&connection, &name, depth - 1, &mut visited, &mut context.expanded)?;
        }
        context.expanded.truncate(usize::try_from(most).unwrap_or(0));
    }
    Ok(context)
}

fn relations(
    places: &Places,
    connection: &Connection,
    concept: &str,
    most: i64,
) -> Result<Vec<Relation>, Thrown> {
    let question = format!("{EDGES} ORDER BY co_occurrence_count DESC, {TIES} LIMIT ?2");
    let mut statement = connection.prepare(&question)?;
    let read = |row: &Row| {
        let (name, count) = weighted(row)?;
        Ok((name, count, row.get::<_, Option<String>>(2)?.unwrap_or_default()))
    };
    let edges: Vec<(String, i64, String)> =
        statement.query_map((concept, most), read)?.collect::<Result<_, _>>()?;
    let mut relations = Vec::new();
    for (name, count, files) in edges {
        let mut files = Payload::strings(&files)?;
        let weights: Vec<f64> =
            files.iter().map(|file| decay::weight(places, Some(connection), file)).collect();
        let weight = if weights.is_empty() {
            1.0
        } else {
            weights.iter().sum::<f64>() / weights.len() as f64
        };
        files.truncate(SHOWN_FILES);
        relations.push(Relation {
            name,
            count,
            files,
            score: count as f64 * weight,
            community: None,
        });
    }
    Ok(relations)
}

fn weighted(row: &Row) -> rusqlite::Result<(String, i64)> {
    Ok((
        row.get::<_, Option<String>>(0)?.unwrap_or_default(),
        row.get::<_, Option<i64>>(1)?.unwrap_or_default(),
    ))
}

fn neighbours(connection: &Connection, concept: &str) -> Result<Vec<(String, i64)>, Thrown> {
    let mut statement = connection.prepare(&format!("{EDGES} ORDER BY {TIES}"))?;
    Ok(statement.query_map([concept], weighted)?.collect::<Result<_, _>>()?)
}

/// Goes on from a concept, deep before wide.
fn walk(
    connection: &Connection,
    concept: &str,
    depth_left: i64,
    visited: &mut BTreeSet<String>,
    expanded: &mut Vec<String>,
) -> Result<(), Thrown> {
    if depth_left <= 0 {
        return Ok(());
    }
    for (next, _) in neighbours(connection, concept)? {
        if visited.insert(next.clone()) {
            expanded.push(next.clone());
            walk(connection, &next, depth_left - 1, visited, expanded)?;
        }
    }
    Ok(())
}

impl Context {
    /// Adds communities, where there are any.
    fn find_communities(&mut self, connection: &Connection) -> Result<(), Thrown> {
        let n_rows = connection
            .query_row("SELECT COUNT(*) FROM concept_communities", [], |row| row.get::<_, i64>(0));
        if n_rows.unwrap_or(0) == 0 {
            return Ok(());
        }
        let community_of = |name: &str| {
            let question = "SELECT community_id FROM concept_communities WHERE concept_name = ?1";
            connection.query_row(question, [name], |row| row.get::<_, i64>(0)).optional()
        };
        self.community = community_of(&self.concept)?;
        for relation in &mut self.relations {
            relation.community = community_of(&relation.name)?;
        }
        let Some(community) = self.community else { return Ok(()) };
        let own: BTreeMap<String, i64> =
            neighbours(connection, &self.concept)?.into_iter().collect();
        let question = "SELECT concept_name FROM concept_communities WHERE community_id = ?1 AND concept_name != ?2";
        let mut statement = connection.prepare(question)?;
        let candidates =
            statement.query_map((community, &self.concept), |row| row.get::<_, String>(0))?;
        for name in candidates {
            let name = name?;
            if self.relations.iter().any(|relation| relation.name == name) {
                continue;
            }
            let theirs = neighbours(connection, &name)?;
            let shared: Vec<i64> = theirs
                .iter()
                .filter_map(|(neighbour, weight)| own.get(neighbour).map(|own| *own.min(weight)))
                .collect();
            let degree: i64 = theirs.iter().map(|(_, weight)| weight).sum();
            let overlap = shared.iter().sum::<i64>() as f64 / degree as f64;
            let needed = places::number("MAENIFOLD_COMMUNITY_MIN_SHARED", 3);
            if degree > 0 && shared.len() as i64 >= needed && overlap >= 0.4 {
                self.siblings.push(Sibling { name, n_shared: shared.len(), overlap });
            }
        }
        self.siblings.sort_by(|a, b| b.overlap.total_cmp(&a.overlap));
        self.siblings.truncate(10);
        Ok(())
    }

    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "Context for CONCEPT: {}\n\nDirect relations ({} CONCEPTS):\n",
            self.concept,
            self.relations.len()
        );
        for relation in &self.relations {
            let community =
                relation.community.map(|id| format!(" [community {id}]")).unwrap_or_default();
            text.push_str(&format!(
                "  • {} (co-occurs in {} files){community}\n",
                relation.name, relation.count
            ));
            if !relation.files.is_empty() {
                text.push_str(&format!("    Files: {}\n", relation.files.join(", ")));
            }
        }
        if self.depth > 1 {
            text.push_str(&format!("\nExpanded relations ({} hops):\n", self.depth));
            for name in self.expanded.iter().take(SHOWN_EXPANDED) {
                text.push_str(&format!("  • {name}\n"));
            }
        }
        if let Some(community) = self.community.filter(|_| !self.siblings.is_empty()) {
            let n = self.siblings.len();
            text.push_str(&format!(
                "\nCommunity siblings ({n} concepts in community {community}):\n"
            ));
            for sibling in &self.siblings {
                text.push_str(&format!(
                    "  • {} (shared neighbors: {}, overlap: {:.3})\n",
                    sibling.name, sibling.n_shared, sibling.overlap
                ));
            }
        }
        text
    }
}
