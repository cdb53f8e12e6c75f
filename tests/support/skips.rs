//! Tests that are skipped because a program is missing. `KGCTX_NO_SKIPS` makes them fail, where all programs must be there.

/// Says that a test is skipped.
pub(crate) fn skipped(why: &str) {
    let may_skip = std::env::var_os("KGCTX_NO_SKIPS").is_none_or(|value| value.is_empty());
    assert!(may_skip, "KGCTX_NO_SKIPS: {why}");
    eprintln!("skipped: {why}");
}
