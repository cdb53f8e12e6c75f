//! The service: one thread listens, follows servers and stops cleanly; slow work has its own
//! threads.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::runtime::Builder;
use tokio::sync::watch;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::timeout;

use crate::app::deliver::http;
use crate::app::deliver::{PendingDelivery, ServiceRefusal};
use crate::app::hook::{self, Caller, HookLimits};
use crate::app::warm::Warm;
use crate::core::time_limits;
use crate::hosts::opencode::{BridgeReply, OpencodeServer};
use crate::service::bridged::Bridged;
use crate::service::follower::Follower;
use crate::service::instance::Instance;
use crate::service::protocol::{Call, Reply, ServiceQuestion, VERSION};
use crate::service::serving::{ServeError, Serving};
use crate::service::status::Status;
use crate::system::clock;
use crate::system::directories::Directories;
use crate::system::environment::Environment;
use crate::system::log_file::LogFile;
use crate::system::process::stop::Stop;
use crate::workspace::{Place, Request};

/// Longer questions are cut off, and then fail to parse.
const LONGEST_CALL: u64 = 8 * 1024 * 1024;

/// Data that all tasks of the service share.
pub(super) struct Shared {
    pub(super) warm: Arc<Warm>,
    pub(super) bridged: Bridged,
    status: Mutex<Status>,
}

impl Shared {
    pub(super) fn status(&self) -> MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs the service until a signal stops it. Calls `begun` as soon as it listens.
pub fn serve(
    request: &Request,
    urls: &[String],
    begun: impl FnOnce(&Serving),
) -> Result<(), ServeError> {
    let Place { settings, directories, .. } = Place::find(request)?;
    let urls = if urls.is_empty() { &settings.servers.value } else { urls };
    let environment = Environment::of_process();
    let mut servers: Vec<OpencodeServer> =
        urls.iter().map(|url| http::server(url, &environment)).collect::<Result<_, _>>()?;
    // Follows a server once, even if it is named twice.
    servers.sort_by_key(|server| server.address.to_string());
    servers.dedup_by_key(|server| server.address.to_string());
    let instance = Instance::become_one(&directories)?;
    let log = start_log(&directories)?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let shared = Arc::new(Shared {
        warm: Arc::new(Warm::default()),
        bridged: Bridged::default(),
        status: Mutex::new(Status {
            version: VERSION.to_owned(),
            pid: std::process::id(),
            since: clock::now(),
            watched: 0,
            answered: 0,
            servers: Vec::new(),
            log: log.display().to_string(),
        }),
    });
    let done = runtime.block_on(async {
        let listener = UnixListener::from_std(instance.listen()?)?;
        let addresses = servers.iter().map(|server| server.address.to_string()).collect();
        begun(&Serving { socket: instance.socket.clone(), log, servers: addresses });
        tracing::info!(version = VERSION, "the service has started");
        run(listener, servers, &shared).await
    });
    runtime.shutdown_timeout(Duration::from_millis(100));
    tracing::info!("the service has ended");
    done
}

fn start_log(directories: &Directories) -> Result<PathBuf, ServeError> {
    let path = directories.state.join("log").join("service.log");
    let file =
        LogFile::open(&path).map_err(|cause| ServeError::Log { path: path.clone(), cause })?;
    let subscriber = tracing_subscriber::fmt()
        .with_writer(Mutex::new(file))
        .with_ansi(false)
        .with_target(false)
        .with_max_level(tracing::Level::INFO)
        .finish();
    // Fails only for a second service in one process.
    let _ = tracing::subscriber::set_global_default(subscriber);
    Ok(path)
}

async fn run(
    listener: UnixListener,
    servers: Vec<OpencodeServer>,
    shared: &Arc<Shared>,
) -> Result<(), ServeError> {
    let mut stop = Stop::new()?;
    let (stopping, is_stopping) = watch::channel(false);
    let mut followers = JoinSet::new();
    for server in servers {
        let follower = Follower::new(server, Arc::clone(shared));
        followers.spawn(follower.follow(is_stopping.clone()));
    }
    let mut calls = JoinSet::new();
    loop {
        tokio::select! {
            () = stop.asked() => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    calls.spawn(answer(stream, Arc::clone(shared)));
                }
                // Probably a temporary lack of file descriptors.
                Err(error) => {
                    tracing::warn!("cannot accept: {error}");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            },
            Some(_) = calls.join_next() => {}
        }
    }
    tracing::info!("stopping");
    drop(listener);
    // Answers open calls, and records messages that are being stored.
    stopping.send_replace(true);
    let all_done = async {
        while calls.join_next().await.is_some() {}
        while followers.join_next().await.is_some() {}
    };
    let _ = timeout(time_limits::SERVICE_STOP, all_done).await;
    Ok(())
}

async fn answer(mut stream: UnixStream, shared: Arc<Shared>) {
    let mut call = Vec::new();
    let read = async { (&mut stream).take(LONGEST_CALL).read_to_end(&mut call).await };
    if !matches!(timeout(time_limits::SERVICE_CALL, read).await, Ok(Ok(_))) {
        return;
    }
    let Ok(call) = serde_json::from_slice::<Call>(&call) else { return };
    let pending = if call.version == VERSION {
        reply(call, &shared).await
    } else {
        PendingDelivery::unclaimed(Reply::Other(VERSION.to_owned()))
    };
    shared.status().answered += 1;
    let Ok(json) = serde_json::to_vec(&pending.content) else { return };
    let sent = timeout(time_limits::SERVICE_CALL, async {
        stream.write_all(&json).await?;
        stream.shutdown().await
    });
    let is_sent = matches!(sent.await, Ok(Ok(())));
    // A context that did not reach the caller is released, which can wait for the state.
    let _ = spawn_blocking(move || is_sent.then(|| pending.sent())).await;
}

async fn reply(call: Call, shared: &Arc<Shared>) -> PendingDelivery<Reply> {
    let environment: Environment =
        call.environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
    PendingDelivery::unclaimed(match call.question {
        ServiceQuestion::Status => {
            let watched = shared.warm.n_watched();
            Reply::Status(Status { watched, ..shared.status().clone() })
        }
        ServiceQuestion::Hook(question) => {
            let (shared, host) = (Arc::clone(shared), call.host);
            // A later answer is useless: the caller has started to do the work itself.
            let patience = Duration::from_millis(call.patience_ms);
            let until = Instant::now() + patience.saturating_sub(time_limits::HOOK_REPLY);
            let answered = spawn_blocking(move || {
                if let Some((session, folder)) = hook::subject(question.as_bytes()) {
                    shared.bridged.remember(session, folder);
                }
                let (environment, warm) = (Some(environment), Some(&*shared.warm));
                let limits = HookLimits::default();
                let caller = Caller { environment, warm, host, until, limits };
                hook::opencode(question.as_bytes(), &caller)
            });
            match answered.await {
                Ok(pending) => return pending.map(Reply::Hook),
                Err(error) => Reply::Hook(BridgeReply::none(error)),
            }
        }
        ServiceQuestion::Deliver { server, mut request } => {
            let done = async {
                let server = http::server(&server, &environment)?;
                request.place.environment = Some(environment);
                http::deliver_to(&server, &request, Some(Arc::clone(&shared.warm))).await
            };
            Reply::Delivered(done.await.map(Box::new).map_err(ServiceRefusal::from))
        }
    })
}
