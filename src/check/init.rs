//! `kgctx check --init`: writes a `[check]` section with all settings, and a baseline.

use crate::check::baseline;
use crate::check::finding::Rule;
use crate::check::report::CheckReport;
use crate::check::repository::{Repository, SETTINGS};
use crate::check::settings::toml_text::quoted;
use crate::check::{CheckError, CheckRequest, check};
use crate::core::host::Host;
use crate::core::named::in_words;

#[derive(Debug)]
pub struct Initialized {
    /// Whether the settings file is new.
    pub is_new: bool,
    pub baseline: String,
    pub report: CheckReport,
}

pub fn init(request: &CheckRequest) -> Result<Initialized, CheckError> {
    let repository = Repository::find(request)?;
    if repository.file.has_check {
        let message = "kgctx.toml already has a [check] section; edit it, or remove it first";
        return Err(CheckError::Wrong(message.to_owned()));
    }
    if repository.has_unread_settings() {
        let reason = "it exists, but git ignores it, or it is a link or too large; make it a regular file that git \
            tracks";
        return Err(CheckError::refused(SETTINGS, reason));
    }
    // Checks this before writing the first file: it writes both files or none.
    baseline::may_write(&repository)?;
    let old = repository.text.as_deref().unwrap_or_default();
    let gap = match old {
        "" => "",
        old if old.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let text = format!("{old}{gap}{}", section(&repository.project));
    repository.tree.write(SETTINGS, &text)?;
    let request = CheckRequest { updates_baseline: true, ..request.clone() };
    let report = check(&request)?;
    let baseline = repository.file.settings.baseline.clone();
    Ok(Initialized { is_new: repository.text.is_none(), baseline, report })
}

/// The section with the defaults as comments. Sets only the project's name, because clones can have
/// other folder names.
fn section(project: &str) -> String {
    let project = format!("project = {}", quoted(project));
    let rules = Rule::ALL.iter().map(|rule| {
        let line = format!("# {} = \"{}\"", rule.id(), rule.default_severity());
        format!("{line:<36} # {}\n", rule.summary())
    });
    let rules: String = rules.collect();
    let hosts = in_words(Host::with_limits());
    format!(
        "# Rules for the contexts of this repository's sessions: see `kgctx check --help`.\n\
         [check]\n\
         {project:<35} # default: the name of the origin or folder, which may differ between clones\n\
         # baseline = \".kgctx/check.json\"    # the accepted state; `kgctx check --update-baseline` writes it\n\
         # handoffs = [\".kgctx/handoffs\"]    # folders of committed handoffs\n\
         # growth_tokens = 200               # the most tokens that a change may add to a session's context\n\
         # giant_percent = 25                # the largest share of all tokens that one note may have\n\
         \n\
         [check.rules]                       # off, warn or error\n\
         {rules}\
         \n\
         [check.budget]                      # in tokens; [check.budget.claude-code] is for one host\n\
         # total = 4000\n\
         # handoff = 2000\n\
         # notes = 2500\n\
         # graph = 500\n\
         # files = 1000\n\
         # concepts = 1500                   # only with rank = \"frequency\"\n\
         # recent = 1000                     # only with rank = \"frequency\"\n\
         \n\
         [check.static]                      # files that hosts read by themselves, in tokens\n\
         # \"**/AGENTS.md\" = 2500\n\
         \n\
         # [[check.session]]                 # by default one per host, at the top\n\
         # name = \"web\"\n\
         # dir = \"packages/web\"\n\
         # host = \"claude-code\"              # {hosts}\n\
         # budget = 4000\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::settings::CheckSettings;
    use crate::check::settings::file::read;

    #[test]
    fn the_section_changes_nothing_and_every_comment_in_it_can_be_used() {
        let written = section("at\"las");
        let only_named =
            CheckSettings { project: Some("at\"las".to_owned()), ..CheckSettings::default() };
        assert_eq!(read("kgctx.toml", &written).unwrap().settings, only_named);
        let (head, rest) = written.split_once('\n').unwrap();
        assert!(head.starts_with("# Rules"));
        let used: String = rest
            .lines()
            .map(|line| format!("{}\n", line.strip_prefix("# ").unwrap_or(line)))
            .collect();
        let file = read("kgctx.toml", &used).unwrap();
        assert_eq!(file.unknown, []);
        assert_eq!(file.settings.sessions.len(), 1);
        assert_eq!(file.settings.severities.len(), Rule::ALL.len());
        let defaults = CheckSettings::default();
        assert_eq!(file.settings.growth_tokens, defaults.growth_tokens);
        assert_eq!(file.settings.giant_percent, defaults.giant_percent);
        assert_eq!(file.settings.baseline, defaults.baseline);
        assert_eq!(file.settings.handoffs, defaults.handoffs);
        for rule in Rule::ALL {
            assert_eq!(file.settings.severity(rule), rule.default_severity());
        }
    }
}
