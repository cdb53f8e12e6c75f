//! One HTTP request per connection. Every wait has a limit.

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::address::ServerAddress;
use super::error::{ServerError, ServerResult, chain};
use super::server::OpencodeServer;
use crate::core::time_limits;

/// A hundred long messages take a few megabytes.
pub(super) const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;

pub(super) struct HttpReply<Body> {
    pub(super) status: StatusCode,
    pub(super) content_type: String,
    pub(super) body: Body,
}

/// A body that has not been read yet.
pub(super) struct OpenBody {
    pub(super) body: Incoming,
    /// The task that drives the connection. Dropping it closes the connection, even if the other
    /// side has stopped reading.
    pub(super) connection: JoinSet<()>,
}

impl OpencodeServer {
    /// Sends a request and reads the whole reply in time. A request with a JSON body is a `POST`.
    /// The path has the query, and is relative to the server's base.
    pub(super) async fn exchange(
        &self,
        path: &str,
        body: Option<Vec<u8>>,
    ) -> ServerResult<HttpReply<Bytes>> {
        self.within(self.limit, async { self.read(self.send(path, body).await?).await }).await
    }

    /// Sends a request and waits for the reply's head.
    pub(super) async fn open(&self, path: &str) -> ServerResult<HttpReply<OpenBody>> {
        self.within(self.limit, self.send(path, None)).await
    }

    /// Reads the body in time.
    pub(super) async fn read(&self, reply: HttpReply<OpenBody>) -> ServerResult<HttpReply<Bytes>> {
        let HttpReply { status, content_type, body: OpenBody { body, connection: _open } } = reply;
        let reading = async {
            let body = Limited::new(body, MAX_BODY_BYTES).collect().await;
            Ok(body.map_err(|cause| self.broken(&*cause))?.to_bytes())
        };
        Ok(HttpReply { status, content_type, body: self.within(self.limit, reading).await? })
    }

    async fn send(&self, path: &str, body: Option<Vec<u8>>) -> ServerResult<HttpReply<OpenBody>> {
        let request = self.request(path, body).map_err(|cause| self.broken(&cause))?;
        let ServerAddress { host, port, .. } = &self.address;
        let address = || self.address.to_string();
        let connecting = async {
            let stream = TcpStream::connect((host.as_str(), *port)).await;
            stream.map_err(|cause| ServerError::Unreachable { address: address(), cause })
        };
        let stream = self.within(time_limits::CONNECT, connecting).await?;
        // Only a speed-up, so a failure does not matter.
        let _ = stream.set_nodelay(true);
        let (mut sender, driver) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|cause| self.broken(&cause))?;
        let mut connection = JoinSet::new();
        // The task that waits for the reply gets the same error.
        connection.spawn(driver.map(drop));
        let reply = sender.send_request(request).await.map_err(|cause| self.broken(&cause))?;
        let content_type = reply.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
        Ok(HttpReply {
            status: reply.status(),
            content_type: String::from_utf8_lossy(content_type.unwrap_or_default()).into_owned(),
            body: OpenBody { body: reply.into_body(), connection },
        })
    }

    fn request(
        &self,
        path: &str,
        body: Option<Vec<u8>>,
    ) -> Result<Request<Full<Bytes>>, hyper::http::Error> {
        let mut builder = Request::builder()
            .uri(format!("{}{path}", self.address.base))
            .header(HOST, self.address.authority())
            .header(ACCEPT, "application/json, text/event-stream");
        if let Some(credentials) = &self.credentials {
            builder = builder.header(AUTHORIZATION, credentials);
        }
        if body.is_some() {
            builder = builder.method(Method::POST).header(CONTENT_TYPE, "application/json");
        }
        builder.body(Full::from(body.unwrap_or_default()))
    }

    async fn within<T>(
        &self,
        limit: Duration,
        work: impl Future<Output = ServerResult<T>>,
    ) -> ServerResult<T> {
        let silent = || ServerError::Silent { address: self.address.to_string(), limit };
        timeout(limit, work).await.unwrap_or_else(|_| Err(silent()))
    }

    pub(super) fn broken(&self, error: &(dyn Error + 'static)) -> ServerError {
        ServerError::Broken { address: self.address.to_string(), cause: chain(error) }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{Shutdown, TcpListener};
    use std::time::Instant;

    use super::*;
    use crate::hosts::opencode::loopback_for_tests as loopback;
    use crate::system::environment::Environment;

    const LIMIT: Duration = Duration::from_secs(20);

    async fn get(
        address: &ServerAddress,
        limit: Duration,
    ) -> Result<HttpReply<Bytes>, ServerError> {
        OpencodeServer::new(address.clone(), None, limit).exchange("/x?y=z", None).await
    }

    fn cause(result: Result<HttpReply<Bytes>, ServerError>) -> String {
        match result {
            Err(ServerError::Broken { cause, .. }) => cause,
            Err(other) => panic!("{other}"),
            Ok(answer) => panic!("{} bytes", answer.body.len()),
        }
    }

    #[tokio::test]
    async fn a_request_says_who_asks_whom_for_what() {
        let (server, requests) = loopback::recording("application/json", "{}");
        let url = format!("http://me:s3cret@127.0.0.1:{}/base/", server.port);
        let address: ServerAddress = url.parse().unwrap();
        let credentials = address.credentials(&Environment::default());
        let client = OpencodeServer::new(address, credentials, LIMIT);
        let answer = client.exchange("/p", Some(b"{\"a\":1}".to_vec())).await.unwrap();
        assert_eq!((answer.status, &answer.body[..]), (StatusCode::OK, &b"{}"[..]));
        assert_eq!(answer.content_type, "application/json");
        let request = requests.recv().unwrap().to_ascii_lowercase();
        for line in [
            "post /base/p http/1.1\r\n",
            &format!("\r\nhost: 127.0.0.1:{}\r\n", server.port),
            "\r\nauthorization: basic bwu6cznjcmv0\r\n",
            "\r\ncontent-type: application/json\r\n",
            "\r\n\r\n{\"a\":1}",
        ] {
            assert!(request.contains(line), "{line}: {request}");
        }
        get(&server, LIMIT).await.unwrap();
        let request = requests.recv().unwrap().to_ascii_lowercase();
        assert!(request.starts_with("get /x?y=z http/1.1\r\n"), "{request}");
        assert!(!request.contains("authorization") && !request.contains("content-type"));
    }

    #[tokio::test]
    async fn nobody_there_is_told_at_once() {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let address: ServerAddress = format!("http://me:s3cret@127.0.0.1:{port}").parse().unwrap();
        let error = get(&address, LIMIT).await.err().unwrap();
        assert!(matches!(error, ServerError::Unreachable { .. }), "{error}");
        let text = format!("{error} {error:?}");
        assert!(text.contains(&format!("http://127.0.0.1:{port}")), "{text}");
        assert!(!text.contains("s3cret"), "{text}");
    }

    #[tokio::test]
    async fn a_listener_that_never_answers_is_silent_within_the_limit() {
        // The listener's queue takes the connection, but no code accepts it.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = loopback::address_of(&listener);
        let began = Instant::now();
        let error = get(&address, Duration::from_millis(200)).await.err().unwrap();
        assert!(matches!(error, ServerError::Silent { .. }), "{error}");
        assert!(error.to_string().contains("still starting"), "{error}");
        let waited = began.elapsed();
        assert!(waited >= Duration::from_millis(200) && waited < LIMIT / 2, "{waited:?}");
    }

    #[tokio::test]
    async fn an_answer_that_stops_in_its_middle_is_silent_within_the_limit() {
        let server = loopback::serving(|_, stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf").unwrap();
            std::thread::sleep(LIMIT);
        });
        let error = get(&server, Duration::from_millis(300)).await.err().unwrap();
        assert!(matches!(error, ServerError::Silent { .. }), "{error}");
    }

    #[tokio::test]
    async fn a_request_that_was_given_up_closes_its_connection() {
        for beginning in ["", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf"] {
            let (server, closed) = loopback::watching_for_close(beginning);
            let error = get(&server, Duration::from_millis(200)).await.err().unwrap();
            assert!(matches!(error, ServerError::Silent { .. }), "{error}");
            tokio::task::yield_now().await;
            assert!(closed.recv_timeout(LIMIT).is_ok());
        }
    }

    #[tokio::test]
    async fn a_body_that_nobody_takes_is_given_up_with_its_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = loopback::address_of(&listener);
        let body = Some(vec![b' '; MAX_BODY_BYTES / 2]);
        let client = OpencodeServer::new(address, None, Duration::from_millis(300));
        let error = client.exchange("/", body).await.err().unwrap();
        assert!(matches!(error, ServerError::Silent { .. }), "{error}");
        tokio::task::yield_now().await;
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(LIMIT / 4)).unwrap();
        let taken = std::io::copy(&mut stream, &mut std::io::sink());
        assert!(taken.is_ok_and(|bytes| bytes < MAX_BODY_BYTES as u64 / 2));
    }

    #[tokio::test]
    async fn an_answer_that_breaks_off_is_broken() {
        for half in [
            &b""[..],
            b"HTTP/1.1 200 O",
            b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n",
            b"SSH-2.0-OpenSSH_9.6\r\n",
        ] {
            let server = loopback::serving(move |_, stream| stream.write_all(half).unwrap());
            let cause = cause(get(&server, LIMIT).await);
            assert!(!cause.is_empty(), "{half:?}");
        }
    }

    #[tokio::test]
    async fn a_server_that_only_closes_its_side_is_broken() {
        let server = loopback::serving(|_, stream| {
            stream.shutdown(Shutdown::Write).unwrap();
            std::thread::sleep(LIMIT);
        });
        let began = Instant::now();
        cause(get(&server, LIMIT).await);
        assert!(began.elapsed() < LIMIT / 2);
    }

    #[tokio::test]
    async fn a_huge_body_is_not_read_to_its_end() {
        let server = loopback::serving(|_, stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").unwrap();
            let chunk = [b"100000\r\n", &vec![b'x'; 0x10_0000][..], b"\r\n"].concat();
            while stream.write_all(&chunk).is_ok() {}
        });
        let cause = cause(get(&server, LIMIT * 3).await);
        assert!(cause.contains("length limit exceeded"), "{cause}");
    }
}
