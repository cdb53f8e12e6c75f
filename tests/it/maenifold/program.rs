//! The program as a source: what it is asked, and what becomes of one that misbehaves.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::git;
use crate::support::maenifold_lab::{self, HOUR, Lab, faults, part, source, text};

const CLI: [&str; 2] = ["--source", "cli"];
const RANKINGS: [&str; 2] = ["frequency", "notes"];

/// T-2.2.1: SearchMemories called with project name.
#[test]
fn t_2_2_1_the_program_is_asked_for_the_projects_name() {
    let lab = Lab::new();
    let answer = lab.inject(&CLI);
    assert_eq!(source(&answer), ("cli", "--source says so"));
    assert_eq!(faults(&answer), "");
    let searches = lab.payloads("SearchMemories");
    assert_eq!(searches.len(), 1);
    assert_eq!((&searches[0]["query"], &searches[0]["mode"]), (&json!("zephyr"), &json!("Hybrid")));
    // What only the search can have brought: the note is older than a day, and its answer names no concepts.
    lab.note("old.md", "# Old\n\nHow zephyr uses the [[Wind Tunnel]].\n", 500 * HOUR);
    assert!(text(&lab.inject(&CLI)).contains("[[wind-tunnel]]"));
}

/// T-2.3.1: RecentActivity called with 24h timespan.
#[test]
fn t_2_3_1_the_program_is_asked_for_the_last_24_hours() {
    let lab = Lab::new();
    let answer = lab.inject(&CLI);
    let expect = json!({ "timespan": "1.00:00:00", "limit": 10, "filter": "memory" });
    assert_eq!(lab.payloads("RecentActivity"), [expect]);
    let recent = part(text(&answer), "Recent Activity");
    let titles: Vec<&str> =
        recent.iter().map(|line| line.split([' ', '(']).nth(1).unwrap()).collect();
    assert_eq!(titles, ["No", "Keel", "Sail", "Mast", "Zephyr"]);
    assert!(recent[0].ends_with("(memory://decisions/no-engine)"), "{recent:#?}");
}

/// T-2.4.1: BuildContext called for merged concepts.
#[test]
fn t_2_4_1_the_program_is_asked_for_the_five_best_concepts() {
    let lab = Lab::new();
    let answer = lab.inject(&CLI);
    let mut asked: Vec<String> = Vec::new();
    for payload in lab.payloads("BuildContext") {
        assert_eq!((&payload["depth"], &payload["maxEntities"]), (&json!(1), &json!(10)));
        assert_eq!(payload["includeContent"], false);
        asked.push(format!("[[{}]]", payload["conceptName"].as_str().unwrap()));
    }
    let concepts = part(text(&answer), "Related Concepts");
    let mut best: Vec<String> = concepts[..5]
        .iter()
        .map(|line| line[2..].split(" - ").next().unwrap().to_owned())
        .collect();
    best.sort();
    asked.sort();
    assert_eq!(asked, best);
    assert_eq!(part(text(&answer), "Graph Connections").len(), 5);
}

/// What the program finds is ranked alike by default, and no more is asked than a context shows.
#[test]
fn the_default_ranking_asks_about_the_same_five_concepts() {
    let lab = Lab::new();
    let asked = RANKINGS.map(|ranking| {
        maenifold_lab::answer(&lab.injection(&CLI).env("KGCTX_RANK", ranking).output().unwrap());
        let payloads = lab.payloads("BuildContext");
        fs::remove_file(lab.log()).unwrap();
        let most = if ranking == "notes" { 6 } else { 10 };
        let mut asked: Vec<String> = Vec::new();
        for payload in payloads {
            assert_eq!(payload["maxEntities"], most);
            asked.push(payload["conceptName"].as_str().unwrap().to_owned());
        }
        asked.sort();
        asked
    });
    assert_eq!(asked[0].len(), 5);
    assert_eq!(asked[0], asked[1]);
}

/// T-2.6.1: Context truncated at TOKEN_LIMIT.
#[test]
fn t_2_6_1_what_the_program_says_keeps_to_the_limit() {
    let lab = Lab::new();
    for limit in [0, 60, 120, 200, 300] {
        let output = lab.injection(&CLI).env("TOKEN_LIMIT", limit.to_string()).output().unwrap();
        let answer = maenifold_lab::answer(&output);
        assert_eq!(source(&answer).0, "cli");
        assert!(answer["tokens"].as_u64().unwrap() <= limit, "{answer:#}");
        let n_tokens = tiktoken_rs::o200k_base_singleton().encode_ordinary(text(&answer)).len();
        assert_eq!(answer["tokens"], n_tokens);
    }
}

/// T-2.E.1: Graceful degradation when CLI unavailable.
#[test]
fn t_2_e_1_without_the_program_the_index_answers() {
    let lab = Lab::new();
    let by_index = lab.inject(&["--source", "index"]);
    fs::remove_file(lab.scratch.path().join("bin/maenifold")).unwrap();
    let answer = lab.inject(&CLI);
    assert_eq!(source(&answer).0, "index");
    assert!(faults(&answer).starts_with("maenifold: no maenifold on the PATH"), "{answer:#}");
    assert_eq!(text(&answer), text(&by_index));
    let named = lab.injection(&CLI).env("KGCTX_MAENIFOLD_BIN", "/none/maenifold").output().unwrap();
    let answer = maenifold_lab::answer(&named);
    assert!(faults(&answer).contains("KGCTX_MAENIFOLD_BIN is /none/maenifold"), "{answer:#}");
    assert_eq!(text(&answer), text(&by_index));
}

/// T-2.E.2: Timeout handling for slow CLI.
#[test]
fn t_2_e_2_a_program_that_hangs_is_ended_and_the_index_answers_in_time() {
    let lab = Lab::new();
    let by_index = lab.inject(&["--source", "index"]);
    // The deadline ends the waiting, or the time for one call if that is shorter.
    for (timeout, in_ms, said) in
        [("5000", 2_050, "did not answer"), ("300", 1_000, "did not answer within 300 ms")]
    {
        for hanging in ["hang", "drip:50", "SearchMemories=hang", "RecentActivity=hang"] {
            let started = Instant::now();
            let output = lab
                .injection(&CLI)
                .env("STAND_IN", hanging)
                .env("CLI_TIMEOUT", timeout)
                .env_remove("KGCTX_DEADLINE_MS")
                .output()
                .unwrap();
            let took = started.elapsed();
            let answer = maenifold_lab::answer(&output);
            assert!(took <= Duration::from_millis(in_ms), "{hanging}: {took:?}");
            assert_eq!(source(&answer).0, "index", "{hanging}");
            assert!(faults(&answer).contains(said), "{hanging}: {}", faults(&answer));
            assert_eq!(text(&answer), text(&by_index), "{hanging}");
            nobody_is_left(&lab);
        }
    }
}

/// Also the children of those that were called are gone: a call is a process group of its own.
#[track_caller]
fn nobody_is_left(lab: &Lab) {
    assert!(!lab.calls().is_empty());
    // On a busy machine it is the watchdog that ends them, a moment after kgctx has ended.
    let until = Instant::now() + Duration::from_secs(5);
    while !left(lab).is_empty() && Instant::now() < until {
        thread::sleep(Duration::from_millis(5));
    }
    let left = left(lab);
    assert!(left.is_empty(), "{left:#?}");
}

/// Those of the program's processes that live.
fn left(lab: &Lab) -> Vec<String> {
    let calls = lab.calls();
    let groups: Vec<String> = calls.iter().map(|call| call["pid"].to_string()).collect();
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|process| fs::read_to_string(process.path().join("stat")).ok())
        .filter(|stat| {
            // After the name, which may hold anything: state, parent, group. A dead one is the system's to bury.
            let mut fields = stat.rsplit(')').next().unwrap().split_whitespace();
            let (state, group) = (fields.next(), fields.nth(1));
            state != Some("Z")
                && group.is_some_and(|group| groups.iter().any(|known| known == group))
        })
        .collect()
}

#[test]
fn whoever_is_killed_leaves_no_program_behind() {
    for signal in ["-KILL", "-TERM", "-INT"] {
        let lab = Lab::new();
        let mut command = lab.injection(&CLI);
        let mut kgctx = command.env("STAND_IN", "hang").stdout(Stdio::null()).spawn().unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        while lab.calls().len() < 2 {
            assert!(Instant::now() < until);
            thread::sleep(Duration::from_millis(5));
        }
        // Who is killed at the very moment of a start has not told anybody of it yet.
        thread::sleep(Duration::from_millis(200));
        let pid = kgctx.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        kgctx.wait().unwrap();
        while !left(&lab).is_empty() {
            assert!(Instant::now() < until, "{signal}: {:#?}", left(&lab));
            thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn the_calls_run_side_by_side() {
    let lab = Lab::new();
    // Other tests run beside this one: the best of five counts.
    let took = (0..5).map(|_| {
        let started = Instant::now();
        let answer = lab.inject_with("slow:200", &CLI);
        let took = started.elapsed();
        assert_eq!(source(&answer).0, "cli", "{answer:#}");
        took
    });
    let best = took.min().unwrap();
    let n_rounds = 1 + 5_usize.div_ceil(n_cores());
    // One after the other, they would take seven rounds.
    assert!(best <= Duration::from_millis((n_rounds as u64 + 1) * 200 + 100), "{best:?}");
    assert_eq!(lab.calls().len(), 5 * 7, "two questions, and five concepts");
}

fn n_cores() -> usize {
    thread::available_parallelism().unwrap().get()
}

/// The concepts that the program was asked about, in order. No more calls ran at once than there are cores, but for the
/// two that have always run side by side.
#[track_caller]
fn asked_in_turn(lab: &Lab) -> Vec<String> {
    let log = fs::read_to_string(lab.log()).unwrap();
    let (mut running, mut asked) = (Vec::new(), Vec::new());
    for line in log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        if line["ended_ms"].is_u64() {
            running.retain(|pid| *pid != line["pid"]);
        } else {
            running.push(line["pid"].clone());
        }
        if let Some(concept) = line["payload"]["conceptName"].as_str() {
            asked.push(concept.to_owned());
        }
        assert!(running.len() <= n_cores().max(2), "{log}");
    }
    asked
}

#[test]
fn the_best_concepts_are_asked_first_and_no_more_at_once_than_there_are_cores() {
    let lab = Lab::new();
    let answer = lab.inject(&CLI);
    let concepts = part(text(&answer), "Related Concepts");
    let best: Vec<&str> =
        concepts[..5].iter().map(|line| &line[4..line.find("]]").unwrap()]).collect();
    for ranking in RANKINGS {
        fs::remove_file(lab.log()).unwrap();
        let mut command = lab.injection(&CLI);
        command.env("STAND_IN", "BuildContext=slow:100").env("KGCTX_RANK", ranking);
        maenifold_lab::answer(&command.output().unwrap());
        let asked = asked_in_turn(&lab);
        for (n, concept) in asked.iter().enumerate() {
            // Those that start together may overtake each other.
            let place = best.iter().position(|best| best == concept).unwrap();
            assert!(place.abs_diff(n) < n_cores(), "{ranking}: {asked:?}, and not {best:?}");
        }
        assert_eq!(asked.len(), 5, "{ranking}");
    }
}

#[test]
fn what_comes_too_late_is_the_indexs_and_no_fault() {
    let lab = Lab::new();
    let by_index = lab.inject(&["--source", "index"]);
    let mut command = lab.injection(&CLI);
    command.env("STAND_IN", "BuildContext=hang").env("CLI_TIMEOUT", "300");
    let answer = maenifold_lab::answer(&command.output().unwrap());
    let (by, because) = source(&answer);
    assert_eq!((by, faults(&answer).as_str()), ("cli", ""), "{answer:#}");
    assert!(
        because.starts_with("--source says so; the index adds to it: BuildContext: "),
        "{because}"
    );
    assert!(because.ends_with("(5 of 5 concepts)"), "{because}");
    let graph = part(text(&answer), "Graph Connections");
    assert_eq!((graph.len(), &graph), (5, &part(text(&by_index), "Graph Connections")));
    nobody_is_left(&lab);
}

/// A memory whose hubs are the project's own concept and ten others. `a00` has left every note but not maenifold's graph,
/// where it is the strongest neighbour of all of them: that is how its answers are told from the index's.
fn hubs() -> Lab {
    let lab = Lab::new();
    let write = |links: fn(&u64, &u64) -> bool, also: &str| {
        for n in 0..64 {
            let crew = (1..=10).filter(|member| links(&n, member));
            let crew: String = crew.map(|member| format!(" [[a{member:02}]]")).collect();
            let text = format!("# N{n}\n\n{also}[[zephyr]]{crew}\n");
            lab.note(&format!("crew/n{n}.md"), &text, 600 + n);
        }
    };
    write(|n, member| n % 10 + 1 != *member, "[[a00]] ");
    lab.sync();
    write(|n, _| n % 4 != 0, "");
    lab.inject(&["--source", "index"]);
    lab
}

/// The concepts whose connections a context shows, and whether they are the program's.
fn connections(answer: &Value) -> Vec<(String, bool)> {
    let lines = text(answer).lines().filter(|line| line.contains("]] → [["));
    let concept = |line: &str| line[4..line.find("]]").unwrap()].to_owned();
    lines.map(|line| (concept(line), line.contains("[[a00]]"))).collect()
}

/// Each of the five best concepts takes 0.8 s of processor time. The deadline is none here: how long that takes depends on
/// who else wants the cores, and in which order the answers come does not.
#[test]
fn at_real_costs_the_best_concepts_are_asked_first_and_their_answers_shown() {
    let lab = hubs();
    for ranking in RANKINGS {
        let mut command = lab.injection(&CLI);
        let command = command.env("STAND_IN", "costs").env("KGCTX_RANK", ranking);
        let answer = maenifold_lab::answer(&command.output().unwrap());
        assert_eq!((source(&answer), faults(&answer).as_str()), (("cli", "--source says so"), ""));
        let connections = connections(&answer);
        // By default the graph has a fortieth of the budget.
        assert!(connections.len() >= 2, "{ranking}: {}", text(&answer));
        assert!(connections.iter().all(|(_, is_programs)| *is_programs), "{}", text(&answer));
        let asked = asked_in_turn(&lab);
        assert_eq!((asked.len(), asked[0].as_str()), (5, "zephyr"), "{ranking}: {asked:?}");
        if n_cores() > 1 {
            let log = fs::read_to_string(lab.log()).unwrap();
            let first_end = log.find("ended_ms").unwrap();
            assert!(log.find("BuildContext").unwrap() < first_end, "it waited: {log}");
        }
        fs::remove_file(lab.log()).unwrap();
    }
}

#[test]
fn what_arrives_before_the_deadline_is_shown_and_the_index_tells_the_rest() {
    let lab = hubs();
    for ranking in RANKINGS {
        let inject = |stand_in: &str, deadline: &str| {
            let mut command = lab.injection(&CLI);
            command.env("STAND_IN", stand_in).env("KGCTX_RANK", ranking);
            let output = command.env("KGCTX_DEADLINE_MS", deadline).output().unwrap();
            maenifold_lab::answer(&output)
        };
        let shown = connections(&inject("", "60000"));
        let best: Vec<&str> = shown[..2].iter().map(|(concept, _)| concept.as_str()).collect();
        let others = asked_in_turn(&lab).into_iter().filter(|one| !best.contains(&one.as_str()));
        let hang: Vec<String> = others.map(|concept| format!("{concept}=hang")).collect();
        assert_eq!(hang.len(), 3);
        let started = Instant::now();
        let answer = inject(&hang.join(","), "4000");
        let took = started.elapsed();
        assert!(took < Duration::from_secs(6), "{took:?}");
        assert_eq!((source(&answer).0, faults(&answer).as_str()), ("cli", ""));
        assert!(source(&answer).1.ends_with("(3 of 5 concepts)"), "{}", source(&answer).1);
        let expect: Vec<(String, bool)> =
            shown.iter().enumerate().map(|(n, (concept, _))| (concept.clone(), n < 2)).collect();
        assert_eq!(connections(&answer), expect, "{ranking}");
        nobody_is_left(&lab);
        fs::remove_file(lab.log()).unwrap();
    }
}

#[test]
fn a_fresh_root_is_asked_one_call_at_a_time() {
    let lab = Lab::new();
    fs::remove_dir_all(lab.root().join("assets")).unwrap();
    let answer = lab.inject_with("slow:50", &CLI);
    assert_eq!((source(&answer).0, faults(&answer).as_str()), ("cli", ""));
    let log = fs::read_to_string(lab.log()).unwrap();
    let kinds: Vec<bool> = log.lines().map(|line| line.contains("started_ms")).take(4).collect();
    assert_eq!(kinds, [true, false, true, false], "the second began when the first had ended");
}

#[test]
fn whatever_the_program_says_a_session_has_its_context() {
    let lab = Lab::new();
    let by_index = lab.inject(&["--source", "index"]);
    let well = lab.inject(&CLI);
    // What it does, what the fault says, or that there is none.
    for (mischief, expect) in [
        ("flood", Some("longer than 1024 KiB")),
        ("abort", Some("crashed")),
        ("exit:3", Some("crashed")),
        ("usage", Some("SearchMemories: ")),
        ("unknown-tool", Some("Unknown tool")),
        ("truncated", Some("SearchMemories: ")),
        ("renamed", Some("SearchMemories: ")),
        ("error", Some("SearchMemories: ")),
        ("empty", Some("SearchMemories: ")),
        ("plain", None),
        ("stderr", None),
        ("slow:20", None),
    ] {
        let answer = lab.inject_with(mischief, &CLI);
        match expect {
            Some(said) => {
                assert_eq!(source(&answer).0, "index", "{mischief}: {answer:#}");
                assert!(faults(&answer).contains(said), "{mischief}: {}", faults(&answer));
                assert!(faults(&answer).starts_with("maenifold: "), "{mischief}");
                assert_eq!(text(&answer), text(&by_index), "{mischief}");
            }
            None => {
                assert_eq!(
                    (source(&answer).0, faults(&answer).as_str()),
                    ("cli", ""),
                    "{mischief}"
                );
                assert_eq!(text(&answer), text(&well), "{mischief}");
            }
        }
        nobody_is_left(&lab);
    }
    // What can be understood of it counts.
    let odd = lab.inject_with("bad-utf8", &CLI);
    assert!(!text(&odd).is_empty() && !text(&odd).contains('\u{fffd}'), "{odd:#}");
    let seed = lab.inject_with("seed", &CLI);
    assert_eq!((source(&seed).0, faults(&seed).as_str()), ("cli", ""), "{seed:#}");
    assert!(text(&seed).contains("[[mast]]"), "{seed:#}");
}

#[test]
fn a_concept_that_cannot_be_asked_about_costs_only_itself() {
    let lab = Lab::new();
    let answer = lab.inject_with("BuildContext=error", &CLI);
    assert_eq!(source(&answer).0, "cli");
    assert!(faults(&answer).starts_with("maenifold: BuildContext: "), "{}", faults(&answer));
    assert!(faults(&answer).ends_with(" (5 of 5 concepts)\n"), "{}", faults(&answer));
    assert_eq!(part(text(&answer), "Recent Activity").len(), 5);
    // The index knows, too, what stands around them.
    let by_index = lab.inject(&["--source", "index"]);
    let graph = part(text(&answer), "Graph Connections");
    assert_eq!((graph.len(), &graph), (5, &part(text(&by_index), "Graph Connections")));
}

#[test]
fn the_program_does_not_learn_that_it_runs_in_ci() {
    let lab = Lab::new();
    let mut command = lab.injection(&CLI);
    command.env("CI", "true").env("GITHUB_ACTIONS", "true");
    assert_eq!(source(&maenifold_lab::answer(&command.output().unwrap())).0, "cli");
    let calls = lab.calls();
    assert!(calls.len() == 7 && calls.iter().all(|call| call["ci"] == false), "{calls:#?}");
    let tools = ["SearchMemories", "RecentActivity", "BuildContext"];
    assert!(calls.iter().all(|call| tools.iter().any(|tool| call["tool"] == *tool)));
    assert!(calls.iter().all(|call| call["json"] == true));
}

#[test]
fn other_notes_come_along() {
    let lab = Lab::new();
    lab.scratch
        .write("zephyr/docs/anchor.md", "# Anchor\n\nThe [[Anchor]] of zephyr, by the [[Keel]].\n");
    for source_flag in [["--source", "cli"], ["--source", "database"], ["--source", "index"]] {
        let answer = lab.inject(&source_flag);
        assert_eq!(faults(&answer), "", "{source_flag:?}");
        assert_eq!(source(&answer).0, source_flag[1]);
        let said = text(&answer);
        assert!(
            said.contains("[[anchor]]") && said.contains("[[mast]]"),
            "{source_flag:?}: {said}"
        );
        let keel =
            part(said, "Graph Connections").into_iter().find(|line| line.starts_with("- [[keel]]"));
        assert!(
            keel.is_some_and(|line| line.contains("[[anchor]]") && line.contains("[[hull]]")),
            "{source_flag:?}: {said}"
        );
    }
}

#[test]
fn a_slow_git_does_not_shut_the_program_out() {
    let lab = Lab::new();
    let text_of_note = "# Anchor\n\nThe [[Anchor]] of zephyr, by the [[Keel]].\n";
    lab.scratch.write("zephyr/docs/anchor.md", text_of_note);
    let zephyr = lab.scratch.path().join("zephyr");
    git(&zephyr, &["add", "--all"]);
    git(&zephyr, &["commit", "-q", "-m", "notes"]);
    let slow_git = lab.scratch.write("bin/git", "#!/bin/sh\nexec sleep 15\n");
    fs::set_permissions(slow_git, fs::Permissions::from_mode(0o755)).unwrap();
    let started = Instant::now();
    let answer = lab.inject(&["--source", "cli"]);
    assert!(started.elapsed() < Duration::from_secs(12), "{:?}", started.elapsed());
    assert_eq!(source(&answer).0, "cli", "{answer}");
    let said = text(&answer);
    assert!(said.contains("[[anchor]]") && said.contains("[[mast]]"), "{said}");
}

#[test]
fn calls_carry_no_shell() {
    let lab = Lab::new();
    let odd = lab.scratch.path().join("ze'ph\"yr $(touch x); `y` 船");
    fs::create_dir_all(odd.join(".kgctx")).unwrap();
    let mut command = lab.injection(&CLI);
    command.args(["--dir"]).arg(&odd);
    maenifold_lab::answer(&command.output().unwrap());
    let query: Vec<Value> = lab.payloads("SearchMemories");
    assert_eq!(query[0]["query"], "ze'ph\"yr $(touch x); `y` 船");
}
