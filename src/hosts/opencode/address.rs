//! A server's address and credentials.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::header::HeaderValue;
use hyper::http::uri::PathAndQuery;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use thiserror::Error;

use crate::system::environment::Environment;

/// The characters that a value in a URL's query must not hold as they are.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// OpenCode's default user.
const DEFAULT_USER: &str = "opencode";

/// Why a text is not a server address. The message leaves out possible secrets.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text:?} is not the address of an OpenCode server: {reason}")]
pub struct AddressError {
    /// The text without credentials and query.
    text: String,
    /// The mistake and how to correct it.
    reason: &'static str,
}

/// The user and password for a server, as the value of a header. `Debug` shows neither.
pub(super) type Credentials = HeaderValue;

/// The address of an OpenCode server: `http://host[:port][/base]`. `Display` omits credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerAddress {
    /// The host's name or IP address; an IPv6 address has no brackets.
    pub host: String,
    pub port: u16,
    /// The path prefix of the server's routes. Empty, or starts with a slash and does not end with
    /// one.
    pub base: String,
    credentials: Option<Credentials>,
}

impl ServerAddress {
    /// The credentials for this server: those in the address, else `OPENCODE_SERVER_PASSWORD` with
    /// `OPENCODE_SERVER_USERNAME`, else `None`.
    pub fn credentials(&self, environment: &Environment) -> Option<Credentials> {
        let variable =
            |name| environment.get(name).map(|value| value.to_string_lossy().into_owned());
        self.credentials.clone().or_else(|| {
            let password = variable("OPENCODE_SERVER_PASSWORD")?;
            let user = variable("OPENCODE_SERVER_USERNAME");
            credentials(user.as_deref().unwrap_or(DEFAULT_USER), &password)
        })
    }

    /// Host and port in the format of the `Host` header.
    pub(super) fn authority(&self) -> String {
        let ServerAddress { host, port, .. } = self;
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
    }
}

impl FromStr for ServerAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<ServerAddress, AddressError> {
        let text = text.trim();
        parse(text).map_err(|reason| AddressError { text: without_secrets(text), reason })
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{}", self.authority(), self.base)
    }
}

fn parse(text: &str) -> Result<ServerAddress, &'static str> {
    let (scheme, rest) = text.split_once("://").ok_or("write it like http://127.0.0.1:4096")?;
    if scheme.eq_ignore_ascii_case("https") {
        return Err("kgctx speaks plain http; use a tunnel");
    }
    if !scheme.eq_ignore_ascii_case("http") {
        return Err("write it like http://127.0.0.1:4096");
    }
    if rest.contains(['?', '#']) {
        return Err("leave out what follows `?` or `#`");
    }
    let (authority, base) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let base = base.trim_end_matches('/');
    // An `@` here is more likely the end of a password than part of a path; a path would be shown.
    if base.contains('@') {
        return Err("percent-encode `/`, `:` and `@` in a password or a path");
    }
    if !base.is_ascii() || (!base.is_empty() && PathAndQuery::try_from(base).is_err()) {
        return Err("percent-encode spaces and unusual letters in its path");
    }
    let (user_info, place) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (host, port) = split_port(place)?;
    let port = match port {
        "" => 80,
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().ok().filter(|port| *port != 0).ok_or("a port is from 1 to 65535")?
        }
        _ => return Err("its port is not a number; percent-encode `/`, `:` and `@` in a password"),
    };
    let (host, base) = (host.to_owned(), base.to_owned());
    Ok(ServerAddress { host, port, base, credentials: credentials_in(user_info)? })
}

/// The port is empty if there is none.
fn split_port(place: &str) -> Result<(&str, &str), &'static str> {
    if let Some(rest) = place.strip_prefix('[') {
        let (host, after) = rest.split_once(']').ok_or("`[` without `]`")?;
        host.parse::<std::net::Ipv6Addr>().map_err(|_| "only an IPv6 address goes in brackets")?;
        return match after.strip_prefix(':') {
            Some(port) => Ok((host, port)),
            None if after.is_empty() => Ok((host, "")),
            None => Err("only a port may follow `]`"),
        };
    }
    let (host, port) = place.split_once(':').unwrap_or((place, ""));
    if port.contains(':') {
        return Err(
            "put an IPv6 address in brackets, and percent-encode `:` and `@` in a password",
        );
    }
    if host.is_empty() {
        return Err("it names no host");
    }
    if !host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte)) {
        return Err("a host's name has only letters, digits, `-`, `.` and `_`");
    }
    Ok((host, port))
}

/// Ignores a user without a password: the environment may have both.
fn credentials_in(user_info: &str) -> Result<Option<Credentials>, &'static str> {
    let Some((user, password)) = user_info.split_once(':') else { return Ok(None) };
    let decoded =
        |text| percent_decoded(text).ok_or("its user or password is not percent-encoded UTF-8");
    let user = if user.is_empty() { DEFAULT_USER } else { user };
    Ok(credentials(&decoded(user)?, &decoded(password)?))
}

fn credentials(user: &str, password: &str) -> Option<Credentials> {
    let header = format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
    let mut header = HeaderValue::try_from(header).ok()?;
    header.set_sensitive(true);
    Some(header)
}

fn percent_decoded(text: &str) -> Option<String> {
    let is_code = |part: &str| part.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    let is_encoded = text.split('%').skip(1).all(is_code);
    let decoded = percent_decode_str(text).decode_utf8().ok().filter(|_| is_encoded)?;
    Some(decoded.into_owned())
}

/// Encodes a value for a URL's query.
pub(super) fn percent_encoded(value: &str) -> String {
    utf8_percent_encode(value, RESERVED).to_string()
}

/// Everything before the last `@` can be a password; a query can hold one, too.
fn without_secrets(text: &str) -> String {
    let text = text.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = text.split_at(text.find("://").map_or(0, |at| at + "://".len()));
    match rest.rsplit_once('@') {
        Some((_, place)) => format!("{scheme}…@{place}"),
        None => format!("{scheme}{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        variables.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    fn header(url: &str, variables: &[(&str, &str)]) -> Option<String> {
        let address: ServerAddress = url.parse().unwrap();
        let credentials = address.credentials(&environment(variables))?;
        Some(credentials.to_str().unwrap().to_owned())
    }

    #[test]
    fn an_address_is_read_and_shown() {
        for (text, host, port, base, shown) in [
            ("http://127.0.0.1:4096", "127.0.0.1", 4096, "", "http://127.0.0.1:4096"),
            (" HTTP://localhost/ \n", "localhost", 80, "", "http://localhost:80"),
            ("http://localhost:", "localhost", 80, "", "http://localhost:80"),
            ("http://[::1]:4096/", "::1", 4096, "", "http://[::1]:4096"),
            ("http://[::1]", "::1", 80, "", "http://[::1]:80"),
            ("http://box.lan:8/code/x/", "box.lan", 8, "/code/x", "http://box.lan:8/code/x"),
            ("http://me:s3cret@h:1/b%40c", "h", 1, "/b%40c", "http://h:1/b%40c"),
        ] {
            let address: ServerAddress = text.parse().unwrap();
            let ServerAddress { host: its_host, port: its_port, base: its_base, .. } = &address;
            assert_eq!((its_host.as_str(), *its_port, its_base.as_str()), (host, port, base));
            assert_eq!(address.to_string(), shown);
            assert!(!format!("{address:?}").contains("s3cret"));
        }
    }

    #[test]
    fn what_is_no_address_is_told_why() {
        for (text, reason) in [
            ("https://h:1", "kgctx speaks plain http; use a tunnel"),
            ("127.0.0.1:4096", "write it like"),
            ("unix:///run/x", "write it like"),
            ("", "write it like"),
            ("http://", "names no host"),
            ("http://:80", "names no host"),
            ("http://h:0", "from 1 to 65535"),
            ("http://h:65536", "from 1 to 65535"),
            ("http://h:+80", "not a number"),
            ("http://::1:80", "brackets"),
            ("http://[::1", "without `]`"),
            ("http://[h]:80", "IPv6"),
            ("http://[::1]80", "follow `]`"),
            ("http://h\r\nX: y", "letters, digits"),
            ("http://h/a b", "percent-encode"),
            ("http://h/ü", "percent-encode"),
            ("http://h/a<b", "percent-encode"),
            ("http://h/\r\nX:y", "percent-encode"),
            ("http://h?x", "leave out"),
            ("http://u:%zz@h", "not percent-encoded"),
            ("http://u:%4@h", "not percent-encoded"),
            ("http://u:%+4@h", "not percent-encoded"),
            ("http://u:%ff@h", "not percent-encoded"),
        ] {
            let error = text.parse::<ServerAddress>().unwrap_err().to_string();
            assert!(error.contains(reason), "{text:?}: {error}");
        }
    }

    #[test]
    fn no_error_quotes_a_secret() {
        for text in [
            "https://me:s3cret@h",
            "http://me:s3cret@h:x",
            "http://me:s3cret/@h",
            "http://me:a@s3cret/b@h",
            "me:s3cret@h",
            "http://h?auth_token=s3cret",
            "http://h#s3cret",
            "http://me:s3cret%zz@h",
            "http://me:/s3cret@h?",
        ] {
            let error = text.parse::<ServerAddress>().unwrap_err();
            assert!(!format!("{error} {error:?}").contains("s3cret"), "{text}: {error}");
        }
    }

    #[test]
    fn the_address_goes_before_the_environment() {
        let password = ("OPENCODE_SERVER_PASSWORD", "pw");
        let both = [password, ("OPENCODE_SERVER_USERNAME", "me")];
        let basic = |text| Some(format!("Basic {}", STANDARD.encode(text)));
        assert_eq!(header("http://h", &[password]).as_deref(), Some("Basic b3BlbmNvZGU6cHc="));
        assert_eq!(header("http://h", &both), basic("me:pw"));
        assert_eq!(header("http://h", &[both[1]]), None);
        assert_eq!(header("http://h", &[("OPENCODE_SERVER_PASSWORD", "")]), None);
        assert_eq!(header("http://a:b%40%3A%C3%BC@h", &both), basic("a:b@:ü"));
        assert_eq!(header("http://:b@h", &both), basic("opencode:b"));
        assert_eq!(header("http://a@h", &both), basic("me:pw"));
        let secret = credentials("s3cret", "s3cret").unwrap();
        let shown = format!("{secret:?}");
        assert!(!shown.contains("s3cret") && !shown.contains("Basic"), "{shown}");
    }

    #[test]
    fn a_query_value_cannot_leave_its_place() {
        assert_eq!(percent_encoded("/a b&c=ü#?\r\n"), "%2Fa%20b%26c%3D%C3%BC%23%3F%0D%0A");
        assert_eq!(percent_encoded("Az09-._~"), "Az09-._~");
        assert_eq!(percent_decoded("%2Fa%20b%26c%3D%C3%BC").as_deref(), Some("/a b&c=ü"));
    }
}
