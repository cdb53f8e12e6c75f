//! Follows one OpenCode server and delivers contexts to its sessions. Looks for missed sessions
//! after every connect. `app::deliver` decides which session gets a context, so nothing here can
//! deliver twice.

use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, BoxStream};
use futures::{FutureExt, Stream, StreamExt, TryStreamExt};
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, interval, sleep};

use crate::app::deliver::http::{self, Delivered, ServerDelivery};
use crate::app::deliver::{NotDelivered, Refusal};
use crate::app::hook;
use crate::core::session::Recipients;
use crate::core::time_limits;
use crate::hosts::opencode::{Event, OpencodeServer, Scope, ServerError};
use crate::service::run::Shared;
use crate::system::clock;
use crate::workspace::Request;

const MAX_FAILURES: u32 = 10;
/// The number of parallel deliveries: the server has other work to do.
const AT_ONCE: usize = 4;
/// Above this number, finished sessions are forgotten and checked again.
const MAX_REMEMBERED: usize = 10_000;

#[derive(Debug, Clone, Copy)]
struct Waiting {
    due: Instant,
    to: Recipients,
    n_failures: u32,
    /// The time of its last change, if it was listed.
    updated: Option<u64>,
}

pub(super) struct Follower {
    server: OpencodeServer,
    address: String,
    shared: Arc<Shared>,
    waiting: HashMap<String, Waiting>,
    /// Sessions with a delivery in progress.
    under_way: HashSet<String>,
    /// Finished sessions with the times of their last changes, so that the next look skips them.
    finished: HashMap<String, u64>,
    deliveries: JoinSet<Delivery>,
}

/// A session, and what came of its delivery.
type Delivery = (String, Waiting, Result<Delivered, NotDelivered>);

impl Follower {
    pub(super) fn new(server: OpencodeServer, shared: Arc<Shared>) -> Follower {
        let address = server.address.to_string();
        Follower {
            server,
            address,
            shared,
            waiting: HashMap::new(),
            under_way: HashSet::new(),
            finished: HashMap::new(),
            deliveries: JoinSet::new(),
        }
    }

    /// Follows until the service stops, then waits for deliveries in progress.
    pub(super) async fn follow(mut self, mut is_stopping: watch::Receiver<bool>) {
        tokio::select! {
            () = self.keep_connected() => {}
            _ = is_stopping.wait_for(|&is_stopping| is_stopping) => {}
        }
        while let Some(done) = self.deliveries.join_next().await {
            self.done(done);
        }
    }

    /// Connects, and reconnects after every failure.
    async fn keep_connected(&mut self) {
        let mut pause = time_limits::FIRST_PAUSE;
        let mut last_error = None;
        loop {
            let began = Instant::now();
            let error = match self.connect().await {
                Ok(events) => {
                    tracing::info!(server = self.address, "connected");
                    self.note_connection(true, None);
                    let ended = self.listen(events).await;
                    tracing::info!(server = self.address, "disconnected: {ended}");
                    ended
                }
                Err(error) => {
                    let error = error.to_string();
                    // Logged once, not at every attempt.
                    if last_error.as_ref() != Some(&error) {
                        tracing::warn!(server = self.address, "not connected: {error}");
                    }
                    last_error.insert(error).clone()
                }
            };
            self.note_connection(false, Some(error));
            // Only a connection that lasted resets the pause.
            if began.elapsed() > time_limits::LONGEST_PAUSE {
                pause = time_limits::FIRST_PAUSE;
                last_error = None;
            }
            sleep(pause).await;
            pause = (pause * 2).min(time_limits::LONGEST_PAUSE);
        }
    }

    fn note_connection(&self, connected: bool, error: Option<String>) {
        let mut status = self.shared.status();
        let server = status.server(&self.address);
        (server.connected, server.error) = (connected, error);
    }

    /// The events of the server's own folder, which are complete, and those of all other folders.
    /// The end of either stream is an error.
    async fn connect(
        &self,
    ) -> Result<impl Stream<Item = Result<Event, String>> + use<>, ServerError> {
        let own = self.server.events(&Scope::OwnFolder).await?;
        let all = self.server.events(&Scope::Everywhere).await?;
        let until_end = |events: BoxStream<'static, Result<Event, ServerError>>| {
            let end = async { Err("the server closed the connection".to_owned()) };
            events.map_err(|error| error.to_string()).chain(stream::once(end))
        };
        Ok(stream::select(until_end(own.boxed()), until_end(all.boxed())))
    }

    /// Handles events until they end. Returns the reason.
    async fn listen(&mut self, events: impl Stream<Item = Result<Event, String>>) -> String {
        let mut events = pin!(events);
        let mut tick = interval(time_limits::DUE_POLL);
        let mut looks = vec![Instant::now() + time_limits::SECOND_LOOK, Instant::now()];
        loop {
            if looks.last().is_some_and(|&due| due <= Instant::now()) {
                looks.pop();
                if let Err(error) = self.catch_up().await {
                    return error.to_string();
                }
            }
            self.start_due();
            tokio::select! {
                Some(event) = events.next() => match event {
                    Ok(event) => self.on_event(&event),
                    Err(error) => return error,
                },
                Some(done) = self.deliveries.join_next() => self.done(done),
                _ = tick.tick() => {}
            }
        }
    }

    /// Finds sessions that were created while disconnected.
    async fn catch_up(&mut self) -> Result<(), ServerError> {
        let oldest = clock::now().milliseconds() - time_limits::OLDEST_SESSION.as_millis() as i64;
        let oldest = u64::try_from(oldest).unwrap_or(0);
        for session in self.server.sessions_since(oldest).await? {
            let is_finished = self.finished.get(&session.id) == Some(&session.time.updated);
            if session.time.created >= oldest && !is_finished {
                let pause = self.pause(&session.directory);
                let updated = Some(session.time.updated);
                self.expect(session.id, Recipients::Unprompted, pause, updated);
            }
        }
        Ok(())
    }

    /// How long to leave a folder's sessions to its bridge.
    fn pause(&self, folder: &str) -> Duration {
        if self.shared.bridged.knows(folder) { time_limits::BRIDGE_FIRST } else { Duration::ZERO }
    }

    fn on_event(&mut self, event: &Event) {
        let Some(id) = event.session_id() else { return };
        match event.kind.as_str() {
            "session.created" => {
                let Some(session) = event.session() else { return };
                if session.parent_id.is_none() {
                    let pause = self.pause(&session.directory);
                    self.expect(session.id, Recipients::All, pause, None);
                }
            }
            "session.compacted" => {
                self.expect(id.to_owned(), Recipients::Unprompted, Duration::ZERO, None);
            }
            "session.idle" => {
                if let Some(waiting) = self.waiting.get_mut(id) {
                    waiting.due = waiting.due.min(Instant::now());
                }
            }
            "session.deleted" => {
                self.waiting.remove(id);
            }
            _ => {}
        }
    }

    /// Adds a session to the list. A session whose creation was seen keeps `Recipients::All`.
    fn expect(&mut self, id: String, to: Recipients, pause: Duration, updated: Option<u64>) {
        if self.under_way.contains(&id) {
            return;
        }
        let waiting = Waiting { due: Instant::now() + pause, to, n_failures: 0, updated };
        let known = self.waiting.entry(id).or_insert(waiting);
        if to == Recipients::All {
            known.to = to;
        }
    }

    fn start_due(&mut self) {
        let now = Instant::now();
        let due = self.waiting.iter().filter(|(_, waiting)| waiting.due <= now);
        let mut due: Vec<(String, Waiting)> =
            due.map(|(id, waiting)| (id.clone(), *waiting)).collect();
        due.sort_by_key(|(_, waiting)| waiting.due);
        due.truncate(AT_ONCE.saturating_sub(self.deliveries.len()));
        for (id, waiting) in due {
            self.waiting.remove(&id);
            // A session that a bridge has asked about is left to the bridge, as its user chose.
            if self.shared.bridged.knows(&id) {
                continue;
            }
            self.under_way.insert(id.clone());
            let request = ServerDelivery {
                session: id.clone(),
                place: Request { is_lenient: true, ..Request::default() },
                budget: None,
                now: None,
                to: waiting.to,
            };
            let (server, warm) = (self.server.clone(), Arc::clone(&self.shared.warm));
            self.deliveries.spawn(async move {
                let done = AssertUnwindSafe(http::deliver_to(&server, &request, Some(warm)));
                (id, waiting, done.catch_unwind().await.unwrap_or(Err(NotDelivered::Fault)))
            });
        }
    }

    /// Records the outcome, and retries if that can help.
    fn done(&mut self, done: Result<Delivery, JoinError>) {
        let Ok((id, waiting, done)) = done else { return };
        self.under_way.remove(&id);
        let refusal = match done {
            Ok(Delivered { injection, message }) => {
                let said = hook::notice(&injection.receipt);
                tracing::info!(server = self.address, session = id, stored = message, "{said}");
                self.shared.status().server(&self.address).delivered += 1;
                return;
            }
            Err(refusal) => refusal,
        };
        let pause = match &refusal {
            NotDelivered::Busy(_) => time_limits::BUSY_PAUSE,
            NotDelivered::Taken(_) => time_limits::CLAIMED_PAUSE,
            other if other.kind() == Refusal::Unavailable => {
                tracing::warn!(server = self.address, session = id, "not delivered: {refusal}");
                time_limits::FIRST_PAUSE * 2_u32.pow(waiting.n_failures.min(6))
            }
            NotDelivered::Has(_) | NotDelivered::UnderWay(_) | NotDelivered::Child(_) => {
                if self.finished.len() >= MAX_REMEMBERED {
                    self.finished.clear();
                }
                self.finished.extend(waiting.updated.map(|updated| (id, updated)));
                return;
            }
            // An undo, an agent or a setting: the next event or connect tries again.
            _ => {
                tracing::info!(server = self.address, session = id, "not delivered: {refusal}");
                return;
            }
        };
        let is_failure = refusal.kind() == Refusal::Unavailable;
        let n_failures = waiting.n_failures + u32::from(is_failure);
        if n_failures <= MAX_FAILURES {
            let due = Instant::now() + pause;
            self.waiting.insert(id, Waiting { due, n_failures, ..waiting });
        }
    }
}
