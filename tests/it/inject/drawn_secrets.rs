//! Secrets drawn by lot, thousands for each way to write them: hardly any stays. The seed is fixed, so that a failure can be
//! repeated.

use kgctx::core::secrets;

/// For each form.
pub(super) const DRAWN: usize = 1_000;
/// At most one of so many may stay.
pub(super) const LEAKED: usize = 1_000;

pub(super) const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
pub(super) const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
pub(super) const DIGITS: &str = "0123456789";
pub(super) const HEX: &str = "0123456789abcdef";

/// A small generator (splitmix64).
pub(super) struct Lot(pub(super) u64);

impl Lot {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn draw(&mut self, alphabet: &str, length: usize) -> String {
        let signs: Vec<char> = alphabet.chars().collect();
        (0..length).map(|_| signs[(self.next() % signs.len() as u64) as usize]).collect()
    }
}

pub(super) fn alnum() -> String {
    format!("{LETTERS}{DIGITS}")
}

/// How a secret is written around `§`, what it is made of, and how long it is.
fn forms() -> Vec<(&'static str, String, usize)> {
    let alnum = alnum();
    let base64 = format!("{alnum}+/");
    let url = format!("{alnum}-_");
    let some = format!("{alnum}!@#$%^&*");
    let quotable = format!("{alnum}!#$%&()*+,-./:;<=>?@[]^_{{|}}~");
    let all = format!("{quotable}\"'`\\");
    let mut forms = vec![
        ("AWS_SECRET_ACCESS_KEY=§", base64.clone(), 40),
        ("aws_secret_access_key = §", base64.clone(), 40),
        ("\"SecretAccessKey\": \"§\"", base64.clone(), 40),
        ("export SECRET_KEY='§'", quotable.clone(), 50),
        ("client_secret: §", HEX.to_owned(), 32),
        ("SECRET_KEY=§", url.clone(), 43),
        ("https://x.dev/?token=§&x=1", alnum.clone(), 24),
        ("wpa_psk=§", alnum.clone(), 16),
        ("  psk=\"§\"", some.clone(), 16),
        ("PWD=§", some.clone(), 14),
    ];
    for form in [
        "PASSWORD=§",
        "DB_PASSWORD=§",
        "password: §",
        "tool --password § --other x",
        "--password §",
        "tool --password=§",
        "machine api.acme.dev login kim password §",
        "machine api.acme.dev\n  login kim\n  password §",
        "sshpass -p § ssh kim@host",
        "the password is §",
    ] {
        forms.push((form, alnum.clone(), 12));
        forms.push((form, some.clone(), 14));
        forms.push((form, all.clone(), 16));
    }
    for form in [
        "password = \"§\"",
        "{\"password\": \"§\"}",
        "password: '§'",
        "sshpass -p '§' ssh kim@host",
    ] {
        forms.push((form, alnum.clone(), 12));
        forms.push((form, quotable.clone(), 16));
    }
    for form in [
        "API_TOKEN=§",
        "secret: §",
        "{\"apiKey\": \"§\"}",
        "| Password | § |",
        "<password>§</password>",
        "mysql -u root -p§ db",
        "mysqldump -uroot -p§ db",
        "Server=db;Password=§;Database=app",
    ] {
        forms.push((form, alnum.clone(), 12));
    }
    forms.extend(forms_of_any_kind());
    forms.extend(forms_apart());
    forms
}

/// Notations in which the value may be of any kind.
fn forms_of_any_kind() -> Vec<(&'static str, String, usize)> {
    let alnum = alnum();
    let url = format!("{alnum}-_");
    let mut forms = Vec::new();
    for form in [
        "Authorization: Bearer §",
        "curl -H 'Authorization: token §' https://x.dev",
        "\"Authorization\": \"Bearer §\"",
        "//registry.npmjs.org/:_authToken=§",
        "$env:GITHUB_TOKEN = \"§\"",
        ":api_key => \"§\"",
        "config:token: §",
    ] {
        forms.push((form, alnum.clone(), 20));
        forms.push((form, HEX.to_owned(), 32));
        forms.push((form, url.clone(), 43));
        forms.push((form, LOWER.to_owned(), 16));
    }
    for form in ["PASSWORD=§", "password: §", "password = \"§\"", "{\"apiKey\": \"§\"}"] {
        forms.push((form, LOWER.to_owned(), 12));
        forms.push((form, format!("{LOWER}{DIGITS}"), 12));
        forms.push((form, LETTERS.to_owned(), 12));
        forms.push((form, UPPER.to_owned(), 16));
        forms.push((form, DIGITS.to_owned(), 8));
        forms.push((form, DIGITS.to_owned(), 16));
    }
    for form in ["password = \"a§b\"", "{\"password\": \"a§b\"}", "psk='a§b'"] {
        forms.push((form, format!("{alnum} "), 16));
    }
    forms
}

/// Notations in which the value stands apart from its name, and those of single programs.
fn forms_apart() -> Vec<(&'static str, String, usize)> {
    let alnum = alnum();
    let mut forms = Vec::new();
    for form in [
        "- name: DB_PASSWORD\n  value: §",
        "- name: DB_PASSWORD\n  value: \"§\"",
        "{\"name\": \"DB_PASSWORD\", \"value\": \"§\"}",
        "<add key=\"Password\" value=\"§\"/>",
        "<property name=\"password\" value=\"§\"/>",
        "password: |\n  §\nuser: kim",
        "password: >-\n  §",
        "password:\n  §",
        "Password:\n\n    §\n\nText.",
        "**Password:**\n```\n§\n```",
        "tokens:\n- §",
        "tokens:\n  - q7Rz2mXk9TbW\n  - \"§\"\n",
        "| user | password |\n|---|---|\n| kim | § |",
        "| API token | user |\n| :--- | --- |\n| a1b2c3d4e5 | kim |\n| `§` | ada |\n",
        "CREATE USER kim WITH PASSWORD '§';",
        "ALTER USER kim IDENTIFIED BY '§'",
        "#define PASSWORD \"§\"",
        "requirepass §",
        "keytool -storepass § -list",
        "curl -u kim:§ https://x.dev",
        "curl -ukim:§ https://x.dev",
        "curl -u 'kim:§' https://x.dev",
        "machine x.dev login kim account a password §",
        "FROM alpine\nENV DB_PASSWORD §\n",
        "JWT_KEY=§",
        "APP_KEY=base64:§",
        "Unseal Key 1: §",
        "subscription-key: §",
        "PRIVATE_KEY=0x§",
        "the password was §",
    ] {
        forms.push((form, alnum.clone(), 12));
        forms.push((form, alnum.clone(), 20));
        forms.push((form, HEX.to_owned(), 32));
    }
    // In a sentence, only what looks made by a machine goes.
    for form in [
        "Password — §",
        "password → §",
        "Password – §",
        "The token is: §",
        "Cookie: session=§",
        "Set-Cookie: sid=§; Path=/",
    ] {
        forms.push((form, alnum.clone(), 20));
        forms.push((form, HEX.to_owned(), 32));
    }
    forms
}

/// Values of several groups, behind names that say that they are secret.
fn groups(lot: &mut Lot) -> Vec<String> {
    let lower = format!("{LOWER}{DIGITS}");
    let mut joined = |alphabet: &str, lengths: &[usize]| {
        lengths.iter().map(|length| lot.draw(alphabet, *length)).collect::<Vec<_>>().join("-")
    };
    vec![
        joined(HEX, &[8, 4, 4, 4, 12]),
        joined(&alnum(), &[4, 4, 4, 4]),
        joined(&lower, &[4, 4, 4, 4]),
        joined(LOWER, &[6, 6, 6]),
    ]
}

#[test]
fn a_value_of_several_groups_goes() {
    let mut lot = Lot(20_261_118);
    let mut leaked = Vec::new();
    let forms = ["PASSWORD=§", "API_TOKEN=§", "Authorization: Bearer §", "$env:TOKEN = \"§\""];
    for _ in 0..DRAWN {
        for (n, value) in groups(&mut lot).into_iter().enumerate() {
            let kept = forms
                .iter()
                .filter(|form| secrets::mask(&form.replace('§', &value)).contains(&value));
            leaked.extend(kept.map(|form| (n, form.replace('§', &value))));
        }
    }
    for n in 0..4 {
        let of_kind: Vec<_> = leaked.iter().filter(|(kind, _)| *kind == n).collect();
        assert!(of_kind.len() * LEAKED <= DRAWN * forms.len(), "{of_kind:#?}");
    }
}

/// Those that tell themselves.
fn kinds(lot: &mut Lot) -> Vec<(&'static str, String)> {
    let alnum = alnum();
    let crypt = format!("{alnum}./");
    let base64 = format!("{alnum}+/");
    let mut groups = |lengths: &[usize]| {
        lengths.iter().map(|length| lot.draw(UPPER, *length)).collect::<Vec<_>>().join("-")
    };
    let (new, old) = (groups(&[6, 11, 5, 5, 5]), groups(&[6, 6, 5, 5, 5, 5]));
    let mut hex = |length| lot.draw(HEX, length);
    let mailgun = format!("{}-{}-{}", hex(32), hex(8), hex(8));
    let mailchimp = format!("{}-us{}", hex(32), 1 + hex(1).len());
    let (mailgun_key, license) = (format!("key-{}", hex(32)), format!("{}NRAL", hex(36)));
    let mut draw = |alphabet: &str, length| lot.draw(alphabet, length);
    vec![
        ("mailgun-key", mailgun),
        ("mailgun-key", mailgun_key),
        ("mailchimp-key", mailchimp),
        ("new-relic-key", license),
        ("new-relic-key", format!("NRAK-{}", draw(UPPER, 27))),
        ("1password-key", format!("A3-{new}")),
        ("1password-key", format!("A3-{old}")),
        ("terraform-token", format!("{}.atlasv1.{}", draw(&alnum, 14), draw(&alnum, 67))),
        ("password-hash", format!("$2b$12${}", draw(&crypt, 53))),
        ("password-hash", format!("$1${}${}", draw(&alnum, 8), draw(&crypt, 22))),
        ("password-hash", format!("$5$rounds=5000${}${}", draw(&alnum, 16), draw(&crypt, 43))),
        ("password-hash", format!("$6${}${}", draw(&alnum, 16), draw(&crypt, 86))),
        ("password-hash", format!("$y$j9T${}${}", draw(&crypt, 22), draw(&crypt, 43))),
        ("password-hash", format!("$apr1${}${}", draw(&alnum, 8), draw(&crypt, 22))),
        (
            "password-hash",
            format!("$argon2id$v=19$m=65536,t=3,p=4${}${}", draw(&base64, 22), draw(&base64, 43)),
        ),
        ("password-hash", format!("{{SSHA}}{}", draw(&base64, 32))),
        (
            "password-hash",
            format!("pbkdf2_sha256$600000${}${}=", draw(&alnum, 22), draw(&base64, 43)),
        ),
        (
            "password-hash",
            format!(
                "SCRAM-SHA-256$4096:{}==${}=:{}=",
                draw(&base64, 22),
                draw(&base64, 43),
                draw(&base64, 43)
            ),
        ),
        ("password-hash", format!("scrypt:32768:8:1${}${}", draw(&alnum, 16), draw(HEX, 128))),
        ("password-hash", format!("pbkdf2:sha256:260000${}${}", draw(&alnum, 16), draw(HEX, 64))),
        ("password-hash", format!("$wp$2y$10${}", draw(&crypt, 53))),
        (
            "password-hash",
            format!("grub.pbkdf2.sha512.10000.{}.{}", draw(HEX, 128), draw(HEX, 128)),
        ),
        ("password-hash", format!("scrypt${}$16384$8$1${}==", draw(&alnum, 22), draw(&base64, 86))),
        ("password-hash", format!("$8${}${}", draw(&alnum, 14), draw(&crypt, 43))),
        ("password-hash", format!("$9${}${}", draw(&alnum, 14), draw(&crypt, 43))),
        ("password-hash", format!("$H$9{}", draw(&crypt, 30))),
        ("hubspot-token", format!("pat-na1-{}", draw(HEX, 36))),
        ("mapbox-token", format!("sk.eyJ1Ijoi{}.{}", draw(&alnum, 60), draw(&alnum, 22))),
        ("doppler-token", format!("dp.st.{}", draw(&alnum, 40))),
        ("doppler-token", format!("dp.st.prd.{}", draw(&alnum, 40))),
        ("circleci-token", format!("CCIPAT_{}_{}", draw(&alnum, 22), draw(HEX, 40))),
        ("square-token", format!("EAAA{}", draw(&alnum, 60))),
        ("facebook-token", format!("EAAG{}", draw(&alnum, 180))),
        ("azure-client-secret", format!("{}8Q~{}", draw(&alnum, 3), draw(&alnum, 34))),
        ("resend-key", format!("re_{}_{}", draw(&alnum, 8), draw(&alnum, 24))),
        ("razorpay-key", format!("rzp_live_{}", draw(&alnum, 14))),
    ]
}

#[test]
fn behind_a_name_that_says_so_the_whole_value_goes() {
    let mut lot = Lot(20_261_117);
    let mut wrong = Vec::new();
    for (form, alphabet, length) in forms() {
        let mut leaked = Vec::new();
        for _ in 0..DRAWN {
            let value = loop {
                let value = lot.draw(&alphabet, length);
                // A value that begins with a quote has to be quoted itself.
                if !value.starts_with(['"', '\'', '`', '\\']) {
                    break value;
                }
            };
            if secrets::mask(&form.replace('§', &value)).contains(&value) {
                leaked.push(value);
            }
        }
        if leaked.len() * LEAKED > DRAWN {
            wrong.push(format!("{form}: {} of {DRAWN}: {leaked:?}", leaked.len()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn keys_and_hashes_that_tell_themselves_are_masked_by_kind() {
    let mut lot = Lot(7);
    for _ in 0..DRAWN {
        for (kind, secret) in kinds(&mut lot) {
            // Whoever draws long enough draws a placeholder.
            if secret.to_uppercase().contains("XXXX") {
                continue;
            }
            let text = format!("kim:{secret}:0 and more");
            assert_eq!(secrets::mask(&text), format!("kim:[masked: {kind}]:0 and more"));
        }
    }
    let line = lot.draw(&alnum(), 64);
    let putty = format!(
        "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 2\n{line}\n{line}\nPrivate-MAC: 0\n"
    );
    let masked = secrets::mask(&putty);
    assert!(
        masked.contains("Private-Lines: 2\n[masked: private-key]") && !masked.contains(&line),
        "{masked}"
    );
}
