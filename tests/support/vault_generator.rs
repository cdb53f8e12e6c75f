//! Makes vaults of any size, the same for the same seed: concept notes, dated work notes, links drawn by Zipf's law
//! so that a few hubs get most of them, and links in code that must not count.

use std::fs::{self, File, FileTimes};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A generator of numbers (SplitMix64): small, good enough, and the same everywhere.
#[derive(Debug, Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len())]
    }

    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

const HEADS: &[&str] = &[
    "auth",
    "session",
    "token",
    "cache",
    "graph",
    "index",
    "query",
    "retry",
    "queue",
    "worker",
    "schema",
    "migration",
    "vector",
    "search",
    "budget",
    "parser",
    "planner",
    "scheduler",
    "socket",
    "buffer",
    "stream",
    "ledger",
    "payment",
    "invoice",
    "webhook",
    "tenant",
    "policy",
    "audit",
    "metric",
    "trace",
    "deploy",
    "release",
    "rollback",
    "snapshot",
    "backup",
    "shard",
    "replica",
    "quorum",
    "lease",
    "lock",
    "allocator",
    "codec",
];
const TAILS: &[&str] = &[
    "service",
    "layer",
    "rotation",
    "expiry",
    "design",
    "limits",
    "failure",
    "recovery",
    "tests",
    "ordering",
    "invariants",
    "hot-path",
    "contention",
    "timeout",
    "backpressure",
    "rollout",
    "naming",
    "ownership",
    "lifecycle",
    "format",
    "encoding",
    "compaction",
    "ranking",
    "decay",
    "pruning",
    "isolation",
    "discovery",
    "bootstrap",
    "latency",
    "throughput",
    "memory use",
    "cold start",
    "drift",
    "validation",
    "escaping",
    "paging",
];
const WORDS: &[&str] = &[
    "the",
    "a",
    "under",
    "before",
    "after",
    "because",
    "when",
    "load",
    "restart",
    "request",
    "path",
    "state",
    "row",
    "node",
    "edge",
    "file",
    "limit",
    "caller",
    "reply",
    "result",
    "error",
    "case",
    "change",
    "window",
    "owner",
    "value",
    "key",
    "small",
    "large",
    "slow",
    "fast",
    "stale",
    "fresh",
    "first",
    "second",
    "only",
    "still",
    "never",
    "twice",
    "each",
    "every",
    "again",
    "without",
    "inside",
    "outside",
    "between",
    "against",
    "through",
    "default",
    "explicit",
    "größer",
    "日本語",
    "naïve",
];

/// The newest note of every vault: 2026-11-15 12:00 UTC.
pub(crate) const END_SECONDS: u64 = 1_794_744_000;

/// The n-th concept's name.
pub(crate) fn concept(n: usize) -> String {
    let (head, tail) = (HEADS[n % HEADS.len()], TAILS[n / HEADS.len() % TAILS.len()]);
    match n / (HEADS.len() * TAILS.len()) {
        0 => format!("{head} {tail}"),
        generation => format!("{head} {tail} v{}", generation + 1),
    }
}

/// Writes a vault of `n_notes` notes below `root`.
pub(crate) fn generate(root: &Path, n_notes: usize, seed: u64) {
    let mut random = Random(seed);
    let n_concepts = (n_notes * 2 / 5).max(10);
    let mut cumulative = Vec::with_capacity(n_concepts);
    let mut sum = 0.0;
    for rank in 1..=n_concepts {
        sum += 1.0 / (rank as f64).powf(1.05);
        cumulative.push(sum);
    }
    let zipf = |random: &mut Random| {
        let at = random.share() * sum;
        cumulative.partition_point(|&c| c < at).min(n_concepts - 1)
    };
    let sentence = |random: &mut Random| {
        let words: Vec<&str> = (0..8 + random.below(11)).map(|_| random.pick(WORDS)).collect();
        format!("{}.", words.join(" "))
    };
    for n in 0..n_notes {
        let age_seconds = (-(1.0 - random.share()).ln() * 30.0 * 86_400.0) as u64;
        let written = END_SECONDS - age_seconds.min(120 * 86_400);
        let (folder, title) = if n < n_concepts {
            ("concepts".to_owned(), concept(n))
        } else {
            let topic = concept(zipf(&mut random));
            (format!("work/proj-{}/{}", n % 4, written / 2_592_000), format!("Changed {topic} {n}"))
        };
        let tags: Vec<&str> = (0..3).map(|_| random.pick(HEADS)).collect();
        let created = written as i64;
        let mut text = format!(
            "---\ntitle: {title}\ntype: note\ntags: [{}]\ncreated: {}\nstatus: saved\n---\n\n# {title}\n\n",
            tags.join(", "),
            kgctx::core::time::Timestamp::from_seconds(created),
        );
        for _ in 0..2 + random.below(4) {
            text += &sentence(&mut random);
            text.push(' ');
        }
        text += "\n\n## Observations\n";
        for _ in 0..2 + random.below(4) {
            text += &format!("- [fact] {} #{}\n", sentence(&mut random), random.pick(&tags));
        }
        text += "\n## Notes\n\n";
        let links = 3 + random.below(8);
        for link in 0..links {
            let target = concept(zipf(&mut random));
            if link < links / 2 {
                text += &format!(
                    "{} See [[{target}]] {}\n\n",
                    sentence(&mut random),
                    sentence(&mut random)
                );
            } else {
                text += &format!("- relates_to [[{target}]]\n");
            }
        }
        if random.below(10) < 3 {
            text += "\n```sh\n[[ -f x ]] && echo [[not-a-link]]\n```\n\nInline `[[not-a-link]]`. <!-- [[not-a-link]] -->\n";
        }
        write(
            &root.join(folder),
            &format!("{}.md", title.to_lowercase().replace(' ', "-")),
            &text,
            written,
        );
    }
}

/// Writes one file with a time of its own.
pub(crate) fn write(folder: &Path, name: &str, text: &str, written: u64) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = File::create(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let time: SystemTime = UNIX_EPOCH + Duration::from_secs(written);
    file.set_times(FileTimes::new().set_modified(time)).unwrap();
}
