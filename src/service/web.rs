//! The page that `kgctx serve --web` shows in a browser: live sessions, given contexts, handoffs and the graph. It
//! listens on this machine alone, answers only whoever knows the address, and changes nothing.
//!
//! It is a process of its own, beside the service or without it: reading needs no service, and a page must not make a
//! user's OpenCode servers be followed.

mod access;
mod answers;
mod assets;

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, spawn_blocking};

use crate::core::time_limits;
use crate::service::serving::ServeError;
use crate::service::web::access::{Access, Entry};
use crate::service::web::answers::{Answer, Query};
use crate::system::process::stop::Stop;
use crate::system::random;
use crate::workspace::{Place, Request};

/// A browser keeps six; more than this wait.
const MOST_CONNECTIONS: usize = 64;
/// So many answers are made at once.
const AT_ONCE: usize = 4;
/// A request is a line and a few headers.
const LONGEST_HEAD: usize = 16 * 1024;
/// What the page may load: its own files, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; form-action 'none'";
/// Percent-encoded lines about an answer.
const REMARKS: HeaderName = HeaderName::from_static("kgctx-remarks");

type Response = hyper::Response<Full<Bytes>>;

struct Site {
    access: Access,
    place: Request,
    answering: Semaphore,
}

/// Shows the page until a signal stops it. Calls `begun` with its address as soon as it listens.
pub fn serve_web(request: &Request, port: u16, begun: impl FnOnce(&str)) -> Result<(), ServeError> {
    // Wrong settings are told here, and not on the page.
    Place::find(request)?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listener = StdListener::bind(address).map_err(|cause| ServeError::Port { port, cause })?;
    listener.set_nonblocking(true)?;
    let port = listener.local_addr()?.port();
    let token = random::secret()?;
    let site = Site {
        access: Access::new(&token, port),
        place: request.clone(),
        answering: Semaphore::new(AT_ONCE),
    };
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(async {
        let listener = TcpListener::from_std(listener)?;
        begun(&format!("http://127.0.0.1:{port}/{token}/"));
        run(listener, &Arc::new(site)).await
    });
    // No answer that is still being made can be missed.
    runtime.shutdown_timeout(Duration::from_millis(100));
    Ok(done?)
}

async fn run(listener: TcpListener, site: &Arc<Site>) -> io::Result<()> {
    let mut stop = Stop::new()?;
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = stop.asked() => return Ok(()),
            accepted = listener.accept(), if connections.len() < MOST_CONNECTIONS => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(converse(stream, Arc::clone(site)));
                }
                // Probably a temporary lack of file descriptors.
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn converse(stream: TcpStream, site: Arc<Site>) {
    let respond = service_fn(move |request| {
        let site = Arc::clone(&site);
        async move { Ok::<Response, Infallible>(guarded(respond(&site, request).await)) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(time_limits::WEB_SILENCE)
        .max_buf_size(LONGEST_HEAD)
        .serve_connection(TokioIo::new(stream), respond);
    // A browser that goes away in the middle is no failure.
    let _ = connection.await;
}

async fn respond(site: &Arc<Site>, request: hyper::Request<Incoming>) -> Response {
    let path = match site.access.entry(&request) {
        Entry::Denied(reason) => return plain(StatusCode::FORBIDDEN, reason),
        Entry::NoSlash => return moved(request.uri().path()),
        Entry::Path(path) => path.to_owned(),
    };
    if request.method() != Method::GET {
        let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "this page only answers GET");
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET"));
        return response;
    }
    if let Some(question) = path.strip_prefix("api/") {
        let query = Query::parse(request.uri().query().unwrap_or_default());
        return answered(site, question.to_owned(), query).await;
    }
    match assets::asset(&path) {
        Some((kind, content)) => with_type(StatusCode::OK, kind, content),
        None => plain(StatusCode::NOT_FOUND, "there is nothing at this address"),
    }
}

async fn answered(site: &Arc<Site>, question: String, query: Query) -> Response {
    // Closed by nobody.
    let _turn = site.answering.acquire().await;
    let place = site.place.clone();
    let made = spawn_blocking(move || answers::answer(&place, &question, &query)).await;
    let Answer { status, kind, body, remarks } = made.unwrap_or_else(|_| Answer::failed());
    let mut response = with_type(status, kind, body);
    if let Ok(remarks) = HeaderValue::from_str(&remarks) {
        response.headers_mut().insert(REMARKS, remarks);
    }
    response
}

fn plain(status: StatusCode, text: &'static str) -> Response {
    with_type(status, "text/plain; charset=utf-8", format!("{text}\n"))
}

/// Relative addresses on the page need the final slash.
fn moved(path: &str) -> Response {
    let mut response = plain(StatusCode::PERMANENT_REDIRECT, "add a slash");
    if let Ok(address) = HeaderValue::from_str(&format!("{path}/")) {
        response.headers_mut().insert(header::LOCATION, address);
    }
    response
}

fn with_type(status: StatusCode, kind: &'static str, content: impl Into<Bytes>) -> Response {
    let mut response = Response::new(Full::new(content.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Adds what a browser must keep to, whatever it is sent.
fn guarded(mut response: Response) -> Response {
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
