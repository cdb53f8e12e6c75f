//! Names of files that contain keys and passwords. No handoff should list them.

use std::path::Path;

use crate::core::text::words::words;

/// Whole file names.
static NAMES: [&str; 62] = words(
    ".env .envrc .netrc _netrc .npmrc .yarnrc.yml .pypirc .pgpass pgpass.conf .my.cnf .mylogin.cnf .htpasswd .dockercfg \
     .dockerconfigjson .git-credentials .vault-token .boto .s3cfg .terraformrc terraform.rc .gem_credentials auth.json \
     kubeconfig secring.gpg master.key local.settings.json wp-config.php .passwd-s3fs \
     application_default_credentials.json client_secret.json accesstokens.json azureprofile.json \
     .rclone.conf rclone.conf .vault_pass .vault-pass .ansible_vault_pass token.json tokens.json token.txt \
     .bash_history .zsh_history .psql_history .mysql_history talosconfig \
     .secrets .claude.json oauth_creds.json .dev.vars .envrc.local .token .api_key rootkey.csv keystore.properties .databrickscfg \
     .msmtprc apikey.txt .authinfo .authinfo.gpg \
     accesskeys.csv .htdigest .smbcredentials",
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
    ("kubeconfig", &["", ".yml", ".yaml", ".json"]),
    (".envrc", &[""]),
    (".dev.vars", &[""]),
    ("api_key", &[".txt", ".json"]),
    ("api_keys", &[".txt", ".json", ".csv"]),
    ("api-key", &[".txt", ".json"]),
    ("api-keys", &[".txt", ".json", ".csv"]),
    ("passwords", &[".txt", ".csv", ".json", ".yml", ".yaml"]),
    ("password", &[".txt", ".csv"]),
    ("wg", &[".conf"]),
    ("wireguard", &[".conf"]),
];
/// Words of file names whose files contain secrets if they have one of the endings of data.
const WORDS: &[&str] = &["secret", "secrets", "credentials"];
/// Files whose names are secret in the folder of a program.
const OF_PROGRAMS: &[(&str, &str)] = &[
    (".docker", "config.json"),
    ("gh", "hosts.yml"),
    (".m2", "settings.xml"),
    ("age", "keys.txt"),
    (".gradle", "gradle.properties"),
    (".cargo", "credentials.toml"),
];
/// The endings of files with data.
const DATA: &[&str] =
    &["json", "yml", "yaml", "toml", "ini", "properties", "exs", "xml", "txt", "env", "enc"];
/// What backups add to a file name.
const BACKUPS: [&str; 5] = [".bak", ".old", ".orig", ".backup", "~"];
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
    let is_in =
        |name: &str, folder: &str| file == name && names.last().is_some_and(|is| is == folder);
    let is_of_program = OF_PROGRAMS.iter().any(|(folder, file)| is_in(file, folder));
    let is_in_secret_folder = names.iter().any(|folder| FOLDERS.contains(&folder.as_str()));
    let mut name = file.as_str();
    while let Some(shorter) = BACKUPS.iter().find_map(|backup| name.strip_suffix(backup)) {
        if is_secret_file(name) {
            break;
        }
        name = shorter;
    }
    is_of_program || is_in_secret_folder || is_secret_file(name)
}

fn is_secret_file(file: &str) -> bool {
    let is_template = file.split('.').any(|part| TEMPLATES.contains(&part));
    // `id_ed25519`, `id_ed25519-work`; but `id_rsa.pub` and `id_map.rs` are no keys.
    let is_key = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_xmss"].iter().any(|kind| {
        file.strip_prefix(kind).is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '-']))
    }) && !file.contains('.');
    let is_begun = |(start, endings): &(&str, &[&str])| {
        let rest = file.strip_prefix(start);
        rest.is_some_and(|rest| {
            let is_numbered = rest.starts_with(|c: char| c.is_ascii_digit());
            endings.contains(&rest)
                || (rest.starts_with(['-', '_', '.']) || is_numbered)
                    && endings.iter().any(|ending| match *ending {
                        // `kubeconfig-prod`.
                        "" => !rest.contains('.'),
                        ending => rest.ends_with(ending),
                    })
        })
    };
    // `kubeconfig.prod`; but `kubeconfig.md` explains one.
    let is_kubeconfig = file.strip_prefix("kubeconfig.").is_some_and(|stage| {
        ["prod", "production", "dev", "staging", "stage", "test", "local"].contains(&stage)
    });
    // `app-secrets.yaml`, `prod.secret.exs`, `.secrets.toml`.
    let (stem, ending) = file.rsplit_once('.').unwrap_or((file, ""));
    let is_data =
        DATA.contains(&ending) && stem.split(['.', '-', '_']).any(|word| WORDS.contains(&word));
    // The key of an account: `gcp-key.json`.
    let is_account_key =
        ["-key.json", "_key.json", "accountkey.json"].iter().any(|end| file.ends_with(end))
            && !file.contains("public");
    !is_template
        && (is_key
            || is_data
            || is_account_key
            || is_kubeconfig
            || file.contains("-firebase-adminsdk-") && ending == "json"
            || [".env.", ".env_", ".env-"].iter().any(|start| file.starts_with(start))
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
            ".claude/.credentials.json",
            "id_ed25519-work",
            "id_rsa.bak",
            "id_rsa.old~",
            "app-firebase-adminsdk-ab12c.json",
            ".secrets.toml",
            "app-secrets.yaml",
            "db-secret.yaml",
            "prod.secret.exs",
            "passwords.txt",
            "token.json",
            ".vault_pass",
            "kubeconfig-prod",
            "wg0.conf",
            ".bash_history",
            ".env_prod",
            ".env~",
            "key.pem.bak",
            "terraform.tfstate.backup",
            ".config/gh/hosts.yml",
            ".aws/config",
            "serviceAccountKey.json",
            ".secrets",
            ".claude.json",
            ".gemini/oauth_creds.json",
            ".dev.vars",
            ".m2/settings.xml",
            ".envrc.local",
            "kubeconfig.prod",
            "api_key.txt",
            "api-keys.txt",
            ".token",
            "rootkey.csv",
            "keystore.properties",
            "sops/age/keys.txt",
            ".databrickscfg",
            ".msmtprc",
            ".cargo/credentials.toml",
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
            "secret_name.rs",
            "password-policy.md",
            "passwords.md",
            "secret-santa.md",
            "secrets-rotation.rs",
            "hosts.yml",
            "wg.md",
            "wgpu.conf",
            "tokens.rs",
            "kubeconfig-guide.md",
            "notes.md.bak",
            "app-secrets.example.yaml",
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
            "settings.xml",
            "keys.txt",
            "age/README.md",
            "claude.json",
            "api_key.md",
            "api_keys.rs",
            "token.rs",
            "kubeconfig.rs",
            ".envrc.example",
            ".dev.vars.example",
            "tokens.csv.md",
            "keystore.rs",
            "src/token.txt.rs",
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
