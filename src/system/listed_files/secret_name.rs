//! Names of files that contain keys and passwords. No handoff should list them.

use std::path::Path;

use crate::core::text::words::words;

/// Whole file names.
static NAMES: [&str; 34] = words(
    ".env .envrc .netrc _netrc .npmrc .yarnrc.yml .pypirc .pgpass pgpass.conf .my.cnf .mylogin.cnf .htpasswd .dockercfg \
     .dockerconfigjson .git-credentials .vault-token .boto .s3cfg .terraformrc terraform.rc .gem_credentials auth.json \
     kubeconfig secring.gpg master.key local.settings.json wp-config.php .passwd-s3fs \
     application_default_credentials.json client_secret.json accesstokens.json azureprofile.json \
     .rclone.conf rclone.conf",
);
/// Endings of file names.
static ENDINGS: [&str; 25] = words(
    ".env .pem .key .p8 .p12 .pfx .pkcs12 .ppk .jks .keystore .bks .kdb .kdbx .psafe3 .agekey .gpgkey .tfvars \
     .tfvars.json .tfstate .tfstate.backup .kubeconfig .ovpn .mobileprovision .keytab .1pux",
);
/// Beginnings of file names, each with the endings that it has then.
const BEGINNINGS: &[(&str, &[&str])] = &[
    ("secrets", &["", ".json", ".yml", ".yaml", ".toml", ".ini", ".env", ".enc"]),
    ("secret", &[".json", ".yml", ".yaml", ".toml", ".ini"]),
    ("service-account", &[".json"]),
    ("service_account", &[".json"]),
    ("serviceaccount", &[".json"]),
    ("client_secret", &[".json"]),
    ("kubeconfig", &["", ".yml", ".yaml"]),
];
/// Templates, without values.
const TEMPLATES: &[&str] = &["example", "sample", "template", "dist", "tpl"];
/// Folders whose files are all secret, or can be.
const FOLDERS: &[&str] =
    &[".ssh", ".gnupg", ".aws", ".kube", ".git", ".azure", ".gcloud", ".password-store"];

/// Whether the file's name, or that of a folder above it, is one of these.
pub(crate) fn is_secret(path: &Path) -> bool {
    let mut names: Vec<String> =
        path.components().map(|part| part.as_os_str().to_string_lossy().to_lowercase()).collect();
    let Some(file) = names.pop() else { return false };
    // Its other files are often those with which a project is built.
    let is_docker = file == "config.json" && names.last().is_some_and(|folder| folder == ".docker");
    let is_in_secret_folder = names.iter().any(|folder| FOLDERS.contains(&folder.as_str()));
    is_docker || is_in_secret_folder || is_secret_file(&file)
}

fn is_secret_file(file: &str) -> bool {
    let is_template = file.split('.').any(|part| TEMPLATES.contains(&part));
    // `id_ed25519`, `id_ed25519_work`; but `id_rsa.pub` and `id_map.rs` are no keys.
    let is_key = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_xmss"].iter().any(|kind| {
        file.strip_prefix(kind).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    }) && !file.contains('.');
    let is_begun = |(start, endings): &(&str, &[&str])| {
        let rest = file.strip_prefix(start);
        rest.is_some_and(|rest| {
            endings.contains(&rest)
                || rest.starts_with(['-', '_', '.'])
                    && endings.iter().any(|ending| !ending.is_empty() && rest.ends_with(ending))
        })
    };
    // The key of an account: `gcp-key.json`.
    let is_account_key = ["-key.json", "_key.json"].iter().any(|end| file.ends_with(end))
        && !file.contains("public");
    !is_template
        && (is_key
            || is_account_key
            || file.starts_with(".env.")
            || file.starts_with("credentials")
            || NAMES.contains(&file)
            || ENDINGS.iter().any(|ending| file.ends_with(ending))
            || BEGINNINGS.iter().any(is_begun))
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
            "kubeconfig",
            "prod.kubeconfig",
            "deploy/kubeconfig.yaml",
            "service-account.json",
            "service-account-prod.json",
            "service_account_key.json",
            "secrets.yml",
            "config/secrets.yaml",
            "secrets.prod.yaml",
            "secret.json",
            "prod.tfvars",
            "x.auto.tfvars",
            "terraform.tfstate",
            "terraform.tfstate.backup",
            ".docker/config.json",
            ".terraformrc",
            "id_ed25519_work",
            "client_secret_1.json",
            "gcp-key.json",
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
            "prod.tfvars.example",
            "secrets.example.yaml",
            "secrets.md",
            "secrets.rs",
            "docs/secrets/rotation.md",
            "service-account.md",
            "kubeconfig.md",
            "id_map.rs",
            "docker/config.json",
            ".docker/Dockerfile",
            "id_rsa.pub",
            "public-key.json",
            "monkey.json",
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
