//! Claude Code's arguments: how a session is followed by a new one that is started in the same way.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Options of Claude Code 2.1.325 without a value.
const FLAGS: [&str; 32] = [
    "--allow-dangerously-skip-permissions",
    "--ax-screen-reader",
    "--bare",
    "--bg",
    "--background",
    "--brief",
    "--chrome",
    "--no-chrome",
    "--dangerously-skip-permissions",
    "--desktop",
    "--disable-slash-commands",
    "--exclude-dynamic-system-prompt-sections",
    "--forward-subagent-text",
    "-h",
    "--help",
    "--ide",
    "--include-hook-events",
    "--include-partial-messages",
    "--no-session-persistence",
    "-p",
    "--print",
    "--replay-user-messages",
    "--restricted",
    "--safe-mode",
    "--strict-mcp-config",
    "--verbose",
    "-v",
    "--version",
    "-c",
    "--continue",
    "--fork-session",
    "--tmux",
];
/// Options that take every word up to the next option.
const LISTS: [&str; 9] = [
    "--add-dir",
    "--allowedTools",
    "--allowed-tools",
    "--betas",
    "--disallowedTools",
    "--disallowed-tools",
    "--file",
    "--mcp-config",
    "--tools",
];
/// Options that name a session, or make a folder for one. The new session has its own, in the folder of the old one.
const OF_SESSION: [&str; 11] = [
    "-c",
    "--continue",
    "-r",
    "--resume",
    "--session-id",
    "--fork-session",
    "--from-pr",
    "--teleport",
    "-w",
    "--worktree",
    "--tmux",
];

/// Where the arguments of Claude Code begin in a command, which may name other programs before it; `None` if it does not
/// run Claude Code.
pub fn begin(command: &[OsString]) -> Option<usize> {
    let is_program = |word: &OsString| {
        let name = Path::new(word).file_name().map(OsStr::to_string_lossy);
        name.is_some_and(|name| name.contains("claude"))
            && !word.as_encoded_bytes().starts_with(b"-")
            && !is_assignment(word)
    };
    command.iter().position(is_program).map(|at| at + 1)
}

/// Whether a word sets a variable, for `env` or a shell: `CLAUDE_CONFIG_DIR=/home/ada/.claude` is no program.
fn is_assignment(word: &OsStr) -> bool {
    let mut parts = word.as_encoded_bytes().splitn(2, |byte| *byte == b'=');
    let name = parts.next().unwrap_or_default();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    parts.next().is_some() && !name.is_empty() && name.iter().all(is_name)
}

/// The command that starts Claude Code with one more prompt. It comes first: the last option may take all that follows.
pub fn with_prompt(command: &[OsString], prompt: &str) -> Option<Vec<OsString>> {
    let (program, arguments) = command.split_at(begin(command)?);
    Some(joined(program, prompt, arguments.iter()))
}

/// The command that starts a new session as the last one was started, with another prompt.
pub fn again(command: &[OsString], prompt: &str) -> Option<Vec<OsString>> {
    let (program, arguments) = command.split_at(begin(command)?);
    let mut kept = Vec::new();
    let mut rest = arguments.iter().peekable();
    while let Some(word) = rest.next() {
        let text = word.to_string_lossy();
        if text == "--" {
            // Only prompts follow.
            break;
        }
        if !text.starts_with('-') || text == "-" {
            continue;
        }
        let (name, value) = match text.split_once('=') {
            Some((name, _)) => (name, true),
            None => (&*text, false),
        };
        let is_value = |word: &&OsString| !word.as_encoded_bytes().starts_with(b"-");
        let mut words = vec![word];
        match name {
            _ if value || FLAGS.contains(&name) => {}
            // Whatever follows an option of a later version may be its value, and a prompt less is no loss.
            _ => words.extend(rest.next_if(is_value)),
        }
        while !value && LISTS.contains(&name) && rest.peek().is_some_and(is_value) {
            words.extend(rest.next());
        }
        if !OF_SESSION.contains(&name) {
            kept.extend(words);
        }
    }
    Some(joined(program, prompt, kept.into_iter()))
}

fn joined<'a>(
    program: &[OsString],
    prompt: &str,
    arguments: impl Iterator<Item = &'a OsString>,
) -> Vec<OsString> {
    let words = program.iter().cloned().chain([OsString::from(prompt)]);
    words.chain(arguments.cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn a_1_42_a_new_session_is_started_as_the_old_one_was() {
        // A-1.42: no flag is added, and none is lost that does not name the old session.
        for (command, expected) in [
            ("claude", "claude GO"),
            ("/opt/bin/claude fix-it", "/opt/bin/claude GO"),
            ("claude --model opus fix-it", "claude GO --model opus"),
            ("claude fix-it --model opus", "claude GO --model opus"),
            ("claude --model=opus -- fix -it", "claude GO --model=opus"),
            ("claude --verbose fix-it --ide", "claude GO --verbose --ide"),
            ("claude --add-dir a b --chrome fix-it", "claude GO --add-dir a b --chrome"),
            ("claude --allowedTools Bash Edit", "claude GO --allowedTools Bash Edit"),
            ("claude -c --model opus", "claude GO --model opus"),
            ("claude --resume --model opus", "claude GO --model opus"),
            ("claude -r abc --model opus", "claude GO --model opus"),
            ("claude --resume=abc --fork-session x", "claude GO"),
            ("claude --session-id 1-2 --from-pr 7 --effort max", "claude GO --effort max"),
            ("claude -w tree --tmux fix-it", "claude GO"),
            (
                "claude --worktree --dangerously-skip-permissions fix",
                "claude GO --dangerously-skip-permissions",
            ),
            ("claude --of-tomorrow value fix-it", "claude GO --of-tomorrow value"),
            (
                "npx -y @anthropic-ai/claude-code fix --model x",
                "npx -y @anthropic-ai/claude-code GO --model x",
            ),
            ("env A=b claude fix", "env A=b claude GO"),
            (
                "env CLAUDE_CONFIG_DIR=/home/ada/.claude claude fix",
                "env CLAUDE_CONFIG_DIR=/home/ada/.claude claude GO",
            ),
            ("/opt/a=b/claude fix", "/opt/a=b/claude GO"),
        ] {
            assert_eq!(again(&words(command), "GO"), Some(words(expected)), "{command}");
        }
        assert_eq!(again(&words("codex fix"), "GO"), None);
        assert_eq!(again(&words("env A=/x/claude codex"), "GO"), None);
    }

    #[test]
    fn a_prompt_comes_before_options_that_would_take_it() {
        let command = words("claude --allowedTools Bash");
        let expected = words("claude GO --allowedTools Bash");
        assert_eq!(with_prompt(&command, "GO"), Some(expected));
        assert_eq!(with_prompt(&words("codex"), "GO"), None);
    }
}
