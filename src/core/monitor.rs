//! How full a session's context is: levels, and where the numbers behind them come from. Reads no transcript.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::core::named::named;
use crate::core::settings::MonitorSettings;

/// The window of a model that is not known.
const DEFAULT_WINDOW: u64 = 200_000;
/// Windows of models by the beginning of their names, as Claude Code was seen to report them.
const WINDOWS: [(&str, u64); 5] = [
    ("claude-opus-5-5", 1_000_000),
    ("claude-sonnet-5-5", 1_000_000),
    ("claude-haiku-5-5", 1_000_000),
    ("claude-sonnet-4-5", 200_000),
    ("claude-haiku-4-5", 200_000),
];
/// The end of the name of a model with a window of a million tokens.
const MILLION: &str = "[1m]";
/// Claude Code compacts by itself when only so many tokens of the window are left.
const COMPACTION_RESERVE: u64 = 33_000;
/// A context is critical at the latest so many tokens before that: a handoff must still fit.
const LAST_ROOM: u64 = 20_000;
/// The levels by the size of a transcript, in KiB, for a window of 200,000 tokens: where no usage can be read.
const KIB: [u64; 3] = [1_300, 1_500, 1_700];

/// How full a context is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Level {
    #[serde(rename = "OK")]
    Ok,
    #[serde(rename = "EARLY_WARN")]
    EarlyWarn,
    #[serde(rename = "WARN")]
    Warn,
    #[serde(rename = "CRITICAL")]
    Critical,
}

named!(Level { Ok = "OK", EarlyWarn = "EARLY_WARN", Warn = "WARN", Critical = "CRITICAL" });

/// Where the number of tokens comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TokenSource {
    /// The usage of the last answer in the transcript.
    Transcript,
    /// What the transcript says is left after a compaction.
    Compaction,
    /// The host's status line.
    StatusLine,
    /// The host's own messages, by a bridge.
    Messages,
}

/// Where the size of the window comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowSource {
    StatusLine,
    /// The host's list of models, by a bridge.
    Host,
    Setting,
    /// The table of models.
    Model,
    /// More tokens were used than the window was believed to have.
    Usage,
    Default,
}

named!(TokenSource {
    Transcript = "transcript",
    Compaction = "compaction",
    StatusLine = "status line",
    Messages = "messages",
});
named!(WindowSource {
    StatusLine = "status line",
    Host = "host",
    Setting = "setting",
    Model = "model",
    Usage = "usage",
    Default = "default",
});

/// What was measured of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Measurement {
    /// The tokens in the context, where that is from, and when it was written, in milliseconds since 1970.
    pub tokens: Option<(u64, TokenSource, Option<i64>)>,
    /// The model as it was asked for.
    pub model: Option<String>,
    /// The size of the transcript.
    pub bytes: Option<u64>,
    /// When the conversation was last replaced by a summary, as far as that was seen.
    pub compacted_ms: Option<i64>,
    /// The window, by the status line or by a bridge.
    pub window: Option<u64>,
    /// The tokens that the host keeps free, if a bridge told the window.
    pub reserve: Option<u64>,
    /// How many tokens there were when the host last compacted by itself.
    pub compacted_at: Option<u64>,
    /// The window that the user lets the host fill.
    pub compaction_window: Option<u64>,
}

/// How full a context is, and why that is believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fill {
    pub level: Level,
    /// `None`: nothing is known but the size of the transcript.
    pub tokens: Option<(u64, TokenSource, Option<i64>)>,
    pub window: (u64, WindowSource),
    /// Of the window.
    pub percent: Option<u64>,
    pub bytes: Option<u64>,
}

/// What an agent can do about a context that fills up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WayOut {
    /// Leave a handoff to another session.
    Handoff,
    /// Go on in a fresh context by itself.
    Rotation,
}

impl Measurement {
    pub fn fill(&self, settings: &MonitorSettings) -> Fill {
        let (tokens, bytes) = (self.tokens, self.bytes);
        let used = tokens.map(|(used, ..)| used);
        let window = window(self, used.unwrap_or_default(), &settings.windows.value);
        let level = match used {
            Some(used) => self.level_of_tokens(used, window.0, settings),
            None => level_of_bytes(bytes.unwrap_or_default(), window),
        };
        let percent = used.map(|used| used * 100 / window.0.max(1));
        Fill { level, tokens, window, percent, bytes }
    }

    fn level_of_tokens(&self, used: u64, window: u64, settings: &MonitorSettings) -> Level {
        let early = settings.early_warn_percent.value;
        let limits = [early, settings.warn_percent.value, settings.critical_percent.value];
        let mut limits = limits.map(|percent| percent.of(window as usize) as u64);
        let usable = self.compaction_window.map_or(window, |less| less.min(window));
        let reserve = usable.saturating_sub(self.reserve.unwrap_or(COMPACTION_RESERVE));
        let full = self.compacted_at.map_or(reserve, |seen| seen.min(usable));
        // In a small window, half of it is all there is.
        limits[2] = limits[2].min(full.saturating_sub(LAST_ROOM).max(full / 2));
        level(used, limits)
    }
}

fn level(used: u64, [early, warn, critical]: [u64; 3]) -> Level {
    match used {
        used if used >= critical => Level::Critical,
        used if used >= warn => Level::Warn,
        used if used >= early => Level::EarlyWarn,
        _ => Level::Ok,
    }
}

fn level_of_bytes(bytes: u64, (window, source): (u64, WindowSource)) -> Level {
    let window = if source == WindowSource::Default { DEFAULT_WINDOW } else { window };
    level(bytes, KIB.map(|kib| (kib * 1_024).saturating_mul(window) / DEFAULT_WINDOW))
}

fn window(measured: &Measurement, used: u64, set: &BTreeMap<String, u64>) -> (u64, WindowSource) {
    let model = measured.model.as_deref().unwrap_or_default();
    let by_setting = || set.get(model).or_else(|| set.get("*")).copied();
    let by_model = || {
        let is_it = |(name, _): &&(&str, u64)| model.starts_with(name);
        let known = WINDOWS.iter().find(is_it).map(|(_, window)| *window);
        if model.ends_with(MILLION) { Some(1_000_000) } else { known }
    };
    let known = |window: Option<u64>, source| {
        window.filter(|window| *window > 0).map(|window| (window, source))
    };
    let told_by = measured.reserve.map_or(WindowSource::StatusLine, |_| WindowSource::Host);
    let (window, source) = known(measured.window, told_by)
        .or_else(|| known(by_setting(), WindowSource::Setting))
        .or_else(|| known(by_model(), WindowSource::Model))
        .unwrap_or((DEFAULT_WINDOW, WindowSource::Default));
    // A window that holds more than it can was not the window.
    match used > window {
        true if used <= DEFAULT_WINDOW => (DEFAULT_WINDOW, WindowSource::Usage),
        true => (used.max(1_000_000), WindowSource::Usage),
        false => (window, source),
    }
}

impl Fill {
    /// The seed's form: the level, and the size of the transcript.
    pub fn status_and_size(&self) -> String {
        format!("{}:{}", self.level, size(self.bytes.unwrap_or_default()))
    }

    /// What the agent is told once at this level; `None` if there is nothing to tell.
    pub fn notice(&self, way_out: WayOut) -> Option<String> {
        let full = match self.percent {
            Some(percent) => format!("{percent} % full"),
            None => "filling up".to_owned(),
        };
        let soon = match self.level {
            Level::Ok | Level::EarlyWarn => return None,
            Level::Warn => "",
            Level::Critical => ", and a summary will soon replace it",
        };
        let way_out = match way_out {
            WayOut::Rotation => {
                "To continue in a fresh context, run `kgctx handoff rotate --goal … --next …` as the last step of a turn; it \
                 stores the state of the work."
            }
            WayOut::Handoff => {
                "To leave work for a fresh session, run `kgctx handoff create --goal … --next …`, which stores its state."
            }
        };
        Some(format!("kgctx: the context of this session is {full}{soon}. {way_out}"))
    }
}

/// A size in KB, and from one MiB on in MB with one decimal place.
fn size(bytes: u64) -> String {
    const MIB: u64 = 1_024 * 1_024;
    match bytes < MIB {
        true => format!("{}KB", bytes / 1_024),
        false => format!("{:.1}MB", bytes as f64 / MIB as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(used: u64, model: &str) -> Measurement {
        Measurement {
            tokens: Some((used, TokenSource::Transcript, None)),
            model: Some(model.to_owned()),
            ..Measurement::default()
        }
    }

    fn fill(measurement: &Measurement) -> Fill {
        measurement.fill(&MonitorSettings::default())
    }

    #[test]
    fn a_1_26_the_seeds_levels_and_words_where_only_the_size_is_known() {
        //
        let of = |bytes: u64| fill(&Measurement { bytes: Some(bytes), ..Measurement::default() });
        for (kib, level, words) in [
            (0, Level::Ok, "OK:0KB"),
            (1_023, Level::Ok, "OK:1023KB"),
            (1_024, Level::Ok, "OK:1.0MB"),
            (1_300, Level::EarlyWarn, "EARLY_WARN:1.3MB"),
            (1_499, Level::EarlyWarn, "EARLY_WARN:1.5MB"),
            (1_500, Level::Warn, "WARN:1.5MB"),
            (1_700, Level::Critical, "CRITICAL:1.7MB"),
        ] {
            let fill = of(kib * 1_024);
            assert_eq!((fill.level, fill.status_and_size().as_str()), (level, words));
        }
        assert_eq!(of(1_300 * 1_024 - 1).level, Level::Ok);
        // In a larger window, more fits.
        let model = Some("claude-opus-5-5".to_owned());
        let large = Measurement { bytes: Some(1_700 * 1_024), model, ..Measurement::default() };
        assert_eq!(fill(&large).level, Level::Ok);
    }

    #[test]
    fn a_1_27_levels_are_shares_of_the_window_and_the_last_one_leaves_room_for_a_handoff() {
        //
        for (used, model, level, percent) in [
            (79_999, "claude-sonnet-4-5-20250929", Level::Ok, 39),
            (80_000, "claude-sonnet-4-5-20250929", Level::EarlyWarn, 40),
            (100_000, "claude-sonnet-4-5-20250929", Level::Warn, 50),
            (130_000, "claude-sonnet-4-5-20250929", Level::Critical, 65),
            (130_000, "claude-sonnet-4-5[1m]", Level::Ok, 13),
            (400_000, "claude-opus-5-5", Level::EarlyWarn, 40),
            (649_999, "claude-opus-5-5", Level::Warn, 64),
            (650_000, "claude-opus-5-5", Level::Critical, 65),
            (100_000, "someone/else", Level::Warn, 50),
        ] {
            let fill = fill(&tokens(used, model));
            assert_eq!((fill.level, fill.percent), (level, Some(percent)), "{used} {model}");
        }
        // The host compacts earlier than the window suggests.
        let early = |compaction_window, compacted_at| Measurement {
            compaction_window,
            compacted_at,
            ..tokens(47_000, "claude-opus-5-5")
        };
        assert_eq!(fill(&early(None, None)).level, Level::Ok);
        assert_eq!(fill(&early(Some(100_000), None)).level, Level::Critical);
        assert_eq!(fill(&early(None, Some(60_000))).level, Level::Critical);
        assert_eq!(fill(&early(Some(101_000), None)).level, Level::Ok);
        assert_eq!(fill(&early(Some(0), None)).level, Level::Critical, "whatever that may mean");
    }

    #[test]
    fn a_1_27_the_window_is_what_the_host_says_else_what_the_user_says_else_what_is_known() {
        let mut settings = MonitorSettings::default();
        let of =
            |measured: &Measurement, settings: &MonitorSettings| measured.fill(settings).window;
        let model = tokens(1, "claude-sonnet-4-5");
        assert_eq!(of(&model, &settings), (200_000, WindowSource::Model));
        assert_eq!(of(&tokens(1, "gateway/x"), &settings), (200_000, WindowSource::Default));
        settings.windows.value = BTreeMap::from([("gateway/x".to_owned(), 128_000)]);
        assert_eq!(of(&tokens(1, "gateway/x"), &settings), (128_000, WindowSource::Setting));
        assert_eq!(of(&model, &settings), (200_000, WindowSource::Model));
        settings.windows.value.insert("*".to_owned(), 64_000);
        assert_eq!(of(&model, &settings), (64_000, WindowSource::Setting));
        let told = Measurement { window: Some(1_000_000), ..model };
        assert_eq!(of(&told, &settings), (1_000_000, WindowSource::StatusLine));
        // More than a window holds proves another one.
        let none = MonitorSettings::default();
        assert_eq!(
            of(&tokens(200_001, "claude-sonnet-4-5"), &none),
            (1_000_000, WindowSource::Usage)
        );
        assert_eq!(of(&tokens(65_000, "gateway/x"), &settings), (128_000, WindowSource::Setting));
        assert_eq!(of(&tokens(65_000, "y"), &settings), (200_000, WindowSource::Usage));
        assert_eq!(of(&tokens(2_000_000, "y"), &none), (2_000_000, WindowSource::Usage));
    }

    #[test]
    fn only_the_last_two_levels_are_told() {
        for (used, is_told) in [(1, false), (80_000, false), (100_000, true), (150_000, true)] {
            let notice = fill(&tokens(used, "claude-sonnet-4-5")).notice(WayOut::Handoff);
            assert_eq!(notice.is_some(), is_told, "{used}: {notice:?}");
        }
        // where a session can rotate, its agent is asked to.
        for (way_out, command) in
            [(WayOut::Handoff, "kgctx handoff create"), (WayOut::Rotation, "kgctx handoff rotate")]
        {
            for (used, full) in
                [(104_000, "52 % full. "), (140_000, "70 % full, and a summary will soon")]
            {
                let notice = fill(&tokens(used, "claude-sonnet-4-5")).notice(way_out).unwrap();
                assert!(notice.contains(full) && notice.contains(command), "{notice}");
            }
        }
    }
}
