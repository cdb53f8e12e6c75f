//! More notations than `drawn_secrets` has: code, markup, sentences and other languages. And more kinds of value: those that
//! people choose.

use super::drawn_secrets::{DIGITS, DRAWN, HEX, LEAKED, LETTERS, LOWER, Lot, alnum};
use kgctx::core::secrets;

/// How a secret is written around `§`.
const FORMS: &[&str] = &[
    "dbPass=§",
    "\"smtpPass\": \"§\"",
    "\"userPwd\": \"§\"",
    "rootpw = §",
    "newPw: §",
    "PASS1=§",
    "DB_PW1=§",
    "DB_PASS_PROD=§",
    "AZURE_STORAGE_KEY=§",
    "SESSION_KEY=§",
    "OPENAI_KEY=§",
    "License key: §",
    "VAULT_SECRET_ID=§",
    "PASSWORD_CANDIDATE=§",
    "const password: string = \"§\"",
    "password: str = \"§\"",
    "const API_KEY: &str = \"§\"",
    "const API_KEY: &'static str = \"§\";",
    "var password string = \"§\"",
    "String password = \"§\"",
    "password: Optional[str] = \"§\"",
    "char password[] = \"§\";",
    "char *password = \"§\";",
    "let apiKey: String? = \"§\"",
    "define('DB_PASSWORD', '§')",
    "setdefault(\"SECRET_KEY\", \"§\")",
    "getenv(\"API_TOKEN\", \"§\")",
    "ENV.fetch(\"API_TOKEN\", \"§\")",
    "config.set(\"db.password\", \"§\")",
    "setPassword(\"§\")",
    "client.setApiKey('§')",
    "process.env.TOKEN || \"§\"",
    "const x = process.env.TOKEN ?? '§'",
    "os.environ[\"X_TOKEN\"] = \"§\"",
    "os.environ['X_TOKEN']='§'",
    "password          =          §",
    "password\t\t=\t\t§",
    "password:              §",
    "password:\t\t\t\t\t\t§",
    "password:: §",
    "- token:: §",
    "[password:: §]",
    "[[Password]]: §",
    "API\\_KEY=§",
    "DB\\_PASSWORD: §",
    "**Password:** §",
    "<b>Password:</b> §",
    "<strong>API token:</strong> §",
    "<td>Password</td><td>§</td>",
    "<td>Password</td>\n<td>§</td>",
    "<th>Token</th> <td>§</td>",
    "Password for staging: §",
    "API key for OpenAI: §",
    "Password - §",
    "Password → §",
    "Password -> §",
    "## Password\n\n§\n",
    "### API token\n§\n",
    "user,password\nkim,§\n",
    "user,password,role\nkim,§,admin\nada,q7Rz2mXk9TbW,user\n",
    "PASSWORD = \"\"\"§\"\"\"",
    "PASSWORD = '''§'''",
    "password: !!str §",
    "-password §",
    "java -password § -x",
    "influx -token §",
    "setenv API_TOKEN §",
    "Password: “§”",
    "Password: «§»",
    "Password: « § »",
    "Password: „§“",
    "Password: ‘§’",
    "Das Passwort ist §",
    "Das Passwort lautet §",
    "Passwort für den Server: §",
    "API-Schlüssel: §",
    "Kennwort: §",
    "Mot de passe : §",
    "Contraseña: §",
    "La contraseña es §",
    "Le mot de passe est §",
    "Senha: §",
    "A senha é §",
    "Hasło: §",
    "wachtwoord: §",
    "Het wachtwoord is §",
    "lösenord: §",
    "пароль: §",
    "Пароль: §",
    "ПАРОЛЬ: §",
    "密码：§",
    "密码: §",
    "パスワード: §",
    "パスワード：§",
    "비밀번호：§",
    "비밀번호: §",
    "密碼：§",
    "let password = String::from(\"§\");",
    "user: kim\npass: §",
    "Password\n: §",
    "<key>APIKey</key>\n<string>§</string>",
    "echo ${TOKEN:-§}",
    "PASSWORD ?= §",
    "  password: &pw §",
    "Password: <code>§</code>",
    "https://§@github.com/a/b.git",
    "The admin password was set to §.",
    "Root password on db1: §",
];

/// Behind these, whatever people choose goes, too.
const SURE_FORMS: &[&str] = &["PASSWORD=§", "DB_PASS=§", "API_KEY=§", "export SECRET_TOKEN=\"§\""];
const CHOSEN_FORMS: &[&str] = &["password: \"§\"", "password = '§'", "password: §", "password=§"];
const MADE_FORMS: &[&str] =
    &["\"apiKey\": \"§\"", "token: §", "api_key=§", "secret = §", "const apiToken = \"§\";"];

const WORDS: &[&str] = &[
    "river", "stone", "amber", "kestrel", "falcon", "meadow", "copper", "winter", "harbor",
    "velvet", "planet", "rocket", "tiger", "silver", "garden", "bridge", "castle", "hunter",
    "magnet", "oyster", "pepper", "quartz",
];

/// How many of so many drawn values are still to be seen, and one of them.
fn leaked(form: &str, lot: &mut Lot, draw: impl Fn(&mut Lot) -> String) -> (usize, String) {
    let (mut n_leaked, mut example) = (0, String::new());
    for _ in 0..DRAWN {
        let value = draw(lot);
        if secrets::mask(&form.replace('§', &value)).contains(&value) {
            (n_leaked, example) = (n_leaked + 1, value);
        }
    }
    (n_leaked, example)
}

#[track_caller]
fn check(forms: &[&str], draws: &[&dyn Fn(&mut Lot) -> String]) {
    let mut lot = Lot(20_261_119);
    let mut wrong = Vec::new();
    for form in forms {
        for draw in draws {
            let (n_leaked, example) = leaked(form, &mut lot, draw);
            if n_leaked * LEAKED > DRAWN {
                wrong.push(format!("{form}: {n_leaked} of {DRAWN}: {example}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn in_code_markup_and_other_languages_the_whole_value_goes() {
    check(
        FORMS,
        &[&|lot| lot.draw(&alnum(), 20), &|lot| lot.draw(HEX, 32), &|lot| {
            lot.draw(&format!("{}-_", alnum()), 43)
        }],
    );
    let short: Vec<&str> =
        FORMS.iter().copied().filter(|form| !form.contains("github.com")).collect();
    check(&short, &[&|lot| lot.draw(&alnum(), 12), &|lot| format!("P{}", lot.draw(&alnum(), 11))]);
}

/// Two words and a number, each word with or without a capital: `Kestrel-garden7803`.
fn words(lot: &mut Lot, sign: &str) -> String {
    let words: Vec<String> = (0..2)
        .map(|_| {
            let word = WORDS[(lot.next() % WORDS.len() as u64) as usize];
            if lot.next().is_multiple_of(2) {
                word[..1].to_uppercase() + &word[1..]
            } else {
                word.to_owned()
            }
        })
        .collect();
    format!("{}{}", words.join(sign), 10 + lot.next() % 9_989)
}

#[test]
fn what_people_choose_goes_behind_the_name_of_a_password() {
    let umlauts = format!("{}äöüßÄÖÜ", alnum());
    let small = format!("{LOWER}{DIGITS}");
    let draws: [&dyn Fn(&mut Lot) -> String; 6] = [
        &|lot| words(lot, "-"),
        &|lot| words(lot, ""),
        &|lot| lot.draw(&small, 8),
        &|lot| lot.draw(&alnum(), 8),
        &|lot| lot.draw(&umlauts, 12),
        &|lot| lot.draw(LETTERS, 12),
    ];
    check(SURE_FORMS, &draws);
    check(CHOSEN_FORMS, &draws);
    check(MADE_FORMS, &[draws[2], draws[3]]);
    check(&SURE_FORMS[..3], &[&|lot| WORDS[(lot.next() % WORDS.len() as u64) as usize].to_owned()]);
}

#[test]
fn kinds_with_a_beginning_of_their_own_are_masked_by_kind() {
    let mut lot = Lot(11);
    for _ in 0..DRAWN {
        let mut draw = |alphabet: &str, length| lot.draw(alphabet, length);
        let url = format!("{}-_", alnum());
        for (kind, secret) in [
            ("pinecone-key", format!("pcsk_{}_{}", draw(&alnum(), 6), draw(&alnum(), 63))),
            ("docker-token", format!("dckr_oat_{}", draw(&url, 32))),
            ("docker-token", format!("dckr_pat_{}", draw(&url, 27))),
            ("gitlab-token", format!("glrtr-{}", draw(&url, 20))),
            ("gitlab-token", format!("glffct-{}", draw(&url, 20))),
            ("sonar-token", format!("squ_{}", draw(HEX, 40))),
            ("sonar-token", format!("sqp_{}", draw(HEX, 40))),
            ("sonar-token", format!("sqa_{}", draw(HEX, 40))),
            ("contentful-token", format!("CFPAT-{}", draw(&url, 43))),
            ("buildkite-token", format!("bkua_{}", draw(HEX, 40))),
            ("atlassian-token", format!("ATCTT3{}", draw(&url, 180))),
            ("clojars-token", format!("CLOJARS_{}", draw(HEX, 60))),
            ("password-hash", format!("{}:{}", draw(HEX, 32), draw(HEX, 32))),
        ] {
            if secret.to_uppercase().contains("XXXX") {
                continue;
            }
            let masked = format!("kim:1001:[masked: {kind}]:::");
            assert_eq!(secrets::mask(&format!("kim:1001:{secret}:::")), masked);
        }
    }
    let line = lot.draw(HEX, 32);
    let armour = |end: &str| format!("-----{end} OpenVPN Static key V1-----");
    let key = format!("{}\n{line}\n{line}\n{}", armour("BEGIN"), armour("END"));
    assert_eq!(
        secrets::mask(&format!("<tls-auth>\n{key}\n")),
        "<tls-auth>\n[masked: private-key]\n"
    );
}
