//! The rule about contexts that change by themselves: two of the same notes differ.

use crate::check::contexts::session::Played;
use crate::check::finding::{Finding, Rule, Spot};
use crate::check::repository_file::RepositoryFile;
use crate::check::rules::budget::{About, told};
use crate::check::snapshot::{Scene, text};

/// Contexts that are not the same when they are made again.
pub(crate) fn find(scene: &Scene<'_>, played: &[Played], again: &[String]) -> Vec<Finding> {
    let sessions = scene.repository.sessions.iter().enumerate();
    let pairs = sessions.zip(played.iter().zip(again));
    let differing: Vec<_> = pairs.filter(|(_, (played, again))| played.text != **again).collect();
    if differing.is_empty() {
        return Vec::new();
    }
    let written = written_meanwhile(scene);
    let broken = differing.into_iter().map(|((n, session), (played, again))| {
        let about = About { scene, session, n };
        let same = played.text.lines().zip(again.lines()).take_while(|(a, b)| a == b).count();
        let from = format!("differ from line {} on", same + 1);
        match &written {
            Some(spot) => about.broken_at(
                Some(spot.clone()),
                Rule::UnstableOutput,
                0,
                format!("this file was written while it was checked, and two contexts {from}"),
                "check again while nothing writes to the repository".to_owned(),
            ),
            None => about.broken(
                Rule::UnstableOutput,
                &[],
                0,
                format!("two contexts of the same notes {from}"),
                "this is a fault of kgctx; please report it with the notes that show it".to_owned(),
            ),
        }
    });
    told(broken.collect())
}

/// The first line of a file that holds something else than when it was read: then the notes were not the same.
fn written_meanwhile(scene: &Scene<'_>) -> Option<Spot> {
    scene.files().iter().find_map(|RepositoryFile { path, text: read, .. }| {
        let read = read.as_deref()?;
        let bytes = scene.repository.tree.read(path, scene.max_bytes());
        let now = bytes.map(text).unwrap_or_default();
        let same = || read.split('\n').zip(now.split('\n')).take_while(|(a, b)| a == b).count();
        (now != read).then(|| Spot { path: path.clone(), line: same() + 1, column: 1, length: 0 })
    })
}
