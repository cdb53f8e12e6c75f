//! The event stream of a server.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures::{Stream, StreamExt, stream};
use http_body_util::BodyExt;
use sse_stream::{Sse, SseByteStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::error::{ServerError, ServerResult, chain};
use super::http::{MAX_BODY_BYTES, OpenBody};
use super::wire::Event;

/// The folders whose events are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// All folders. The server sends `server.connected` just before it subscribes itself, so events
    /// of that moment can be missed.
    Everywhere,
    /// The folder that the server was started in.
    OwnFolder,
    Folder(String),
}

/// Reads the events of a reply that never ends, heartbeats included. An error is the last item; if
/// the server closes the connection properly, the stream just ends.
pub(super) fn read(
    body: OpenBody,
    address: String,
    longest_silence: Duration,
) -> impl Stream<Item = ServerResult<Event>> + Send {
    let OpenBody { body, connection } = body;
    let unread = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&unread);
    let chunks = body.into_data_stream().map(move |chunk| -> io::Result<Bytes> {
        let chunk = chunk.map_err(io::Error::other)?;
        // Without this limit an endless event would fill the memory.
        if counter.fetch_add(chunk.len(), Ordering::Relaxed) > MAX_BODY_BYTES {
            return Err(io::Error::other("an event is too long"));
        }
        Ok(chunk)
    });
    let feed = Feed {
        blocks: SseByteStream::new(chunks),
        unread,
        address,
        longest_silence,
        _connection: connection,
    };
    stream::try_unfold(feed, |mut feed| async { Ok(feed.next().await?.map(|event| (event, feed))) })
}

struct Feed<S> {
    blocks: S,
    /// The number of bytes since the last event.
    unread: Arc<AtomicUsize>,
    address: String,
    longest_silence: Duration,
    _connection: JoinSet<()>,
}

impl<S: Stream<Item = Result<Sse, sse_stream::Error>> + Unpin> Feed<S> {
    /// Waits for the next event; `None` after the server closed the connection.
    async fn next(&mut self) -> ServerResult<Option<Event>> {
        loop {
            let Ok(block) = timeout(self.longest_silence, self.blocks.next()).await else {
                let silence = self.longest_silence;
                return Err(self.lost(format!("nothing for {silence:?}, not even a heartbeat")));
            };
            self.unread.store(0, Ordering::Relaxed);
            let data = match block {
                None => return Ok(None),
                Some(Ok(block)) => block.data.unwrap_or_default(),
                Some(Err(sse_stream::Error::Body(cause))) => return Err(self.lost(chain(&*cause))),
                Some(Err(cause)) => return Err(self.broken(cause.to_string())),
            };
            if data.is_empty() {
                continue;
            }
            let event = Event::parse(&data).map_err(|cause| self.broken(cause.to_string()))?;
            if event.is_some() {
                return Ok(event);
            }
        }
    }

    fn lost(&self, cause: String) -> ServerError {
        ServerError::Lost { address: self.address.clone(), cause }
    }

    fn broken(&self, cause: String) -> ServerError {
        ServerError::Broken { address: self.address.clone(), cause }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpStream;
    use std::pin::pin;
    use std::thread::sleep;

    use super::*;
    use crate::hosts::opencode::loopback_for_tests as loopback;
    use crate::hosts::opencode::server::OpencodeServer;

    const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    const LIMIT: Duration = Duration::from_secs(20);

    /// Collects the kinds of all events, and the final error.
    async fn heard(
        silence: Duration,
        mut say: impl FnMut(&mut TcpStream) + Send + 'static,
    ) -> (Vec<String>, Option<ServerError>) {
        let address = loopback::serving(move |_, stream| say(stream));
        let server = OpencodeServer::new(address.clone(), None, LIMIT);
        let answer = server.open("/event").await.unwrap();
        let mut events = pin!(read(answer.body, address.to_string(), silence));
        let mut kinds = Vec::new();
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => kinds.push(event.kind),
                Err(fault) => {
                    assert!(events.next().await.is_none(), "a fault is the last item");
                    return (kinds, Some(fault));
                }
            }
        }
        (kinds, None)
    }

    #[tokio::test]
    async fn events_are_the_same_wherever_the_wire_cuts_them() {
        let body = "\u{feff}data: {\"type\":\"a\",\"properties\":{\"text\":\"ü\"}}\r\n\r\n: comment\n\n\
                    event: x\ndata:{\"payload\":{\"type\":\"b\"}}\n\ndata: {\"payload\":{\"type\":\"sync\"}}\n\n\
                    data: {\"type\":\ndata: \"c\"}\r\rdata\n\nid: 7\n\ndata: {\"type\":\"cut off\"}\n";
        for at in 0..=body.len() {
            let (kinds, fault) = heard(LIMIT, move |stream| {
                stream.set_nodelay(true).unwrap();
                stream.write_all(HEAD.as_bytes()).unwrap();
                stream.write_all(&body.as_bytes()[..at]).unwrap();
                sleep(Duration::from_millis(1));
                stream.write_all(&body.as_bytes()[at..]).unwrap();
            })
            .await;
            assert!(fault.is_none(), "{at}: {fault:?}");
            assert_eq!(kinds, ["a", "b", "c"], "cut at {at}");
        }
    }

    #[tokio::test]
    async fn silence_is_a_lost_connection_and_heartbeats_are_not() {
        let (kinds, fault) = heard(Duration::from_millis(400), |stream| {
            stream.write_all(HEAD.as_bytes()).unwrap();
            for _ in 0..4 {
                sleep(Duration::from_millis(150));
                stream.write_all(b"data: {\"type\":\"server.heartbeat\"}\n\n").unwrap();
            }
            sleep(LIMIT);
        })
        .await;
        assert_eq!(kinds.len(), 4);
        assert!(matches!(fault, Some(ServerError::Lost { .. })), "{fault:?}");
    }

    #[tokio::test]
    async fn an_event_that_cannot_be_understood_is_a_fault() {
        for line in [&b"data: <html>\n\n"[..], b"data: \xff\n\n"] {
            let (kinds, fault) = heard(LIMIT, move |stream| {
                stream.write_all(HEAD.as_bytes()).unwrap();
                stream.write_all(b"data: {\"type\":\"a\"}\n\n").unwrap();
                stream.write_all(line).unwrap();
            })
            .await;
            assert_eq!(kinds, ["a"]);
            assert!(matches!(fault, Some(ServerError::Broken { .. })), "{fault:?}");
        }
    }

    #[tokio::test]
    async fn a_connection_that_breaks_off_is_a_fault_and_one_that_ends_is_not() {
        for (tail, is_fault) in [("", true), ("0\r\n\r\n", false)] {
            let (kinds, fault) = heard(LIMIT, move |stream| {
                let head = HEAD.replace("\r\n\r\n", "\r\ntransfer-encoding: chunked\r\n\r\n");
                let chunk = "14\r\ndata: {\"type\":\"a\"}\n\n\r\n";
                stream.write_all(format!("{head}{chunk}{tail}").as_bytes()).unwrap();
            })
            .await;
            let is_lost = matches!(fault, Some(ServerError::Lost { .. }));
            assert_eq!((kinds.len(), is_lost), (1, is_fault), "{fault:?}");
        }
    }

    #[tokio::test]
    async fn an_event_without_end_is_given_up() {
        let said = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&said);
        let (_, fault) = heard(LIMIT, move |stream| {
            stream.write_all(HEAD.as_bytes()).unwrap();
            stream.write_all(b"data: ").unwrap();
            let piece = vec![b'x'; 0x10_0000];
            while counter.load(Ordering::Relaxed) < 3 * MAX_BODY_BYTES
                && stream.write_all(&piece).is_ok()
            {
                counter.fetch_add(piece.len(), Ordering::Relaxed);
            }
        })
        .await;
        assert!(fault.unwrap().to_string().contains("an event is too long"));
        let said = said.load(Ordering::Relaxed);
        assert!((MAX_BODY_BYTES / 2..2 * MAX_BODY_BYTES).contains(&said), "{said}");
    }

    #[tokio::test]
    async fn many_long_events_are_not_one_without_end() {
        let count = MAX_BODY_BYTES / 0x10_0000 + 2;
        let (kinds, fault) = heard(LIMIT, move |stream| {
            stream.write_all(HEAD.as_bytes()).unwrap();
            let text = "x".repeat(0x10_0000);
            for _ in 0..count {
                write!(stream, "data: {{\"type\":\"a\",\"properties\":\"{text}\"}}\n\n").unwrap();
            }
        })
        .await;
        assert!(fault.is_none(), "{fault:?}");
        assert_eq!(kinds.len(), count);
    }

    #[tokio::test]
    async fn nobody_listening_any_more_closes_the_connection() {
        let (address, closed) = loopback::watching_for_close(HEAD);
        let server = OpencodeServer::new(address.clone(), None, LIMIT);
        let answer = server.open("/event").await.unwrap();
        drop(read(answer.body, address.to_string(), LIMIT));
        tokio::task::yield_now().await;
        assert!(closed.recv_timeout(LIMIT).is_ok());
    }
}
