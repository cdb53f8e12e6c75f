//! How values are read from the command line.

use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::core::named::Named;
use crate::core::source::SourcePreference;
use crate::core::time::Timestamp;

/// Reads a name of an enum's; the help lists all of them.
pub(super) fn one_of<T: Named>(help: fn(T) -> &'static str) -> impl TypedValueParser<Value = T> {
    some_of(move |value| Some(help(value)))
}

/// Reads a name of an enum's; only values with a help text are known.
pub(super) fn some_of<T: Named>(
    help: impl Fn(T) -> Option<&'static str>,
) -> impl TypedValueParser<Value = T> {
    let value = |value: &T| Some(PossibleValue::new(value.name()).help(help(*value)?));
    PossibleValuesParser::new(T::ALL.iter().filter_map(value).collect::<Vec<_>>())
        .try_map(|name| T::parse(&name).ok_or_else(|| format!("{name} is unknown")))
}

/// Reads how many there are to be at least one of.
pub(super) fn from_one<N: FromStr + PartialOrd + From<u8>>(text: &str) -> Result<N, String> {
    let number = text.parse().ok().filter(|number| *number >= N::from(1));
    number.ok_or_else(|| "it is not a number of at least 1".to_owned())
}

/// Reads a number of tokens.
pub(super) fn tokens(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "it is not a number of tokens, such as 4000".to_owned())
}

pub(super) fn moment(text: &str) -> Result<Timestamp, String> {
    let seconds = || text.parse::<i64>().ok().map(Timestamp::from_seconds);
    Timestamp::parse(text).or_else(seconds).ok_or_else(|| {
        "it is not a time; write 2026-01-31, 2026-01-31T12:00:00Z or seconds since 1970".to_owned()
    })
}

pub(super) fn source_help(source: SourcePreference) -> &'static str {
    match source {
        SourcePreference::Auto => {
            "The index, and maenifold's database while there is none yet; starts no program"
        }
        SourcePreference::Index => "kgctx's own index of the notes",
        SourcePreference::Database => "maenifold's memory.db, read-only",
        SourcePreference::Cli => "The program `maenifold`",
    }
}
