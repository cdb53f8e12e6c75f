//! Names, and what they say.

use super::*;

#[track_caller]
fn check(text: &str, secret: bool, password: bool) {
    let name = before(text.as_bytes(), text.len());
    assert_eq!(name.as_ref().is_some_and(Name::is_secret), secret, "{text}");
    assert_eq!(name.as_ref().is_some_and(Name::is_password), password, "{text}");
}

#[test]
fn a_name_says_what_its_value_is() {
    for text in
        ["TOKEN", "api_key", "apiKey", "x-api-key", "\"client_secret\"", "**Token**", "a.b.token"]
    {
        check(text, true, false);
    }
    for text in [
        "API key",
        "secret access key",
        "the api key",
        "GITHUB_PAT",
        "_auth",
        "env[\"TOKEN\"]",
        "\\\"token\\\"",
    ] {
        check(text, true, false);
    }
    for text in ["password", "DB_PASS", "pw", "my password", "Passwort-Passwd", "sshPassphrase"] {
        check(text, true, true);
    }
    for text in [
        "key",
        "a key",
        "monkey",
        "compass",
        "pat",
        "path",
        "author",
        "token_id",
        "secretName",
        "passwordHash",
    ] {
        check(text, false, false);
    }
    for text in [
        "tokenizer",
        "secretary",
        "passwordless",
        "public_key",
        "token_urls",
        "",
        " ",
        "[masked: jwt]",
        "token)",
    ] {
        check(text, false, false);
    }
    check(&format!("{}token", "x".repeat(500)), true, false);
}

#[test]
fn a_name_is_known_in_any_spelling_markup_and_language() {
    for text in [
        "dbPass",
        "\"smtpPass\"",
        "userPwd",
        "rootpw",
        "newPw",
        "PASS1",
        "DB_PW1",
        "DB_PASS_PROD",
        "DB\\_PASSWORD",
        "PASSWORD_CANDIDATE",
        "[[Password]]",
        "<b>Password</b>",
        "[Password](a.md)",
        "Mot de passe ",
        "Contraseña",
        "hasło",
        "ПАРОЛЬ",
        "请把密码",
        "パスワード",
        "API密码",
    ] {
        check(text, true, true);
    }
    for text in [
        "API\\_KEY",
        "AZURE_STORAGE_KEY",
        "SESSION_KEY",
        "OPENAI_KEY",
        "SENDGRID_KEY",
        "License key",
        "VAULT_SECRET_ID",
        "recovery code",
        "API-Schlüssel",
    ] {
        check(text, true, false);
    }
    for text in [
        "PASS_COUNT",
        "bypass",
        "NOPASSWD",
        "CACHE_KEY",
        "PRIMARY_KEY",
        "cacheKey",
        "tokenurl",
        "secret_ids",
        "GPG_KEY",
        "token_normalize_func",
        "id tokenでGCPを試す",
    ] {
        check(text, false, false);
    }
}
