//! The table of tokens that tell themselves by how they begin. Data only; `tokens` walks it.
//!
//! Shapes are those that the issuers document or that the gitleaks rule set keeps. A length is a lower bound where the
//! beginning alone says enough: issuers make tokens longer, never shorter.

use super::runs::Alphabet::{self, Alnum, Base64, Digits, Hex, Percent, Upper, Url, Word};

/// A text, and the run of an alphabet behind it, which is taken as long as it goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) text: &'static str,
    pub(super) alphabet: Alphabet,
    pub(super) shortest: usize,
    pub(super) longest: usize,
}

/// A kind of token.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub(super) kind: &'static str,
    /// It begins with one of these, none of which begins with another.
    pub(super) beginnings: &'static [&'static str],
    pub(super) first: Piece,
    pub(super) rest: &'static [Piece],
    /// Its beginning is a name or an address, not a secret: it stays readable.
    pub(super) keeps_beginning: bool,
    /// Words begin like this too: what follows must look drawn by lot.
    pub(super) is_weak: bool,
}

impl Rule {
    const fn weak(self) -> Self {
        Self { is_weak: true, ..self }
    }

    const fn behind(self) -> Self {
        Self { keeps_beginning: true, ..self }
    }

    const fn then(self, rest: &'static [Piece]) -> Self {
        Self { rest, ..self }
    }
}

const fn token(
    kind: &'static str,
    beginnings: &'static [&'static str],
    alphabet: Alphabet,
    shortest: usize,
    longest: usize,
) -> Rule {
    let first = piece("", alphabet, shortest, longest);
    Rule { kind, beginnings, first, rest: &[], keeps_beginning: false, is_weak: false }
}

const fn piece(text: &'static str, alphabet: Alphabet, shortest: usize, longest: usize) -> Piece {
    Piece { text, alphabet, shortest, longest }
}

/// No upper bound.
const ANY: usize = usize::MAX;

/// What follows the first part of a Discord token, which is an encoded number and so begins with one of three letters.
const DISCORD: &[Piece] = &[piece(".", Url, 6, 6), piece(".", Url, 27, 38)];
const DISCORD_HOOK: &[Piece] = &[piece("/", Url, 60, ANY)];
/// The rest of a 1Password secret key, as it is written now, and as it was.
const ONE_PASSWORD: &[Piece] = &[piece("-", Upper, 6, 6), FIVE, FIVE, FIVE, FIVE];
const OLD_1PASSWORD: &[Piece] = &[piece("-", Upper, 11, 11), FIVE, FIVE, FIVE];
const FIVE: Piece = piece("-", Upper, 5, 5);
const TELEGRAM: &[Piece] = &[piece(":AA", Url, 33, 33)];

/// How GitLab's tokens begin: those of people, deployments, runners, feeds, jobs, triggers, applications, mail, agents, service
/// accounts, feature flags, and routable ones.
const GITLAB: &[&str] = &[
    "glpat-", "gldt-", "glrt-", "glrtr-", "glft-", "glcbt-", "glptt-", "gloas-", "glimt-",
    "glagent-", "glsoat-", "glffct-", "glwt-",
];

/// All kinds. Of two that fit the same place, the first is taken.
pub(super) static RULES: &[Rule] = &[
    // Clouds.
    token("aws-access-key", &["AKIA", "ASIA", "ABIA", "ACCA"], Upper, 16, 16),
    token("aws-bedrock-key", &["ABSK"], Base64, 100, ANY),
    token("aws-signature", &["X-Amz-Signature="], Hex, 64, 64).behind(),
    token("azure-storage-key", &["AccountKey="], Base64, 86, 88).behind(),
    token("azure-storage-key", &["SharedAccessKey="], Base64, 43, 88).behind(),
    token("azure-sas", &["sig="], Percent, 43, 100).behind(),
    token("google-api-key", &["AIza"], Url, 35, 35),
    token("google-oauth", &["ya29."], Url, 20, ANY),
    token("google-oauth", &["GOCSPX-"], Url, 24, ANY),
    token("google-oauth", &["1//0"], Url, 40, ANY).weak(),
    token("alibaba-access-key", &["LTAI"], Alnum, 16, 24),
    token("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], Hex, 64, 64),
    token("heroku-key", &["HRKU-AA"], Url, 50, ANY),
    token("fly-token", &["fo1_"], Url, 40, ANY),
    token("fly-token", &["fm2_"], Base64, 100, ANY),
    token("cloudflare-origin-key", &["v1.0-"], Url, 100, ANY),
    token("netlify-token", &["nfp_"], Alnum, 36, ANY),
    token("supabase-key", &["sbp_"], Hex, 40, 40),
    token("supabase-key", &["sb_secret_"], Url, 22, ANY),
    token("tailscale-key", &["tskey-"], Url, 24, ANY),
    token("planetscale-token", &["pscale_tkn_", "pscale_pw_"], Url, 32, ANY),
    token("databricks-token", &["dapi"], Hex, 32, 32),
    token("pulumi-token", &["pul-"], Hex, 40, 40),
    token("vault-token", &["hvs.", "hvb.", "hvr."], Url, 24, ANY),
    token("doppler-token", &["dp.pt.", "dp.ct.", "dp.st.", "dp.sa."], Alnum, 40, ANY),
    token("doppler-token", &["dp.st."], Url, 2, 40).then(&[piece(".", Alnum, 40, ANY)]),
    token("openshift-token", &["sha256~"], Url, 43, 43),
    token("mapbox-token", &["sk.eyJ"], Url, 30, ANY).then(&[piece(".", Url, 20, ANY)]),
    // Code hosting and package registries.
    token("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], Alnum, 36, ANY),
    token("github-token", &["github_pat_"], Word, 60, ANY),
    token("gitlab-token", &["glpat-"], Url, 20, ANY).then(&[piece(".", Alnum, 9, 9)]),
    token("gitlab-token", &["glpat-"], Url, 20, ANY)
        .then(&[piece(".", Alnum, 2, 2), piece(".", Alnum, 7, 9)]),
    token("gitlab-token", GITLAB, Url, 20, ANY),
    token("gitlab-token", &["GR1348941"], Url, 20, 20),
    token("atlassian-token", &["ATATT3", "ATCTT3"], Url, 60, ANY),
    token("bitbucket-token", &["ATBB"], Alnum, 32, ANY),
    token("npm-token", &["npm_"], Alnum, 36, 36),
    token("pypi-token", &["pypi-AgE"], Url, 50, ANY),
    token("crates-io-token", &["cio"], Alnum, 32, 32).weak(),
    token("rubygems-key", &["rubygems_"], Hex, 48, 48),
    token("docker-token", &["dckr_pat_", "dckr_oat_"], Url, 27, ANY),
    token("circleci-token", &["CCIPAT_"], Alnum, 20, ANY).then(&[piece("_", Hex, 40, 40)]),
    token("nuget-key", &["oy2"], Alnum, 43, 43),
    token("sonar-token", &["squ_", "sqp_", "sqa_"], Hex, 40, 40),
    token("buildkite-token", &["bkua_"], Hex, 40, 40),
    token("clojars-token", &["CLOJARS_"], Hex, 60, 60),
    token("sourcegraph-token", &["sgp_"], Word, 40, ANY),
    // Models.
    token("anthropic-key", &["sk-ant-"], Url, 32, ANY),
    token("openai-key", &["sk-proj-", "sk-svcacct-", "sk-admin-"], Url, 32, ANY),
    token("openrouter-key", &["sk-or-v1-"], Hex, 64, 64),
    token("openai-key", &["sk-"], Url, 20, ANY).weak(),
    token("huggingface-token", &["hf_", "api_org_"], Alnum, 30, 40),
    token("groq-key", &["gsk_"], Alnum, 48, 56),
    token("xai-key", &["xai-"], Alnum, 70, 90),
    token("perplexity-key", &["pplx-"], Alnum, 40, 60),
    token("replicate-token", &["r8_"], Alnum, 37, 40),
    token("pinecone-key", &["pcsk_"], Word, 40, ANY),
    token("nvidia-key", &["nvapi-"], Url, 60, ANY),
    // Payment, mail, chat.
    // A test key moves no money, but it reads and writes a real account.
    token("stripe-key", &["sk_live_", "rk_live_", "sk_test_", "rk_test_"], Alnum, 16, ANY),
    token("stripe-key", &["whsec_"], Base64, 24, ANY),
    token("square-token", &["sq0atp-"], Url, 22, ANY),
    token("square-token", &["sq0csp-"], Url, 43, ANY),
    token("square-token", &["EAAA"], Url, 60, 60),
    token("facebook-token", &["EAAG", "EAACEdEose0cBA"], Alnum, 80, ANY),
    token("razorpay-key", &["rzp_live_", "rzp_test_"], Alnum, 14, 14),
    token("resend-key", &["re_"], Alnum, 8, 8).then(&[piece("_", Alnum, 24, 24)]),
    token("hubspot-token", &["pat-na1-", "pat-na2-", "pat-eu1-"], Url, 36, 36),
    token("shopify-token", &["shpat_", "shpca_", "shppa_", "shpss_"], Hex, 32, 32),
    token("sendgrid-key", &["SG."], Url, 16, 32).then(&[piece(".", Url, 32, 64)]),
    token("mailgun-key", &["key-"], Hex, 32, 32),
    token("sendinblue-key", &["xkeysib-"], Url, 64, ANY),
    token("twilio-key", &["SK"], Hex, 32, 32),
    token("slack-token", &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-"], Url, 16, ANY),
    token("slack-token", &["xoxe.xoxp-"], Url, 16, ANY),
    token("slack-token", &["xapp-"], Url, 24, ANY),
    token("slack-webhook", &["hooks.slack.com/services/"], Base64, 30, ANY).behind(),
    token("slack-webhook", &["hooks.slack.com/workflows/"], Base64, 30, ANY).behind(),
    token("slack-webhook", &["hooks.slack.com/triggers/"], Base64, 30, ANY).behind(),
    token("discord-webhook", &["discord.com/api/webhooks/"], Digits, 17, 20)
        .then(DISCORD_HOOK)
        .behind(),
    token("discord-webhook", &["discordapp.com/api/webhooks/"], Digits, 17, 20)
        .then(DISCORD_HOOK)
        .behind(),
    token("discord-token", &["M", "N", "O"], Url, 23, 27).then(DISCORD).weak(),
    token("telegram-bot-token", &[""], Digits, 8, 10).then(TELEGRAM),
    token("telegram-bot-token", &["bot"], Digits, 8, 10).then(TELEGRAM).behind(),
    // Work.
    token("linear-key", &["lin_api_", "lin_oauth_"], Alnum, 40, ANY),
    token("contentful-token", &["CFPAT-"], Url, 43, ANY),
    token("notion-token", &["ntn_"], Alnum, 40, ANY),
    token("notion-token", &["secret_"], Alnum, 43, 43).weak(),
    token("airtable-token", &["pat"], Alnum, 14, 14).then(&[piece(".", Hex, 64, 64)]).weak(),
    token("figma-token", &["figd_"], Url, 40, ANY),
    token("postman-key", &["PMAK-"], Url, 56, 64),
    token("grafana-token", &["glsa_"], Alnum, 32, 32).then(&[piece("_", Hex, 8, 8)]),
    token("grafana-token", &["glc_"], Base64, 32, ANY),
    token("sentry-token", &["sntrys_"], Percent, 60, ANY),
    token("sentry-token", &["sntryu_"], Hex, 64, 64),
    token("dynatrace-token", &["dt0c01."], Alnum, 24, 24).then(&[piece(".", Alnum, 64, 64)]),
    token("new-relic-key", &["NRAK-"], Upper, 27, 27),
    token("new-relic-key", &["NRJS-"], Hex, 19, 19),
    token("new-relic-key", &["NRII-", "NRIQ-", "NRRA-", "NRBR-", "NRSP-"], Url, 27, 42),
    token("1password-token", &["ops_eyJ"], Base64, 100, ANY),
    token("1password-key", &["A3-"], Upper, 6, 6).then(OLD_1PASSWORD),
    token("1password-key", &["A3-"], Upper, 6, 6).then(ONE_PASSWORD),
    // Keys, and what signs.
    token("password-hash", &["grub.pbkdf2.sha512."], Digits, 1, 10)
        .then(&[piece(".", Hex, 64, ANY), piece(".", Hex, 64, ANY)]),
    token("age-secret-key", &["AGE-SECRET-KEY-1"], Upper, 58, 58),
    token("jwt", &["eyJ"], Url, 10, ANY)
        .then(&[piece(".", Url, 10, ANY), piece(".", Url, 10, ANY)]),
];
