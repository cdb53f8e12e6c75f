//! A scene: a version of the repository on a stage, where the real path makes the contexts of its sessions. What is on the
//! stage can be turned into the base and back, by touching only what differs.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;

use rayon::prelude::*;

use super::CheckError;
use super::ground::Ground;
use super::left_behind::Left;
use super::place::{BRANCH, check_folder, on_stage, place_of, request, set_settings};
use super::roles::{Roles, imports, is_gitignore};
use super::session::{Played, play, play_text};
use super::version::{Base, From, Staged, Turn};
use crate::adapters::stage::Stage;
use crate::adapters::vault;
use crate::app::refresh::{Mode, Patience, refresh};
use crate::app::workspace::{Place, Request, Workspace};
use crate::domain::check::{RepositoryFile, Rule, SessionSpec, StaticFile};
use crate::domain::note::Remarks;
use crate::domain::settings::Settings;
use crate::domain::time::Timestamp;
use crate::engine::check::{RuleInput, statics};
use crate::engine::decode::{Decoded, decode};
use crate::engine::markdown;

/// How deep files that hosts read may import others.
const IMPORTS: usize = 5;

/// In which order files are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    AsListed,
    Reversed,
}

/// A version of the repository on a stage.
pub(super) struct Scene<'g> {
    pub(super) ground: &'g Ground,
    base: Option<&'g Base>,
    pub(super) stage: Stage,
    /// What each session's folder belongs to.
    places: BTreeMap<String, Place>,
    pub(super) roles: Roles,
    /// Those at the top.
    settings: Settings,
    max_bytes: u64,
    files: Vec<RepositoryFile>,
    /// Those of which the history says nothing.
    uncommitted: HashSet<String>,
    head: Act,
    before: Act,
    /// The files of the base that hosts read, and those that they may import.
    files_before: Vec<RepositoryFile>,
    /// How many bytes those files had that are different now.
    bytes_before: HashMap<String, usize>,
    is_turned: bool,
}

/// What a version brings to the stage.
#[derive(Default)]
struct Act {
    staged: Staged,
    left: Vec<Left>,
}

impl<'g> Scene<'g> {
    /// Sets the working tree on a new stage.
    pub(super) fn set(
        ground: &'g Ground,
        base: Option<&'g Base>,
        order: Order,
    ) -> Result<Scene<'g>, CheckError> {
        let stage = Stage::new(&ground.project).map_err(on_stage)?;
        // The folders of both versions: a vault that only one of them has is an empty one in the other.
        let before = base.iter().flat_map(|base| base.files.keys());
        for folder in folders(ground.paths.iter().chain(before)) {
            stage.make_folder(folder).map_err(on_stage)?;
        }
        set_settings(ground, &stage)?;
        let mut places = BTreeMap::new();
        for session in &ground.sessions {
            check_folder(ground, &stage, session)?;
            let place = place_of(&stage, &session.dir)?;
            places.insert(session.dir.clone(), place);
        }
        let roles = Roles::of(ground, &stage, &places);
        let settings = place_of(&stage, "")?.settings;
        let max_bytes = settings.max_file_bytes.value;
        let mut scene = Scene {
            ground,
            base,
            stage,
            places,
            roles,
            settings,
            max_bytes,
            files: Vec::new(),
            uncommitted: HashSet::new(),
            head: Act::default(),
            before: Act::default(),
            files_before: Vec::new(),
            bytes_before: HashMap::new(),
            is_turned: false,
        };
        scene.set_working_tree(order)?;
        if let Some(base) = base {
            scene.prepare_base(base)?;
        }
        Ok(scene)
    }

    fn set_working_tree(&mut self, order: Order) -> Result<(), CheckError> {
        let ground = self.ground;
        let changed = ground.checkout.changed_since(None)?;
        let mut read: Vec<&str> = ground.paths.iter().map(String::as_str).collect();
        read.retain(|path| self.roles.is_read(path) || is_gitignore(path));
        // Of what is not committed as it is the history says nothing, however long it is searched.
        let is_committed =
            |path: &&str| !changed.contains(*path) && !ground.untracked.contains(*path);
        let baseline = ground.known.get(&ground.file.settings.baseline).map(String::as_str);
        let wanted = read.iter().copied().chain(baseline).filter(is_committed).collect();
        let times = ground.checkout.times(None, &wanted)?;
        let time = |path: &str| times.get(path).copied().unwrap_or_else(|| ground.undated());
        if order == Order::Reversed {
            read.reverse();
        }
        let read_one = |path: &&str| -> io::Result<Option<(String, String)>> {
            let Some(bytes) = ground.checkout.read(path, self.max_bytes) else { return Ok(None) };
            if self.roles.is_staged(path) {
                self.stage.write(path, &bytes, time(path))?;
            }
            Ok(text(bytes).map(|text| ((*path).to_owned(), text)))
        };
        let texts: io::Result<Vec<Option<(String, String)>>> =
            read.par_iter().with_min_len(32).map(read_one).collect();
        let mut texts: HashMap<String, String> =
            texts.map_err(on_stage)?.into_iter().flatten().collect();
        self.read_imports(&mut texts);
        let file = |path: &String| {
            let text = texts.remove(path);
            // Without a history nobody knows how old a handoff is, and it is not too old by that.
            let is_ageless = ground.checkout.newest.is_none() && self.roles.is_handoff(path);
            let modified = if is_ageless { ground.now } else { time(path) };
            RepositoryFile { path: path.clone(), text, modified }
        };
        self.files = ground.paths.iter().map(file).collect();
        self.uncommitted = changed.union(&ground.untracked).cloned().collect();
        let staged = read.iter().filter(|path| self.roles.is_staged(path));
        let mut staged: Staged = staged.map(|path| ((*path).to_owned(), time(path))).collect();
        let handoffs = self.files.iter().filter(|file| self.roles.is_handoff(&file.path));
        let left: Vec<Left> = handoffs.filter_map(Left::read).collect();
        let mut listed = BTreeSet::new();
        for path in left.iter().flat_map(Left::listed).filter(|path| ground.known.contains(path)) {
            if !staged.contains_key(&path) {
                staged.insert(path.clone(), ground.undated());
                listed.insert(path);
            }
        }
        let listed = listed.iter().map(String::as_str).collect();
        self.head = Act { staged, left };
        self.write(From::WorkingTree, &listed, &self.head.staged)?;
        Ok(())
    }

    /// Reads what those files import that hosts read, as far as it is in the repository.
    fn read_imports(&self, texts: &mut HashMap<String, String>) {
        let mut round: Vec<String> =
            texts.keys().filter(|path| self.roles.is_static(path)).cloned().collect();
        for _ in 0..IMPORTS {
            let mut next = BTreeSet::new();
            for path in &round {
                let Some(text) = texts.get(path) else { continue };
                let new = imports(path, text).into_iter().filter(|path| !texts.contains_key(path));
                next.extend(new.filter(|path| self.ground.known.contains(path)));
            }
            for path in &next {
                let bytes = self.ground.checkout.read(path, self.max_bytes);
                texts.extend(bytes.and_then(text).map(|text| (path.clone(), text)));
            }
            round = next.into_iter().collect();
        }
    }

    /// Finds out what the base would bring to the stage.
    fn prepare_base(&mut self, base: &Base) -> Result<(), CheckError> {
        let checkout = &self.ground.checkout;
        let paths: Vec<&str> = base.files.keys().map(String::as_str).collect();
        let is_gone = |path: &&str| self.roles.is_read(path) && !self.ground.known.contains(*path);
        let read = paths.iter().copied().filter(is_gone);
        let times = checkout.times(Some(&base.commit), &read.collect())?;
        let is_kept: HashMap<&str, Timestamp> =
            self.files.iter().map(|file| (file.path.as_str(), file.modified)).collect();
        // What is in both versions is as old as it is now: to touch a quiet note makes it recent, and adds nothing.
        let time = |path: &str| {
            let at = is_kept.get(path).or_else(|| times.get(path)).copied();
            at.unwrap_or_else(|| self.ground.undated())
        };
        let staged = paths.iter().filter(|path| self.roles.is_staged(path));
        let mut staged: Staged = staged.map(|path| ((*path).to_owned(), time(path))).collect();
        let mut now: HashMap<&str, &String> = HashMap::with_capacity(self.files.len());
        now.extend(
            self.files.iter().filter_map(|file| Some((file.path.as_str(), file.text.as_ref()?))),
        );
        let has_statics = paths.iter().any(|path| self.roles.is_static(path));
        let is_needed = |path: &str| {
            self.roles.is_handoff(path)
                || has_statics && (self.roles.is_static(path) || now.contains_key(path))
        };
        let needed = paths.iter().copied().filter(|path| is_needed(path));
        let (fetched, same): (BTreeSet<&str>, BTreeSet<&str>) =
            needed.partition(|path| base.differing.contains(*path) || !now.contains_key(path));
        let mut texts: HashMap<String, String> = HashMap::new();
        From::Base(base).fetch(checkout, &fetched, self.max_bytes, |path, bytes| {
            texts.extend(text(bytes).map(|text| (path.to_owned(), text)));
        })?;
        texts.extend(same.iter().map(|path| ((*path).to_owned(), now[path].clone())));
        let mut files = Vec::new();
        for path in &paths {
            let text = texts.remove(*path);
            files.push(RepositoryFile { path: (*path).to_owned(), text, modified: time(path) });
        }
        let handoffs = files.iter().filter(|file| self.roles.is_handoff(&file.path));
        let left: Vec<Left> = handoffs.filter_map(Left::read).collect();
        for path in left.iter().flat_map(Left::listed) {
            if base.files.contains_key(&path) {
                staged.entry(path).or_insert_with(|| self.ground.undated());
            }
        }
        self.before = Act { staged, left };
        self.files_before = if has_statics { files } else { Vec::new() };
        Ok(())
    }

    /// Turns what is on the stage into the base.
    pub(super) fn turn_to_base(&mut self) -> Result<(), CheckError> {
        let Some(base) = self.base else { return Ok(()) };
        let turn = Turn::between(&self.head.staged, &self.before.staged, &base.differing);
        self.bytes_before = self.turn(&turn, From::Base(base), &self.before.staged)?;
        self.is_turned = true;
        Ok(())
    }

    /// Turns it back into the working tree.
    pub(super) fn turn_back(&mut self) -> Result<(), CheckError> {
        let Some(base) = self.base else { return Ok(()) };
        let turn = Turn::between(&self.before.staged, &self.head.staged, &base.differing);
        self.turn(&turn, From::WorkingTree, &self.head.staged)?;
        self.is_turned = false;
        Ok(())
    }

    fn turn(
        &self,
        turn: &Turn<'_>,
        from: From<'_>,
        to: &Staged,
    ) -> Result<HashMap<String, usize>, CheckError> {
        // What was too large to be staged is not there.
        let settle = |done: io::Result<()>| match done {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(on_stage(error)),
            _ => Ok(()),
        };
        for path in &turn.removed {
            settle(self.stage.remove(path))?;
        }
        for path in &turn.dated {
            settle(self.stage.date(path, to[*path]))?;
        }
        self.write(from, &turn.written, to)
    }

    /// Writes files to the stage, and tells how many bytes they have.
    fn write(
        &self,
        from: From<'_>,
        paths: &BTreeSet<&str>,
        to: &Staged,
    ) -> Result<HashMap<String, usize>, CheckError> {
        let mut sizes = HashMap::new();
        let mut done = Ok(());
        from.fetch(&self.ground.checkout, paths, self.max_bytes, |path, bytes| {
            sizes.insert(path.to_owned(), bytes.len());
            if done.is_ok() {
                done = self.stage.write(path, &bytes, to[path]);
            }
        })?;
        done.map_err(on_stage)?;
        Ok(sizes)
    }

    /// Makes the context of every session, from what is on the stage now.
    pub(super) fn play(&self) -> Result<Vec<Played>, CheckError> {
        self.index()?;
        self.ground.sessions.iter().map(|session| play(self, session)).collect()
    }

    /// The texts alone.
    pub(super) fn play_texts(&self) -> Result<Vec<String>, CheckError> {
        self.index()?;
        self.ground.sessions.iter().map(|session| play_text(self, session)).collect()
    }

    /// Makes the context of every session as if all notes had been changed on one day. Which of them are recent passes by
    /// itself, so that what is agreed on must not depend on it.
    pub(super) fn play_of_one_day(&self) -> Result<Vec<Played>, CheckError> {
        let sessions = self.ground.sessions.iter().map(|session| self.ground.now_of(session));
        let day = sessions.min().unwrap_or(self.ground.now);
        let same: Staged = self.head.staged.keys().map(|path| (path.clone(), day)).collect();
        let dated = self.head.staged.iter().filter(|(_, at)| **at != day);
        let dated = dated.map(|(path, _)| path.as_str()).collect();
        self.turn(&Turn { dated, ..Turn::default() }, From::WorkingTree, &same)?;
        self.play()
    }

    /// Brings the index up to date before any session asks: none of them may be in a hurry.
    fn index(&self) -> Result<(), CheckError> {
        let mut seen = HashSet::new();
        for (dir, place) in &self.places {
            let is_new = seen.insert(place.project.notes_root.clone());
            if !is_new || !place.settings.enabled.value {
                continue;
            }
            // Without notes there is no index, and a session without one is what is to be shown.
            let request = request(&self.stage, dir);
            if let Ok(workspace) = Workspace::find_what_answers(&request, true) {
                refresh(&workspace, Mode::Incremental, Patience::Wait, &mut |_, _| {})?;
            }
        }
        Ok(())
    }

    /// Puts a session's branch on the stage, and tells where the session is and what was left for it.
    pub(super) fn enter(
        &self,
        session: &SessionSpec,
    ) -> Result<(Request, &Place, &[Left]), CheckError> {
        if self.ground.has_repository() {
            let branch = session.branch.as_deref().unwrap_or(BRANCH);
            self.stage.check_out(branch).map_err(on_stage)?;
        }
        let left = self.left_on_stage();
        let place = self.places.get(&session.dir);
        let place = place.ok_or_else(|| CheckError::Place(format!("no folder {}", session.dir)))?;
        Ok((request(&self.stage, &session.dir), place, left))
    }

    fn left_on_stage(&self) -> &[Left] {
        if self.is_turned { &self.before.left } else { &self.head.left }
    }

    /// What the handoff is called in reports that a session is given under an id.
    pub(super) fn name_of_handoff(&self, id: &str) -> String {
        let mut left = self.left_on_stage().iter();
        let found = left.find(|left| left.id_or_made().as_str() == id);
        found.map_or_else(|| id.to_owned(), Left::name)
    }

    /// What was left for sessions in the working tree.
    pub(super) fn left(&self) -> &[Left] {
        &self.head.left
    }

    /// The addresses of all notes.
    pub(super) fn addresses(&self) -> HashSet<String> {
        let paths = self.files.iter().map(|file| file.path.as_str());
        paths.flat_map(|path| self.roles.addresses(path)).collect()
    }

    /// The concepts that some note mentions.
    pub(super) fn concepts(&self) -> HashSet<String> {
        let style = self.settings.links.value;
        let notes = self.files.par_iter().filter(|file| self.roles.is_note(&file.path));
        let mentions = notes.flat_map_iter(|file| {
            let text = file.text.as_deref().unwrap_or_default();
            let note = markdown::parse(text, "", style, Remarks::default());
            note.mentions.into_keys().map(|concept| concept.to_string())
        });
        mentions.collect()
    }

    /// What the rules look at.
    pub(super) fn input(&self) -> RuleInput<'_> {
        self.input_of(&self.files)
    }

    fn input_of<'a>(&'a self, files: &'a [RepositoryFile]) -> RuleInput<'a> {
        let settings = &self.settings;
        RuleInput {
            files,
            unread: &self.ground.unread,
            vaults: &self.roles.vaults,
            links: settings.links.value,
            settings: &self.ground.file.settings,
            now: self.ground.now,
            encoding: settings.encoding.value,
            max_age_days: settings.handoff.max_age_days.value,
        }
    }

    /// What hosts read by themselves in the base.
    pub(super) fn statics_before(&self) -> Vec<StaticFile> {
        statics::files(&self.input_of(&self.files_before))
    }

    /// Files that are passed over because they are too large, with their bytes and the rule that they break.
    pub(super) fn too_large(&self) -> Vec<(&str, u64, Rule)> {
        let unread = self.files.iter().filter(|file| file.text.is_none());
        let ruled = unread.filter_map(|file| {
            let path = file.path.as_str();
            let rule = match path {
                path if self.roles.is_note(path) => Rule::GiantNote,
                path if self.roles.is_handoff(path) => Rule::HandoffInvalid,
                path if self.roles.is_static(path) => Rule::StaticContext,
                _ => return None,
            };
            let n_bytes = vault::size(&self.ground.checkout.top.join(path))?;
            (n_bytes > self.max_bytes).then_some((path, n_bytes, rule))
        });
        ruled.collect()
    }

    /// All files, those that matter with their text.
    pub(super) fn files(&self) -> &[RepositoryFile] {
        &self.files
    }

    pub(super) fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    pub(super) fn n_notes(&self) -> usize {
        self.files.iter().filter(|file| self.roles.is_note(&file.path)).count()
    }

    /// The note or handoff that grew most; without a base the largest that is newer than the baseline, else the largest.
    pub(super) fn most_grown(&self) -> Option<&str> {
        let has_role = |path: &str| self.roles.is_note(path) || self.roles.is_handoff(path);
        let files = self.files.iter().filter(|file| has_role(&file.path));
        let sized = files.filter_map(|file| Some((file, file.text.as_ref()?.len())));
        let grown = |(file, size): &(&RepositoryFile, usize)| {
            let is_new = self.base.is_some_and(|base| !base.files.contains_key(&file.path));
            let before = self.bytes_before.get(&file.path).copied();
            let before = before.or(is_new.then_some(0));
            before.map_or(0, |before| size.saturating_sub(before))
        };
        let baseline = &self.ground.file.settings.baseline;
        let agreed = self.files.iter().find(|file| file.path == *baseline);
        let is_newer = |file: &RepositoryFile| {
            self.base.is_none()
                && agreed.is_some_and(|agreed| {
                    file.modified > agreed.modified || self.uncommitted.contains(&file.path)
                })
        };
        let most = sized.max_by_key(|sized| {
            (is_newer(sized.0), grown(sized), sized.1, std::cmp::Reverse(&sized.0.path))
        });
        most.map(|(file, _)| file.path.as_str())
    }
}

/// The folders of some files.
fn folders<'a>(paths: impl Iterator<Item = &'a String>) -> BTreeSet<&'a str> {
    paths.filter_map(|path| path.rsplit_once('/')).map(|(folder, _)| folder).collect()
}

pub(super) fn text(bytes: Vec<u8>) -> Option<String> {
    // As it is, where that is possible: places are counted in what people see.
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Some(text),
        Ok(_) => None,
        Err(error) => match decode(error.into_bytes()) {
            Decoded::Text(text, _) => Some(text),
            Decoded::Binary => None,
        },
    }
}
