//! A scene: a version of the repository as its sessions would find it, where the real path makes their contexts. Settings, rules of
//! what to ignore and listed files lie on a stage; the notes are held in memory, because to write and remove thousands of
//! files takes longer than everything else. It can be turned into the base and back.

pub(crate) mod base;
pub(crate) mod handoff;
pub(crate) mod roles;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;

use rayon::prelude::*;

use crate::check::CheckError;
use crate::check::contexts::sandbox::{
    BRANCH, check_folder, on_stage, place_of, request, set_settings,
};
use crate::check::contexts::session::{Played, play, play_text};
use crate::check::contexts::temp_checkout::TempCheckout;
use crate::check::finding::Rule;
use crate::check::report::StaticFile;
use crate::check::repository::Repository;
use crate::check::repository_file::RepositoryFile;
use crate::check::rules::RuleInput;
use crate::check::rules::static_context;
use crate::check::settings::SessionSpec;
use crate::check::snapshot::base::{Base, From, Turn};
use crate::check::snapshot::handoff::{Left, choose};
use crate::check::snapshot::roles::{Roles, is_gitignore};
use crate::core::note::Remarks;
use crate::core::note::decode::{Decoded, decode};
use crate::core::note::markdown;
use crate::core::settings::Settings;
use crate::core::time::Timestamp;
use crate::system::vault::{self, Shelf};
use crate::workspace::refresh::refresh_held;
use crate::workspace::{Place, Request, Workspace};

/// How deep files that hosts read may import others.
const IMPORTS: usize = 5;

/// In which order notes are put on the shelf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    AsListed,
    Reversed,
}

/// A version of the repository as its sessions would find it.
pub(crate) struct Scene<'g> {
    pub(crate) repository: &'g Repository,
    base: Option<&'g Base>,
    order: Order,
    pub(crate) stage: TempCheckout,
    /// What each session's folder belongs to.
    places: BTreeMap<String, Place>,
    pub(crate) roles: Roles,
    /// Those at the top.
    settings: Settings,
    max_bytes: u64,
    /// Those of the working tree, in the order of their paths.
    files: Vec<RepositoryFile>,
    /// Those of which the history says nothing.
    uncommitted: HashSet<String>,
    head: Act,
    before: Act,
    /// What those files held in the base that are different now.
    texts_before: HashMap<String, String>,
    /// The files of the base that hosts read, and those that they import.
    statics_before: Vec<RepositoryFile>,
    /// Whether the base is there now. The rules look at the files meanwhile, which are always those of the working tree.
    is_turned: Cell<bool>,
}

/// What a version brings to the scene.
#[derive(Default)]
struct Act {
    /// Its notes, and when each was last changed.
    notes: Vec<(String, Timestamp)>,
    /// What has to lie on the stage.
    staged: BTreeSet<String>,
    left: Vec<Left>,
}

impl<'g> Scene<'g> {
    /// Sets the working tree on a new stage.
    pub(crate) fn set(
        repository: &'g Repository,
        base: Option<&'g Base>,
        order: Order,
    ) -> Result<Scene<'g>, CheckError> {
        let stage = TempCheckout::new(&repository.project).map_err(on_stage)?;
        // The folders of both versions: a vault that only one of them has is an empty one in the other.
        let before = base.iter().flat_map(|base| base.files.keys());
        for folder in folders(repository.paths.iter().chain(before)) {
            stage.make_folder(folder).map_err(on_stage)?;
        }
        set_settings(repository, &stage)?;
        let mut places = BTreeMap::new();
        for session in &repository.sessions {
            check_folder(repository, &stage, session)?;
            let place = place_of(&stage, &session.dir)?;
            places.insert(session.dir.clone(), place);
        }
        let roles = Roles::of(repository, &stage, &places);
        let settings = place_of(&stage, "")?.settings;
        let max_bytes = settings.max_file_bytes.value;
        let mut scene = Scene {
            repository,
            base,
            order,
            stage,
            places,
            roles,
            settings,
            max_bytes,
            files: Vec::new(),
            uncommitted: HashSet::new(),
            head: Act::default(),
            before: Act::default(),
            texts_before: HashMap::new(),
            statics_before: Vec::new(),
            is_turned: Cell::new(false),
        };
        scene.set_working_tree()?;
        if let Some(base) = base {
            scene.prepare_base(base)?;
        }
        Ok(scene)
    }

    fn set_working_tree(&mut self) -> Result<(), CheckError> {
        let repository = self.repository;
        let changed = repository.tree.changed_since(None)?;
        let mut read: Vec<&str> = repository.paths.iter().map(String::as_str).collect();
        read.retain(|path| self.roles.is_read(path) || is_gitignore(path));
        // Of what is not committed as it is the history says nothing, however long it is searched.
        let is_committed =
            |path: &&str| !changed.contains(*path) && !repository.untracked.contains(*path);
        let baseline = repository.known.get(&repository.file.settings.baseline).map(String::as_str);
        let wanted = read.iter().copied().chain(baseline).filter(is_committed).collect();
        let times = repository.tree.times(None, &wanted)?;
        let read_one = |path: &&str| {
            let bytes = repository.tree.read(path, self.max_bytes)?;
            Some(((*path).to_owned(), text(bytes)))
        };
        let mut texts: HashMap<String, String> =
            read.par_iter().with_min_len(32).filter_map(read_one).collect();
        let statics = read.iter().filter(|path| self.roles.is_static(path));
        let known = |path: &str| repository.known.contains(path);
        let read_more = |paths: &BTreeSet<&str>, texts: &mut HashMap<String, String>| {
            texts.extend(paths.iter().filter_map(read_one));
            Ok::<(), CheckError>(())
        };
        read_imports(statics.copied(), &mut texts, known, read_more)?;
        let time = |path: &str| times.get(path).copied().unwrap_or_else(|| repository.undated());
        let file = |path: &String| {
            let text = texts.remove(path);
            // Without a history nobody knows how old a handoff is, and it is not too old by that.
            let is_ageless = repository.tree.newest.is_none() && self.roles.is_handoff(path);
            let modified = if is_ageless { repository.now } else { time(path) };
            RepositoryFile { path: path.clone(), text, modified }
        };
        self.files = repository.paths.iter().map(file).collect();
        self.uncommitted = changed.union(&repository.untracked).cloned().collect();
        let notes = repository.paths.iter().filter(|path| self.roles.is_note(path));
        let notes = notes.map(|path| (path.clone(), time(path))).collect();
        let handoffs = self.files.iter().filter(|file| self.roles.is_handoff(&file.path));
        let left: Vec<Left> = handoffs.filter_map(Left::read).collect();
        let staged = staged(&repository.paths, &left, known);
        self.head = Act { notes, staged, left };
        let all = self.head.staged.iter().map(String::as_str).collect();
        self.write(From::WorkingTree, &all)
    }

    /// Finds out what the base would bring to the scene.
    fn prepare_base(&mut self, base: &Base) -> Result<(), CheckError> {
        let (repository, roles) = (self.repository, &self.roles);
        let now: HashMap<&str, &RepositoryFile> =
            self.files.iter().map(|file| (file.path.as_str(), file)).collect();
        let text_now = |path: &str| now.get(path).and_then(|file| file.text.as_ref());
        let paths: Vec<&String> = base.files.keys().collect();
        let read: Vec<&str> = paths.iter().map(|path| path.as_str()).collect();
        let read: Vec<&str> = read.into_iter().filter(|path| roles.is_read(path)).collect();
        let fetch = |paths: &BTreeSet<&str>, texts: &mut HashMap<String, String>| {
            let (max, checkout) = (self.max_bytes, &repository.tree);
            From::Base(base).fetch(checkout, paths, max, |path, bytes| {
                texts.insert(path.to_owned(), text(bytes));
            })
        };
        let differs = |path: &&str| base.differing.contains(*path) || text_now(path).is_none();
        let mut texts = HashMap::new();
        fetch(&read.iter().copied().filter(differs).collect(), &mut texts)?;
        // What hosts read is copied from the working tree where it is the same, with what it imports.
        let mut statics = HashMap::new();
        for path in read.iter().copied().filter(|path| roles.is_static(path)) {
            let text = texts.get(path).or_else(|| text_now(path).filter(|_| !differs(&path)));
            statics.extend(text.map(|text| (path.to_owned(), text.clone())));
        }
        let first: Vec<String> = statics.keys().cloned().collect();
        let first = first.iter().map(String::as_str);
        read_imports(first, &mut statics, |path| base.files.contains_key(path), fetch)?;
        let gone = read.iter().copied().filter(|path| !now.contains_key(path));
        let times = repository.tree.times(Some(&base.commit), &gone.collect())?;
        // What is in both versions is as old as it is now, by whatever name: to touch or move a quiet note makes it recent, and
        // adds nothing.
        let time = |path: &str| {
            let file = now.get(path).or_else(|| now.get(base.renamed.get(path)?.as_str()));
            let at = file.map(|file| file.modified).or_else(|| times.get(path).copied());
            at.unwrap_or_else(|| repository.undated())
        };
        let notes = paths.iter().filter(|path| roles.is_note(path));
        let notes = notes.map(|path| ((*path).clone(), time(path))).collect();
        let file = |path: &str, text: &String| RepositoryFile {
            path: path.to_owned(),
            text: Some(text.clone()),
            modified: time(path),
        };
        let handoffs = read.iter().filter(|path| roles.is_handoff(path)).filter_map(|path| {
            let text = texts.get(*path).or_else(|| text_now(path).filter(|_| !differs(path)))?;
            Left::read(&file(path, text))
        });
        let left: Vec<Left> = handoffs.collect();
        let staged = staged(base.files.keys(), &left, |path| base.files.contains_key(path));
        self.statics_before = statics.iter().map(|(path, text)| file(path, text)).collect();
        self.statics_before.sort_by(|a, b| a.path.cmp(&b.path));
        self.before = Act { notes, staged, left };
        self.texts_before = texts;
        Ok(())
    }

    /// Turns what is there into the base.
    pub(crate) fn turn_to_base(&self) -> Result<(), CheckError> {
        let Some(base) = self.base else { return Ok(()) };
        let turn = Turn::between(&self.head.staged, &self.before.staged, &base.differing);
        self.turn(&turn, From::Base(base))?;
        self.is_turned.set(true);
        Ok(())
    }

    /// Turns it back into the working tree.
    pub(crate) fn turn_back(&self) -> Result<(), CheckError> {
        let Some(base) = self.base else { return Ok(()) };
        let turn = Turn::between(&self.before.staged, &self.head.staged, &base.differing);
        self.turn(&turn, From::WorkingTree)?;
        self.is_turned.set(false);
        Ok(())
    }

    fn turn(&self, turn: &Turn<'_>, from: From<'_>) -> Result<(), CheckError> {
        for path in &turn.removed {
            match self.stage.remove(path) {
                // What was too large to be staged is not there.
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(on_stage(error));
                }
                _ => {}
            }
        }
        self.write(from, &turn.written)
    }

    /// Writes files to the stage.
    fn write(&self, from: From<'_>, paths: &BTreeSet<&str>) -> Result<(), CheckError> {
        let mut done = Ok(());
        from.fetch(&self.repository.tree, paths, self.max_bytes, |path, bytes| {
            if done.is_ok() {
                done = self.stage.write(path, &bytes);
            }
        })?;
        done.map_err(on_stage)
    }

    /// Makes the context of every session, from what is on the stage now.
    pub(crate) fn play(&self) -> Result<Vec<Played>, CheckError> {
        self.index(None)?;
        self.repository.sessions.iter().map(|session| play(self, session)).collect()
    }

    /// The texts alone.
    pub(crate) fn play_texts(&self) -> Result<Vec<String>, CheckError> {
        self.index(None)?;
        self.repository.sessions.iter().map(|session| play_text(self, session)).collect()
    }

    /// Makes the context of every session as if all notes had been changed on one day. Which of them are recent passes by
    /// itself, so that what is agreed on must not depend on it.
    pub(crate) fn play_of_one_day(&self) -> Result<Vec<Played>, CheckError> {
        let sessions =
            self.repository.sessions.iter().map(|session| self.repository.now_of(session));
        let day = sessions.min().unwrap_or(self.repository.now);
        self.index(Some(day))?;
        self.repository.sessions.iter().map(|session| play(self, session)).collect()
    }

    /// Brings the index up to date before any session asks: none of them may be in a hurry. All notes are of `day`, if one is
    /// named.
    fn index(&self, day: Option<Timestamp>) -> Result<(), CheckError> {
        let shelf = self.shelf(day);
        let mut seen = HashSet::new();
        for (dir, place) in &self.places {
            let is_new = seen.insert(place.project.notes_root.clone());
            if !is_new || !place.settings.enabled.value {
                continue;
            }
            // Without notes there is no index, and a session without one is what is to be shown.
            let request = request(&self.stage, dir);
            if let Ok(workspace) = Workspace::find_what_answers(&request, true) {
                refresh_held(&workspace, &shelf)?;
            }
        }
        Ok(())
    }

    /// The notes as they are now.
    fn shelf(&self, day: Option<Timestamp>) -> Shelf<'_> {
        let act = if self.is_turned.get() { &self.before } else { &self.head };
        let mut shelf = Shelf::new(self.stage.project());
        let mut notes: Vec<&(String, Timestamp)> = act.notes.iter().collect();
        if self.order == Order::Reversed {
            notes.reverse();
        }
        for (path, at) in notes {
            if let Some(text) = self.text(path) {
                shelf.put(path, text, day.unwrap_or(*at));
            }
        }
        shelf
    }

    /// What a file holds in the version that is there.
    fn text(&self, path: &str) -> Option<&str> {
        let is_other = |base: &Base| self.is_turned.get() && base.differing.contains(path);
        if let Some(text) = self.texts_before.get(path).filter(|_| self.is_turned.get()) {
            return Some(text);
        }
        if self.base.is_some_and(is_other) {
            return None;
        }
        let place = self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        self.files[place].text.as_deref()
    }

    /// Puts a session's branch on the stage, and tells where the session is.
    pub(crate) fn enter(&self, session: &SessionSpec) -> Result<(Request, &Place), CheckError> {
        if self.repository.has_repository() {
            let branch = session.branch.as_deref().unwrap_or(BRANCH);
            self.stage.check_out(branch).map_err(on_stage)?;
        }
        Ok((request(&self.stage, &session.dir), self.place(session)?))
    }

    fn place(&self, session: &SessionSpec) -> Result<&Place, CheckError> {
        let place = self.places.get(&session.dir);
        place.ok_or_else(|| CheckError::Place(format!("no folder {}", session.dir)))
    }

    /// The handoff that a session is given.
    pub(crate) fn chosen(&self, session: &SessionSpec) -> Result<Option<&Left>, CheckError> {
        let act = if self.is_turned.get() { &self.before } else { &self.head };
        Ok(choose(&act.left, self.place(session)?, self.repository.now_of(session)))
    }

    /// What was left for sessions in the working tree.
    pub(crate) fn left(&self) -> &[Left] {
        &self.head.left
    }

    /// The addresses of all notes.
    pub(crate) fn addresses(&self) -> HashSet<String> {
        let paths = self.files.iter().map(|file| file.path.as_str());
        paths.flat_map(|path| self.roles.addresses(path)).collect()
    }

    /// The concepts that some note mentions.
    pub(crate) fn concepts(&self) -> HashSet<String> {
        let (style, roles) = (self.settings.links.value, &self.roles);
        let notes = self.files.par_iter().filter(|file| roles.is_note(&file.path));
        let mentions = notes.flat_map_iter(|file| {
            let text = file.text.as_deref().unwrap_or_default();
            let note = markdown::parse(text, "", style, Remarks::default());
            note.mentions.into_keys().map(|concept| concept.to_string())
        });
        mentions.collect()
    }

    /// What the rules look at.
    pub(crate) fn input(&self) -> RuleInput<'_> {
        self.input_of(&self.files)
    }

    fn input_of<'a>(&'a self, files: &'a [RepositoryFile]) -> RuleInput<'a> {
        let settings = &self.settings;
        RuleInput {
            files,
            unread: &self.repository.unread,
            vaults: &self.roles.vaults,
            links: settings.links.value,
            settings: &self.repository.file.settings,
            now: self.repository.now,
            encoding: settings.encoding.value,
            max_age_days: settings.handoff.max_age_days.value,
        }
    }

    /// What hosts read by themselves in the base.
    pub(crate) fn statics_before(&self) -> Vec<StaticFile> {
        static_context::files(&self.input_of(&self.statics_before))
    }

    /// Files that are passed over because they are too large, with their bytes and the rule that they break.
    pub(crate) fn too_large(&self) -> Vec<(&str, u64, Rule)> {
        let unread = self.files.iter().filter(|file| file.text.is_none());
        let ruled = unread.filter_map(|file| {
            let path = file.path.as_str();
            let rule = match path {
                path if self.roles.is_note(path) => Rule::GiantNote,
                path if self.roles.is_handoff(path) => Rule::HandoffInvalid,
                path if self.roles.is_static(path) => Rule::StaticContext,
                _ => return None,
            };
            let n_bytes = vault::size(&self.repository.tree.top.join(path))?;
            (n_bytes > self.max_bytes).then_some((path, n_bytes, rule))
        });
        ruled.collect()
    }

    /// Whether it is compared with a revision.
    pub(crate) fn has_base(&self) -> bool {
        self.base.is_some()
    }

    /// All files, those that matter with their text.
    pub(crate) fn files(&self) -> &[RepositoryFile] {
        &self.files
    }

    pub(crate) fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    pub(crate) fn n_notes(&self) -> usize {
        self.files.iter().filter(|file| self.roles.is_note(&file.path)).count()
    }

    /// The note or handoff that grew most; without a base the largest that is newer than the baseline, else the largest.
    pub(crate) fn most_grown(&self) -> Option<&str> {
        let has_role = |path: &str| self.roles.is_note(path) || self.roles.is_handoff(path);
        let files = self.files.iter().filter(|file| has_role(&file.path));
        let sized = files.filter_map(|file| Some((file, file.text.as_ref()?.len())));
        let grown = |(file, size): &(&RepositoryFile, usize)| {
            let is_new = self.base.is_some_and(|base| !base.files.contains_key(&file.path));
            let before = self.texts_before.get(&file.path).map(String::len);
            let before = before.or(is_new.then_some(0));
            before.map_or(0, |before| size.saturating_sub(before))
        };
        let baseline = &self.repository.file.settings.baseline;
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

/// What has to lie on a stage: rules of what to ignore, and what handoffs list, as far as it is there.
fn staged<'a>(
    paths: impl IntoIterator<Item = &'a String>,
    left: &[Left],
    is_there: impl Fn(&str) -> bool,
) -> BTreeSet<String> {
    let rules = paths.into_iter().filter(|path| is_gitignore(path)).cloned();
    let listed = left.iter().flat_map(Left::listed).filter(|path| is_there(path));
    rules.chain(listed).collect()
}

/// Reads what files import that hosts read, as far as it is in the repository, and what that imports.
fn read_imports<'a, E>(
    first: impl Iterator<Item = &'a str>,
    texts: &mut HashMap<String, String>,
    is_there: impl Fn(&str) -> bool,
    read: impl Fn(&BTreeSet<&str>, &mut HashMap<String, String>) -> Result<(), E>,
) -> Result<(), E> {
    let mut round: Vec<String> = first.map(str::to_owned).collect();
    for _ in 0..IMPORTS {
        let named = round.iter().filter_map(|path| Some((path, texts.get(path)?)));
        let named = named.flat_map(|(path, text)| static_context::imports(path, text));
        let new: BTreeSet<String> =
            named.filter(|path| !texts.contains_key(path) && is_there(path)).collect();
        if new.is_empty() {
            break;
        }
        read(&new.iter().map(String::as_str).collect(), texts)?;
        round = new.into_iter().collect();
    }
    Ok(())
}

/// The folders of some files.
fn folders<'a>(paths: impl Iterator<Item = &'a String>) -> BTreeSet<&'a str> {
    paths.filter_map(|path| path.rsplit_once('/')).map(|(folder, _)| folder).collect()
}

pub(crate) fn text(bytes: Vec<u8>) -> String {
    // As it is, where that is possible: places are counted in what people see. What sessions take for no text is still read
    // by hosts, and looked at.
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let lossy = String::from_utf8_lossy(error.as_bytes()).into_owned();
            match decode(error.into_bytes()) {
                Decoded::Text(text, _) => text,
                Decoded::Binary => lossy,
            }
        }
    }
}
