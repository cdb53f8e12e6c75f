//! A test server on loopback: gives prepared replies, one connection at a time.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use super::address::ServerAddress;

/// Calls `answer` with each request and its connection, then closes the connection.
pub(super) fn serving(
    mut answer: impl FnMut(&str, &mut TcpStream) + Send + 'static,
) -> ServerAddress {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = address_of(&listener);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let request = read(&mut stream);
            answer(&request, &mut stream);
        }
    });
    address
}

/// Gives every request the same reply, and sends each request to the receiver.
pub(super) fn recording(kind: &str, body: &str) -> (ServerAddress, Receiver<String>) {
    let (sender, requests) = mpsc::channel();
    let answer = answer(200, kind, body);
    let address = serving(move |request, stream| {
        sender.send(request.to_owned()).unwrap();
        stream.write_all(answer.as_bytes()).unwrap();
    });
    (address, requests)
}

/// Starts each reply with `beginning`, and signals when the client has closed the connection.
pub(super) fn watching_for_close(beginning: &'static str) -> (ServerAddress, Receiver<()>) {
    let (sender, closed) = mpsc::channel();
    let address = serving(move |_, stream| {
        stream.write_all(beginning.as_bytes()).unwrap();
        if stream.read(&mut [0]).is_ok_and(|n_read| n_read == 0) {
            sender.send(()).unwrap();
        }
    });
    (address, closed)
}

/// Formats a whole HTTP reply.
pub(super) fn answer(status: u16, kind: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

pub(super) fn address_of(listener: &TcpListener) -> ServerAddress {
    format!("http://{}", listener.local_addr().unwrap()).parse().unwrap()
}

/// Reads the head, and a body of the length that the head announces.
fn read(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let n_read = stream.read(&mut buffer).unwrap();
        bytes.extend_from_slice(&buffer[..n_read]);
        let request = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = request.split_once("\r\n\r\n") else {
            assert!(n_read > 0, "{request}");
            continue;
        };
        let announced = head
            .lines()
            .filter_map(|line| line.split_once(": "))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .map_or(0, |(_, length)| length.parse().unwrap());
        if body.len() >= announced && std::str::from_utf8(&bytes).is_ok() {
            return request.into_owned();
        }
    }
}
