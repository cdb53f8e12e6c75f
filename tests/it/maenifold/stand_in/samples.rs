//! The samples that were constructed at maenifold's source, byte for byte. The half of a search that goes by meaning is
//! not there, so that its numbers are 0, and the rank of equals is that of the listing: the folder's own files come first.

use super::{AUTH_NOTE, Root};

#[test]
fn a_search_in_json() {
    let root = Root::of_the_samples();
    let expected = concat!(
        r#"{"success":true,"data":{"mode":"Hybrid","query":"authentication","totalCount":2,"page":1,"pageSize":5,"#,
        r#""textResultCount":2,"semanticResultCount":0,"results":["#,
        r#"{"title":"RAG Patterns","path":"memory://rag-patterns","fusedScore":0.01639344262295082,"textScore":0.01,"#,
        r#""semanticScore":0,"snippet":"Hybrid search for [[authentication]] plus [[graph-rag]]."},"#,
        r#"{"title":"Auth Note","path":"memory://tech/auth-note","fusedScore":0.016129032258064516,"textScore":0.01,"#,
        r#""semanticScore":0,"snippet":"ng [[OAuth2]] for [[authentication]] in [[kgctx]].  ## Next  Wire [[session-management]]."}"#,
        "]},\"error\":null}\n",
    );
    assert_eq!(root.json("SearchMemories", r#"{"query":"authentication","pageSize":5}"#), expected);
    assert_eq!(
        root.json("searchmemories", r#"{"query":"authentication","mode":"hYBRID","pageSize":"5"}"#),
        expected
    );
}

#[test]
fn a_search_in_text() {
    let root = Root::of_the_samples();
    assert_eq!(
        root.text("SearchMemories", r#"{"query":"authentication","pageSize":5}"#),
        "\
🔍 **Hybrid Search** (combining text + semantic similarity)
Found 2 matches (page 1):
Text results: 2, Semantic results: 0

📄 **RAG Patterns** (memory://rag-patterns)
   📊 Scores - Fused: 0.016 | Text: 0.010 | Semantic: 0.000
   📝 Hybrid search for [[authentication]] plus [[graph-rag]].

📄 **Auth Note** (memory://tech/auth-note)
   📊 Scores - Fused: 0.016 | Text: 0.010 | Semantic: 0.000
   📝 ng [[OAuth2]] for [[authentication]] in [[kgctx]].  ## Next  Wire [[session-management]].


💡 Next: Consider using ReadMemory, BuildContext for related operations.
"
    );
}

#[test]
fn other_ways_to_search() {
    let root = Root::of_the_samples();
    assert_eq!(
        root.json("SearchMemories", r#"{"query":"wire","mode":"FullText","pageSize":5}"#),
        concat!(
            r#"{"success":true,"data":{"mode":"FullText","query":"wire","totalCount":1,"page":1,"pageSize":5,"#,
            r#""results":[{"title":"Auth Note","path":"memory://tech/auth-note","score":1,"#,
            r#""snippet":"[kgctx]].  ## Next  Wire [[session-management]]."}]},"error":null}"#,
            "\n"
        )
    );
    assert_eq!(
        root.text("SearchMemories", r#"{"query":"wire","mode":"Semantic"}"#),
        "\
🧠 **Semantic Search** (concept similarity)
Found 0 matches (page 1):


💡 Next: Consider using ReadMemory, BuildContext, FindSimilarConcepts for related operations.
"
    );
    let full = root.text("SearchMemories", r#"{"query":"wire","mode":"FullText"}"#);
    assert!(
        full.starts_with(
            "📝 **Full-Text Search** (keyword matching)\nFound 1 matches (page 1):\n\n"
        )
    );
    assert!(full.contains("   📊 Text relevance: 1.00\n"), "{full}");
}

#[test]
fn recent_activity() {
    let root = Root::of_the_samples();
    root.write(
        "thinking/sequential/2026/02/20/session-1771260150747-12345.md",
        "---\ntitle: Sequential Thinking Session 1771260150747\ntype: sequential\nstatus: active\n---\n\n# Session\n\n\
         ## Thought 1/3 [agent]\n\nAnalysing [[graph-rag]] for the search.\n\n*2026-02-20 13:40:00*\n\n\
         ## Thought 2/3 [agent]\n\nRanks.\n\n## Thought 3/3 [agent]\n\nThey are fused.\n\n*2026-02-20 13:50:00*\n",
        70 * 60,
    );
    root.sync();
    let of_a_day = r#"{"timespan":"1.00:00:00","limit":10}"#;
    let expected = "\
# Recent Activity

**auth-note** (memory)
  Modified: 2026-02-20 14:04
  Title: Auth Note
  Sections: 2
  First: \"Using [[OAuth2]] for [[authentication]] in [[kgctx]].\"
  Last: \"Wire [[session-management]].\"

**session-1771260150747-12345** (sequential)
  Modified: 2026-02-20 13:50
  Thoughts: 3
  Status: active
  First: \"Analysing [[graph-rag]] for the search.\"
  Last: \"They are fused.\"


";
    assert_eq!(root.text("RecentActivity", of_a_day), expected);
    assert_eq!(root.json("RecentActivity", of_a_day), expected, "JSON is not known here");
    let elsewhere = root.told(
        &[("TZ", "EST5")],
        &[
            "--tool",
            "RecentActivity",
            "--payload",
            r#"{"timespan":"1.00:00:00","filter":"memory"}"#,
        ],
    );
    assert!(elsewhere.contains("  Modified: 2026-02-20 09:04\n"), "{elsewhere}");
    assert!(!elsewhere.contains("(sequential)"), "{elsewhere}");
    let whole = root.text("RecentActivity", r#"{"limit":1,"includeContent":true}"#);
    assert!(
        whole.contains("  First H2: Decision\n  First H2 Content: Using [[OAuth2]]"),
        "{whole}"
    );
}

#[test]
fn a_workflow_and_a_name_with_a_dot() {
    let root = Root::fresh();
    root.write(
        "thinking/workflow/2026/02/20/workflow-1.md",
        "---\nstatus: completed\n---\n\n## Step 1\n\nLook.\n\n## Step 2\n\nLeap.\n\n## Completion\n\nDone.\n",
        60,
    );
    root.write("release-1.2.md", AUTH_NOTE, 120);
    root.sync();
    assert_eq!(
        root.text("RecentActivity", "{}"),
        "\
# Recent Activity

**workflow-1** (workflow)
  Modified: 2026-02-20 14:59
  Steps: 2
  Status: completed
  First: \"Look.\"
  Current: \"Leap.\"

**release-1** (memory)
  Modified: 2026-02-20 14:58
  Title: Auth Note
  Sections: 2
  First: \"Using [[OAuth2]] for [[authentication]] in [[kgctx]].\"
  Last: \"Wire [[session-management]].\"


"
    );
}

#[test]
fn a_context_without_communities() {
    let root = Root::of_the_samples();
    root.sync();
    let expected = "\
Context for CONCEPT: authentication

Direct relations (4 CONCEPTS):
  • graph-rag (co-occurs in 1 files)
    Files: memory://rag-patterns
  • kgctx (co-occurs in 1 files)
    Files: memory://tech/auth-note
  • oauth2 (co-occurs in 1 files)
    Files: memory://tech/auth-note
  • session-management (co-occurs in 1 files)
    Files: memory://tech/auth-note

";
    let asked = r#"{"conceptName":"Authentication","depth":1}"#;
    assert_eq!(root.text("BuildContext", asked), expected);
    assert_eq!(root.json("BuildContext", asked), expected, "JSON is not known here");
    assert_eq!(
        root.text("BuildContext", r#"{"conceptName":"graph-rag"}"#),
        "\
Context for CONCEPT: graph-rag

Direct relations (1 CONCEPTS):
  • authentication (co-occurs in 1 files)
    Files: memory://rag-patterns

Expanded relations (2 hops):
  • kgctx
  • oauth2
  • session-management

"
    );
}

#[test]
fn a_context_with_communities() {
    let root = Root::of_the_samples();
    root.sync();
    root.change(
        "INSERT INTO concepts (concept_name) VALUES ('token-refresh'), ('login'), ('jwt');
         INSERT INTO concept_graph VALUES
            ('graph-rag', 'token-refresh', 1, '[]'), ('kgctx', 'token-refresh', 1, '[]'),
            ('oauth2', 'token-refresh', 1, '[]'), ('session-management', 'token-refresh', 1, '[]'),
            ('jwt', 'token-refresh', 3, '[]'),
            ('kgctx', 'login', 1, '[]'), ('login', 'oauth2', 1, '[]'), ('login', 'session-management', 1, '[]');
         INSERT INTO concept_communities SELECT concept_name, 0, 0.4, 1.0, '' FROM concepts;",
    );
    assert_eq!(
        root.text("BuildContext", r#"{"conceptName":"authentication","depth":1}"#),
        "\
Context for CONCEPT: authentication

Direct relations (4 CONCEPTS):
  • graph-rag (co-occurs in 1 files) [community 0]
    Files: memory://rag-patterns
  • kgctx (co-occurs in 1 files) [community 0]
    Files: memory://tech/auth-note
  • oauth2 (co-occurs in 1 files) [community 0]
    Files: memory://tech/auth-note
  • session-management (co-occurs in 1 files) [community 0]
    Files: memory://tech/auth-note

Community siblings (2 concepts in community 0):
  • login (shared neighbors: 3, overlap: 1.000)
  • token-refresh (shared neighbors: 4, overlap: 0.571)

"
    );
}

#[test]
fn json_escapes_all_that_is_not_plain() {
    let root = Root::fresh();
    root.write("a.md", "---\ntitle: \"<Ünï> & 'co' + 🔍\"\n---\nneedle \"\\ `x`\ttab\n", 0);
    let told = root.json("SearchMemories", r#"{"query":"needle"}"#);
    assert!(
        told.contains(
            r#""title":"\u003C\u00DCn\u00EF\u003E \u0026 \u0027co\u0027 \u002B \uD83D\uDD0D""#
        ),
        "{told}"
    );
    assert!(told.contains(r#""snippet":"needle \u0022\\ \u0060x\u0060\ttab""#), "{told}");
    assert!(told.is_ascii());
}
