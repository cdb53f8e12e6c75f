//! A diagnosis: the checks, their findings, and a remedy for each problem.

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Ok,
    /// Works, or may work, but not as well as it could.
    Warn,
    /// Must be fixed.
    Fail,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    pub name: &'static str,
    pub verdict: Verdict,
    pub found: String,
    /// The remedy; `None` only for [`Verdict::Ok`].
    pub way_out: Option<String>,
}

impl Check {
    pub fn ok(name: &'static str, found: impl Into<String>) -> Check {
        Check { name, verdict: Verdict::Ok, found: found.into(), way_out: None }
    }

    pub fn warn(name: &'static str, found: impl Into<String>, out: impl Into<String>) -> Check {
        Check { name, verdict: Verdict::Warn, found: found.into(), way_out: Some(out.into()) }
    }

    pub fn fail(name: &'static str, found: impl Into<String>, out: impl Into<String>) -> Check {
        Check { verdict: Verdict::Fail, ..Check::warn(name, found, out) }
    }

    /// Splits an error message into finding and remedy: the remedy follows the first semicolon.
    pub fn of_error(
        name: &'static str,
        verdict: Verdict,
        error: impl ToString,
        otherwise: &str,
    ) -> Check {
        let message = error.to_string();
        let (found, out) = message.split_once("; ").unwrap_or((&message, otherwise));
        Check { verdict, ..Check::warn(name, found, out) }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// Whether no check failed; warnings are allowed.
    pub ok: bool,
    /// The checks, in the order in which a context is built.
    pub checks: Vec<Check>,
}

impl From<Vec<Check>> for Diagnosis {
    fn from(checks: Vec<Check>) -> Diagnosis {
        Diagnosis { ok: checks.iter().all(|check| check.verdict != Verdict::Fail), checks }
    }
}

impl Diagnosis {
    pub fn add(&mut self, check: Check) {
        self.ok &= check.verdict != Verdict::Fail;
        self.checks.push(check);
    }

    /// The number of checks with this verdict.
    pub fn n(&self, verdict: Verdict) -> usize {
        self.checks.iter().filter(|check| check.verdict == verdict).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_errors_way_out_comes_last() {
        let check = |message: &str| {
            let check = Check::of_error("state", Verdict::Warn, message, "look at it");
            (check.found, check.way_out.unwrap())
        };
        let pair = |found: &str, out: &str| (found.to_owned(), out.to_owned());
        assert_eq!(
            check("cannot read x: no; free it; soon"),
            pair("cannot read x: no", "free it; soon")
        );
        assert_eq!(check("cannot read x"), pair("cannot read x", "look at it"));
    }

    #[test]
    fn warnings_are_no_failure() {
        let checks = vec![Check::ok("a", ""), Check::warn("b", "", "")];
        assert!(Diagnosis::from(checks.clone()).ok);
        let worse = Diagnosis::from([checks, vec![Check::fail("c", "", "")]].concat());
        assert!(!worse.ok && worse.n(Verdict::Fail) == 1 && worse.n(Verdict::Warn) == 1);
        let mut added = Diagnosis::from(vec![Check::ok("a", "")]);
        added.add(Check::warn("b", "", ""));
        assert!(added.ok);
        added.add(Check::fail("c", "", ""));
        assert!(!added.ok && added.checks.len() == 3);
    }
}
