//! Documents as the tools of maenifold write them, and what is told of them.

use super::*;

const SESSION: &str = "thinking/sequential/2026/11/17/session-1794902161523-71562.md";

fn session(status: &str, body: &str) -> Thinking {
    let yaml =
        format!("title: Sequential Thinking Session s\ntype: sequential\nstatus: {status}\n");
    Thinking::of(SESSION, &yaml, body).unwrap()
}

#[test]
fn a_completed_session_is_told_from_its_conclusion_on() {
    let told = session(
        "completed",
        "# Sequential Thinking Session\n\n\n## Thought 0/2 [agent]\n\nHow should [[billing-api]] reject replays? Options: \
         409, 200.\n\n*2026-11-17 07:56:01 UTC*\n\n\n## Thought 1/2 [agent] (Revises: 0)\n\nA 409 breaks [[Stripe]].\n\n\
         *2026-11-17 07:56:02*\n\n\n## Conclusion\n\nReplays return the *old* invoice. Next:\n\n- write the migration\n- \
         test it\n",
    );
    assert_eq!(told.title, "How should billing-api reject replays?");
    assert_eq!(
        told.body,
        "Completed: Replays return the old invoice. Next: write the migration; test it\n\
         Thought 0/2: Options: 409, 200.\nThought 1/2: A 409 breaks Stripe."
    );
    assert_eq!(told.card, told.body.lines().next().unwrap());
    assert_eq!(told.standing, Standing::Settled);
}

#[test]
fn an_active_session_is_told_from_its_last_thought_on() {
    let body = "## Thought 0/4 [a]\n\nInvestigate slow [[dashboard-v2]] queries.\n\n*2026-11-17 07:56:02 UTC*\n";
    let first = session("active", body);
    assert_eq!(
        (first.title.as_str(), first.card.as_str()),
        ("Investigate slow dashboard-v2 queries", "Active at thought 0/4.")
    );
    assert_eq!(first.standing, Standing::Open { at: "thought 0/4".to_owned(), is_bare: true });
    // A heading of the agent's own begins no section, and neither does one in code.
    let more = format!(
        "{body}\n## Thought 1/4 [a]\n\nIt scans.\n\n## Options\n\nAn index.\n\n```\n## Conclusion\n```\n"
    );
    let second = session("active", &more);
    assert_eq!(second.title, first.title);
    assert_eq!(second.body, "Active at thought 1/4: It scans. Options: An index. ## Conclusion");
    assert_eq!(second.standing, Standing::Open { at: "thought 1/4".to_owned(), is_bare: false });
}

#[test]
fn code_that_is_never_closed_hides_no_conclusion() {
    let body = "## Thought 0/2 [a]\n\nWhy is it slow? See:\n\n```sql\nSELECT 1\n\n*2026-11-17 07:56:01 UTC*\n\n\n\
        ## Thought 1/2 [a]\n\n```\nplan\n```\nA scan.\n\n*2026-11-17 07:56:02 UTC*\n\n\n## Conclusion\n\nAdd an index.\n";
    let told = session("completed", body);
    assert_eq!(told.title, "Why is it slow?");
    assert!(told.body.starts_with("Completed: Add an index.\n"), "{}", told.body);
    assert!(told.body.contains("\nThought 1/2: "), "{}", told.body);
}

#[test]
fn what_was_given_up_says_so() {
    let body = "## Thought 0/4 [a]\n\nTry [[x]]. It is slow.\n\n## Session Abandoned\n\n⚠️ Session marked as abandoned due to 31 minutes of inactivity\n*2026-11-17 07:56:02*\n";
    for status in ["abandoned", "cancelled"] {
        let told = session(status, body);
        assert_eq!(told.standing, Standing::Dropped);
        assert!(
            told.body.to_lowercase().starts_with(&format!("{status} at thought 0/4: it is slow.")),
            "{}",
            told.body
        );
        assert!(!told.body.contains("inactivity"));
    }
    // A database keeps no front matter.
    assert_eq!(Thinking::of(SESSION, "", body).unwrap().standing, Standing::Dropped);
}

#[test]
fn a_session_without_a_thought_is_no_bare_id() {
    let empty = session("active", "# Sequential Thinking Session\n\n");
    assert_eq!((empty.title.as_str(), empty.card.as_str()), (EMPTY, ""));
    assert_eq!(empty.standing, Standing::Dropped);
    let concluded = session("completed", "## Conclusion\n\nIt holds. So be it.\n");
    assert_eq!(
        (concluded.title.as_str(), concluded.card.as_str()),
        ("It holds", "Completed: It holds. So be it.")
    );
    // A heading, code or JSON alone is better than an id.
    for (thought, title) in [
        ("# Cache of [[api]]", "Cache of api"),
        ("```\nlet x = 1;\n```", "let x = 1;"),
        ("{\"about\": \"[[api]]\"}", "{\"about\": \"api\"}"),
    ] {
        let told = session(
            "active",
            &format!("## Thought 0/2 [a]\n\n{thought}\n\n*2026-11-17 07:56:02 UTC*\n"),
        );
        assert_eq!(told.title, title);
    }
    assert_eq!(Thinking::of(SESSION, "type: sequential", "# Mine\n\nA note of my own.\n"), None);
}

#[test]
fn a_title_is_the_question_and_short() {
    #[track_caller]
    fn check(thought: &str, title: &str, rest: &str) {
        assert_eq!(question(thought), (title.to_owned(), rest.to_owned()), "{thought}");
    }
    check("We have 3.5 s. Why? Because.", "Why?", "We have 3.5 s. Because.");
    check("Only one sentence", "Only one sentence", "");
    check("First. Second.", "First", "Second.");
    check("索引はなぜ遅いのか？次。", "索引はなぜ遅いのか？", "次。");
    let long = "word ".repeat(40);
    let (title, rest) = question(long.trim());
    assert!(title.chars().count() <= LONGEST_TITLE_CHARS && title.ends_with("word…"), "{title}");
    assert_eq!(rest, long.trim());
    let (title, _) = question(&"字".repeat(200));
    assert_eq!(title.chars().count(), LONGEST_TITLE_CHARS);
}

#[test]
fn a_workflow_is_told_by_its_name_and_step_and_never_as_json() {
    let path = "thinking/workflow/2026/11/17/workflow-1.md";
    let yaml = "type: workflow\nstatus: active\nqueue:\n- deductive-reasoning\n- sdlc\ncurrentWorkflow: 0\ncurrentStep: 1\n";
    let step = |name: &str| {
        format!(
            "{{\n  \"id\": \"p\",\n  \"name\": \"{name}\",\n  \"description\": \"Find the rules\"\n}}\n"
        )
    };
    let body = format!(
        "# Workflow Session\n\nStarted: x\n\n## Step 1/4\n\n{}\n## Step 1/4 Response\n\nThe [[rule]] is old.\n\n*2026-11-17 07:56:02 UTC*\n\n## Step 2/4\n\n{}",
        step("Principles"),
        step("Apply")
    );
    let told = Thinking::of(path, yaml, &body).unwrap();
    assert_eq!(told.title, "Workflow deductive-reasoning: Apply");
    assert_eq!(
        told.body,
        "Active at step 2/4: Find the rules\nStep 1/4 answered: The rule is old."
    );
    assert_eq!(told.standing, Standing::Open { at: "step 2/4".to_owned(), is_bare: false });
    let done = yaml.replace("active", "completed");
    let told = Thinking::of(path, &done, &format!("{body}\n## Conclusion\n\nIt holds.\n")).unwrap();
    assert_eq!(
        (told.title.as_str(), told.card.as_str()),
        ("Workflow deductive-reasoning, sdlc", "Completed: It holds.")
    );
    let broken = Thinking::of(path, yaml, "## Step 1/4\n\n{ \"name\": \n").unwrap();
    assert_eq!(
        (broken.title.as_str(), broken.body.as_str()),
        ("Workflow deductive-reasoning", "Active at step 1/4.")
    );
}

#[test]
fn an_assumption_is_told_by_its_statement() {
    let path = "assumptions/2026/11/assumption-1.md";
    let yaml = "status: validated\nconfidence: high\ncontext: billing-api\n";
    let body = "# Assumption: x\n\n## Statement\n\n[[Stripe]] never retries.\n\n## Validation Plan\n\nRead the log.\n\n## Related Concepts\n\n- [[stripe]]\n\n## Update: 2026\n\nSeen.\n";
    let told = Thinking::of(path, yaml, body).unwrap();
    assert_eq!(told.title, "Stripe never retries");
    assert_eq!(
        told.body,
        "Assumption (validated, high confidence, about billing-api).\nUpdate: Seen.\nTo be validated: Read the log."
    );
    assert_eq!(Thinking::of("assumptions/readme.md", "", "# Assumptions\n\nOur rules.\n"), None);
    assert_eq!(Thinking::of("tech/a.md", "type: memory", body), None);
}

#[test]
fn a_long_conclusion_is_cut_after_a_sentence() {
    let long = format!(
        "{}. {}",
        "one two three four five six seven ".repeat(4).trim(),
        "and more ".repeat(40)
    );
    let card = beginning(&long);
    assert!(card.ends_with("seven.") && card.split(' ').count() == 28, "{card}");
    let endless = beginning(&"word ".repeat(90));
    assert!(endless.ends_with('…') && endless.split(' ').count() == CARD_WORDS, "{endless}");
}

#[test]
fn a_report_is_told_without_its_heading() {
    let report = "### ConfessionReport\n\n1. All done\n2. **Result**: batches of [[x]]\n\n### Next\n\n- test it";
    assert_eq!(plain(report), "All done; Result: batches of x Next: test it");
    assert_eq!(plain("3.5 ms\n4 more"), "3.5 ms 4 more");
}

#[test]
fn secrets_of_a_file_are_masked_before_anything_is_cut() {
    let secret = "AKIAQ3EGRXZ5T7PLMN2W";
    let text = format!(
        "---\ntype: sequential\nstatus: active\n---\n\n## Thought 0/1 [a]\n\nWhy is {secret} in [[x]]?\n"
    );
    let told = Thinking::of_file(SESSION, &text).unwrap();
    assert!(!told.title.contains(secret) && !told.body.contains(secret), "{told:?}");
}
