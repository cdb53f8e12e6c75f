//! Who may see the page: whoever names the secret of its address, and asks this very server.
//!
//! The whole page lives below the secret. So every request is held to one rule, a reload and a second tab work, and the
//! secret is neither in a cookie, which all ports of a machine share, nor in the hands of a script.

use hyper::Request;
use hyper::header::HOST;

#[derive(Debug)]
pub(super) struct Access {
    token: blake3::Hash,
    /// The names under which a browser may reach this server. Another one is that of a site which made its own name
    /// lead here.
    names: [String; 2],
}

/// What a request is let in to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Entry<'r> {
    Denied(&'static str),
    /// The root of the page without its final slash.
    NoSlash,
    /// The path below the secret.
    Path(&'r str),
}

impl Access {
    pub(super) fn new(token: &str, port: u16) -> Access {
        let names = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        Access { token: blake3::hash(token.as_bytes()), names }
    }

    pub(super) fn entry<'r, Body>(&self, request: &'r Request<Body>) -> Entry<'r> {
        let mut hosts = request.headers().get_all(HOST).iter();
        let (host, more) = (hosts.next(), hosts.next());
        let is_known = |host: &[u8]| self.names.iter().any(|name| name.as_bytes() == host);
        if !host.is_some_and(|host| is_known(host.as_bytes())) || more.is_some() {
            return Entry::Denied("this page is only at 127.0.0.1 and localhost");
        }
        let path = request.uri().path().trim_start_matches('/');
        let (token, rest) = path.split_once('/').map_or((path, None), |(a, b)| (a, Some(b)));
        // Hashes are compared in constant time, and say nothing about how much of a guess was right.
        if blake3::hash(token.as_bytes()) != self.token {
            return Entry::Denied("open the whole address that `kgctx serve --web` printed");
        }
        rest.map_or(Entry::NoSlash, Entry::Path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn is_let_in(path: &str, hosts: &[&str]) -> bool {
        let mut request = Request::builder().uri(path);
        for host in hosts {
            request = request.header(HOST, *host);
        }
        let request = request.body(()).unwrap();
        !matches!(Access::new("s3cret", 4097).entry(&request), Entry::Denied(_))
    }

    #[test]
    fn only_the_whole_secret_lets_in() {
        for path in ["/s3cret/", "/s3cret", "/s3cret/api/monitor?q=1", "//s3cret/"] {
            assert!(is_let_in(path, &["127.0.0.1:4097"]), "{path}");
        }
        for path in
            ["/", "/s3cre/", "/s3crets/", "/S3CRET/", "/api/monitor", "/x/s3cret/", "/?s3cret"]
        {
            assert!(!is_let_in(path, &["127.0.0.1:4097"]), "{path}");
        }
    }

    #[test]
    fn only_our_own_names_are_served() {
        assert!(is_let_in("/s3cret/", &["localhost:4097"]));
        for host in ["127.0.0.1", "127.0.0.1:4098", "evil.example:4097", "localhost.evil:4097", ""]
        {
            assert!(!is_let_in("/s3cret/", &[host]), "{host}");
        }
        assert!(!is_let_in("/s3cret/", &[]));
        assert!(!is_let_in("/s3cret/", &["localhost:4097", "evil.example:4097"]));
    }
}
