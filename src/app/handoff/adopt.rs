//! Handoffs of other projects: of one that was moved or renamed, this project can adopt what was
//! left. The documents stay where they are: adopting writes a copy, and archives the former handoff.

use std::path::{Path, PathBuf};

use crate::app::handoff::{Created, HandoffError, Handoffs, Result};
use crate::app::session_handoff::root_of_files;
use crate::core::handoff::life::HandoffEvent;
use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::{HandoffId, Status, TypedId};
use crate::core::project::identify::is_key_of;
use crate::store::state::Adoption;
use crate::system::breakpoint;
use crate::system::clock;
use crate::system::folders;

/// The open handoffs of one project.
#[derive(Debug)]
pub struct ProjectHandoffs {
    pub channel: String,
    /// Where the newest of them was left.
    pub folder: Option<PathBuf>,
    pub is_here: bool,
    /// Whether none of the folders that are known for it exists any more.
    pub is_gone: bool,
    /// In the order of [`Handoffs::list`].
    pub records: Vec<HandoffRecord>,
}

/// A handoff that this project has adopted.
#[derive(Debug)]
pub struct Adopted {
    /// Its id in the other project.
    pub from: HandoffId,
    pub id: HandoffId,
    pub status: Status,
}

impl Handoffs {
    /// The handoffs of all projects that wait or are claimed: this project first, then by channel.
    pub fn everywhere(&self) -> Result<Vec<ProjectHandoffs>> {
        let mut projects: Vec<(String, ProjectHandoffs)> = Vec::new();
        // The newest first.
        for record in self.state.open_handoffs()? {
            let folder = record.working_dir.clone().map(PathBuf::from);
            match projects.iter_mut().find(|(scope, _)| *scope == record.scope) {
                Some((_, project)) => {
                    project.folder = project.folder.take().or(folder);
                    project.records.push(record);
                }
                None => {
                    let (scope, channel) = (record.scope.clone(), record.channel.clone());
                    let (is_here, is_gone) = (scope == self.scope, false);
                    let records = vec![record];
                    let project = ProjectHandoffs { channel, folder, is_here, is_gone, records };
                    projects.push((scope, project));
                }
            }
        }
        projects.sort_by(|(a, one), (b, other)| {
            (!one.is_here, &one.channel, a).cmp(&(!other.is_here, &other.channel, b))
        });
        let mut projects: Vec<_> = projects.into_iter().map(|(_, project)| project).collect();
        for project in &mut projects {
            // A worktree that was removed does not mean that its repository was moved.
            let known = match project.records.first() {
                Some(record) => self.state.folders_of(&record.scope)?,
                None => Vec::new(),
            };
            project.is_gone =
                project.folder.is_some() && !known.iter().any(|folder| folders::is_folder(folder));
            self.put_in_order(&mut project.records)?;
        }
        Ok(projects)
    }

    /// The open handoff of any project that is meant by an id as it was typed.
    pub fn named_anywhere(&self, typed: &TypedId) -> Result<HandoffRecord> {
        let open = self.state.open_handoffs()?;
        let ids: Vec<HandoffId> = open.iter().map(|record| record.id.clone()).collect();
        let found = match typed.among(&ids)[..] {
            [id] => open.iter().find(|record| record.id == *id),
            _ => None,
        };
        found.cloned().ok_or_else(|| {
            let typed = typed.as_str();
            HandoffError::No(format!(
                "{typed} does not match exactly one waiting or claimed handoff; `kgctx handoff list --everywhere` \
                lists them"
            ))
        })
    }

    /// The open handoffs of other projects that were left in a folder, and all of the project whose
    /// root it is.
    pub fn left_in(&self, folder: &Path) -> Result<Vec<HandoffRecord>> {
        let folder = folders::settled(self.standing.join(folder));
        let open = self.state.open_handoffs()?;
        let was_there = |record: &HandoffRecord| {
            let left = record.working_dir.as_deref();
            record.scope != self.scope
                && (left.is_some_and(|left| Path::new(left) == folder)
                    || is_key_of(&record.scope, &folder))
        };
        // Oldest first: of those for the next session, the newest then waits.
        let found: Vec<HandoffRecord> = open.into_iter().rev().filter(was_there).collect();
        if found.is_empty() {
            return Err(HandoffError::No(format!(
                "no other project left a handoff in {}; `kgctx handoff list --everywhere` lists the folders",
                folder.display()
            )));
        }
        Ok(found)
    }

    /// Copies a handoff of another project into this one, and archives the former. One that a live
    /// session claims is only adopted if it was named.
    pub fn adopt_from(&mut self, former: &HandoffRecord, is_named: bool) -> Result<Adopted> {
        let from = former.id.clone();
        if former.scope == self.scope {
            return Err(HandoffError::No(format!("{from} already belongs to this project")));
        }
        if let Some(session) = self.live_claimant(former)?.filter(|_| !is_named) {
            return Err(HandoffError::No(format!(
                "skipped {from}, which session {session} claims; `kgctx handoff adopt {from}` takes it over"
            )));
        }
        let actor = self.actor();
        let adoption = self.state.begin_adoption(&from, &actor)?;
        let copied = match adoption {
            Adoption::Refused => return Err(taken_meanwhile(&from)),
            Adoption::Begun | Adoption::Claimed => None,
            Adoption::Resumed => self.state.handoff(&self.scope, from.as_str())?,
        };
        breakpoint::reach("adopt:begun");
        let copied = match copied {
            Some(HandoffRecord { id, status, .. }) => Ok((id, status)),
            None => self.copy(former),
        };
        let (id, status) = copied.or_else(|error| {
            if adoption != Adoption::Claimed {
                let event = HandoffEvent::GivenBack("it could not be adopted");
                self.state.change_handoff(&from, event, &actor)?;
            }
            Err(error)
        })?;
        breakpoint::reach("adopt:copied");
        let reason = format!("adopted as {id}");
        if !self.state.change_handoff(&from, HandoffEvent::Archived(&reason), &actor)? {
            // Somebody released it, and a session has it.
            let event = HandoffEvent::Archived("the original was taken in the meantime");
            self.state.change_handoff(&id, event, &actor)?;
            return Err(taken_meanwhile(&from));
        }
        Ok(Adopted { from, id, status })
    }

    /// The session that claims a handoff and is not over, as far as known.
    fn live_claimant<'r>(&self, record: &'r HandoffRecord) -> Result<Option<&'r str>> {
        let session = record.changed_by.as_deref().filter(|_| record.status == Status::Claimed);
        let Some(session) = session else { return Ok(None) };
        let is_known = self.state.session_origin(session)?.is_some();
        let is_live = is_known && !self.state.is_session_over(session)?;
        Ok(Some(session).filter(|_| is_live))
    }

    fn copy(&mut self, former: &HandoffRecord) -> Result<(HandoffId, Status)> {
        let mut document = self.document(former)?.document;
        let head = &mut document.head;
        head.source_id = Some(former.id.to_string());
        head.kind = former.kind;
        head.created_at.get_or_insert(former.created);
        head.working_dir = root_of_files(&self.place.project)
            .map(|root| root.to_string_lossy().into_owned())
            .or(head.working_dir.take());
        self.fill_in(head, clock::now());
        head.expires_at = former.expires;
        let Created { id, status, .. } = self.store(document)?;
        Ok((id, status))
    }
}

fn taken_meanwhile(id: &HandoffId) -> HandoffError {
    HandoffError::No(format!(
        "{id} cannot be adopted: it was delivered, archived or claimed in the meantime; `kgctx handoff list \
        --everywhere` lists what waits"
    ))
}
