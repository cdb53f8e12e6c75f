//! Rules about link targets: `dangling-link` and `ambiguous-link`.
//!
//! **dangling-link** checks notes, handoffs and static files. A markdown link, an image or a link
//! definition dangles if the repository has no such file or folder, relative to the file's folder,
//! the top (`/path`), the vault, or as the site generator around it resolves links (`sites`). The
//! ending `.md` can be omitted. Skips links with a scheme, links that leave the repository, pages
//! of the repository's host (`../../issues`), pages that git ignores, headings (`#part`),
//! placeholders, files below a top folder that the repository does not have (`/img/x.png`), links whose source the same line
//! shows as code, and links in code or HTML. A `memory://` address dangles if it names a vault of this repository and no note
//! in it. A `[[link]]` dangles only under `links = "obsidian"`, if no note has that title, alias,
//! file name or path, and no other file has that name: in maenifold, a concept needs no note. Templates are not
//! checked, and where more than a third of the links in a folder dangle, one warning says so.
//!
//! **ambiguous-link** checks `[[links]]` in the same files: two or more notes have that name, and
//! none has it as a better kind of name. The kinds, best first: path, title, alias, file name.

mod host_page;
mod resolver;
mod samples;
mod unknown_way;
mod view;

use std::ops::Range;
use std::sync::Arc;

use super::checked_files::{CheckedFile, CheckedFiles, Problem};
use super::{frozen, text_file, tree};
use resolver::LinkKind;
pub(super) use resolver::{LinkTarget, ResolvedLink, Resolver};

/// Endings of files that a link without a folder can name.
const FILE_ENDINGS: [&str; 12] = [
    ".md", ".mdx", ".txt", ".png", ".jpg", ".jpeg", ".svg", ".gif", ".pdf", ".json", ".yaml",
    ".html",
];

/// The problems with those links that `pick` selects, with the message and hint from `describe`.
fn problems<'c, T>(
    checked: &'c CheckedFiles<'_>,
    summary: &str,
    pick: impl Fn(&CheckedFile<'_>, &LinkTarget) -> Option<T>,
    describe: impl Fn(&CheckedFile<'_>, &Range<usize>, T) -> (String, String),
) -> Vec<Problem<'c>> {
    let mut problems = Vec::new();
    for (file, links) in checked.files.iter().zip(&checked.links) {
        let picked =
            links.iter().filter_map(|link| Some((link.range.clone(), pick(file, &link.target)?)));
        let describe = |range: &Range<usize>, target| describe(file, range, target);
        problems.extend(file.problems(picked.collect(), summary, describe));
    }
    problems
}

pub(super) fn dangling<'c>(checked: &'c CheckedFiles<'_>) -> Vec<Problem<'c>> {
    let unknown = unknown_way::folders(checked);
    let is_known = |file: &CheckedFile<'_>, kind: LinkKind| {
        let is_in = |folder: &str| tree::below(folder, file.path).is_some();
        let is_unknown = || file.vault.is_some() && unknown.iter().any(|(folder, _)| is_in(folder));
        !(frozen::is_template(file.path) || kind == LinkKind::Page && is_unknown())
    };
    let mut dangling: Vec<Problem<'c>> = unknown
        .iter()
        .filter_map(|(folder, links)| unknown_way_in(checked, folder, *links))
        .collect();
    dangling.extend(each_dangling(checked, &is_known));
    dangling
}

/// The warning about a folder of which many links dangle, at the first of them.
fn unknown_way_in<'c>(
    checked: &'c CheckedFiles<'_>,
    folder: &str,
    links: unknown_way::Links,
) -> Option<Problem<'c>> {
    let is_missing = |link: &&ResolvedLink| {
        matches!(link.target, LinkTarget::Missing { kind: LinkKind::Page, .. })
    };
    let mut below = checked.notes().filter(|(_, file)| tree::below(folder, file.path).is_some());
    let (file, link) = below
        .find_map(|(number, file)| Some((file, checked.links[number].iter().find(is_missing)?)))?;
    let place = if folder.is_empty() { "the repository" } else { folder };
    let message = format!(
        "{} of {} links between the notes of {} lead nowhere: kgctx does not know how its site finds pages",
        links.missing,
        links.all,
        text_file::shown(place)
    );
    let hint =
        "if the site finds them, set dangling-link to off in [check.rules]; else fix the links";
    Some(file.problem(link.range.clone(), message, hint).doubtful())
}

fn each_dangling<'c>(
    checked: &'c CheckedFiles<'_>,
    is_checked: &dyn Fn(&CheckedFile<'_>, LinkKind) -> bool,
) -> Vec<Problem<'c>> {
    let pick = |file: &CheckedFile<'_>, target: &LinkTarget| match target {
        LinkTarget::Missing { kind, similar } if is_checked(file, *kind) => {
            Some((*kind, similar.clone()))
        }
        _ => None,
    };
    let summary = "links in this file lead nowhere";
    problems(checked, summary, pick, |file, range, (kind, similar)| {
        let target = file.shown(range.clone());
        let message = match kind {
            LinkKind::Path | LinkKind::Page if similar.is_some() => {
                format!("{target} does not exist")
            }
            LinkKind::Path | LinkKind::Page => format!("{target} is not in the repository"),
            LinkKind::Address => format!("no note has the address {target}"),
            LinkKind::Wiki => format!("no note or file has the name {target}"),
        };
        let hint = match similar.as_deref() {
            // The link was written as if it started at the top.
            Some(path) if file.text.get(range.clone()) == Some(path) => format!(
                "links start at the file's own folder; write /{}, or the path from there",
                text_file::shown(path)
            ),
            Some(path) => text_file::hint(Some(path), "fix the link, or remove it"),
            None if matches!(kind, LinkKind::Path | LinkKind::Page)
                && begins_with_host(&target) =>
            {
                format!(
                    "if this is an address, write https://{target}; else fix the link, or remove it"
                )
            }
            None => "fix the link, add the missing file, or remove the link".to_owned(),
        };
        (message, hint)
    })
}

pub(super) fn ambiguous<'c>(checked: &'c CheckedFiles<'_>) -> Vec<Problem<'c>> {
    let pick = |_: &CheckedFile<'_>, target: &LinkTarget| match target {
        LinkTarget::Notes(numbers) => Some(Arc::clone(numbers)),
        _ => None,
    };
    let summary = "links in this file match several notes";
    problems(checked, summary, pick, |file, range, numbers| {
        let path = |&number: &usize| text_file::shown(checked.files[number].path);
        let mut paths: Vec<String> = numbers.iter().take(3).map(path).collect();
        if numbers.len() > paths.len() {
            paths.push(format!("{} more", numbers.len() - paths.len()));
        }
        let last = paths.pop().unwrap_or_default();
        let target = file.shown(range.clone());
        let hint = "give the notes different titles, or link to the path of one";
        (format!("{target} matches {} and {last}", paths.join(", ")), hint.to_owned())
    })
}

/// Whether a target starts with a host name: `docs.rs/serde`, `slack.example.ai`.
fn begins_with_host(target: &str) -> bool {
    let (first, rest) = target.split_once('/').unwrap_or((target, ""));
    let is_label = |label: &str| {
        !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    let mut labels = first.rsplit('.');
    let is_domain = |label: &str| {
        (2..=10).contains(&label.len()) && label.bytes().all(|byte| byte.is_ascii_lowercase())
    };
    labels.next().is_some_and(is_domain)
        && first.contains('.')
        && labels.all(is_label)
        // `notes.md` is a file, but `notes.md/x` cannot be one.
        && !(rest.is_empty() && FILE_ENDINGS.iter().any(|ending| first.ends_with(ending)))
}

#[cfg(test)]
mod tests;
