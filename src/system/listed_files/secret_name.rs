//! Names of files that contain keys and passwords. No handoff should list them.

use std::path::Path;

use crate::core::text::words::words;

/// Whole file names.
static NAMES: [&str; 16] = words(
    ".env .envrc .netrc _netrc .npmrc .pypirc .pgpass .my.cnf .htpasswd .dockercfg \
     .git-credentials .vault-token id_rsa id_dsa id_ecdsa id_ed25519",
);
/// Endings of file names.
const ENDINGS: &[&str] =
    &[".env", ".pem", ".key", ".p8", ".p12", ".pfx", ".ppk", ".jks", ".keystore", ".kdb", ".kdbx"];
/// Templates of `.env`, without values.
const TEMPLATES: &[&str] = &[".env.example", ".env.sample", ".env.template", ".env.dist"];
/// Folders whose files are all secret, or can be.
const FOLDERS: &[&str] = &[".ssh", ".gnupg", ".aws", ".kube", ".git"];

/// Whether the file's name, or that of a folder above it, is one of these.
pub(super) fn is_secret(path: &Path) -> bool {
    let mut names: Vec<String> =
        path.components().map(|part| part.as_os_str().to_string_lossy().to_lowercase()).collect();
    let Some(file) = names.pop() else { return false };
    let is_environment = file.starts_with(".env.") && !TEMPLATES.contains(&file.as_str());
    is_environment
        || file.starts_with("credentials")
        || NAMES.contains(&file.as_str())
        || ENDINGS.iter().any(|ending| file.ends_with(ending))
        || names.iter().any(|folder| FOLDERS.contains(&folder.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_3_15_names_of_secrets_are_known() {
        // P-3.15
        for name in [
            ".env",
            "a/.ENV",
            ".env.local",
            ".env.production",
            "prod.env",
            "server.pem",
            "a/tls.Key",
            "id_rsa",
            "id_ed25519",
            ".netrc",
            "credentials",
            "credentials.json",
            "a.p12",
            ".npmrc",
            ".pypirc",
            "x.kdbx",
            ".aws/config",
            "a/.ssh/known_hosts",
            ".git/config",
        ] {
            assert!(is_secret(Path::new(name)), "{name}");
        }
        for name in [
            ".env.example",
            ".env.sample",
            "environment.md",
            "id_rsa.pub",
            "keys.md",
            "src/key.rs",
            "a.env/b",
            "aws/config",
            "src/credentials/store.rs",
            ".github/workflows/ci.yml",
            ".gitignore",
            "",
            "/",
        ] {
            assert!(!is_secret(Path::new(name)), "{name}");
        }
    }
}
