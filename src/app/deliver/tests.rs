//! Every outcome of a delivery, on a real state: the claim is released, settled, or left to expire,
//! and nothing else.

#![expect(clippy::disallowed_methods, reason = "a test writes its own files")]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::*;
use crate::app::handoff::Handoffs;
use crate::core::context::receipt::FaultSource;
use crate::core::context::receipt::Receipt;
use crate::core::handoff::Document;
use crate::core::host::Host;
use crate::store::state::Claim;
use crate::store::unsaved_receipts;
use crate::system::environment::Environment;
use crate::workspace::Request;

const DOORS: [Door; 4] =
    [Door::BridgeEvent, Door::BridgePrompt { is_undone: false }, Door::Stdout, Door::Http];

/// A project without notes, with its own state.
struct Lab(tempfile::TempDir);

impl Lab {
    fn new() -> Lab {
        let lab = Lab(tempfile::tempdir().unwrap());
        fs::create_dir(lab.0.path().join("project")).unwrap();
        lab
    }

    fn at(&self) -> Request {
        Request {
            dir: Some(self.0.path().join("project")),
            home: Some(self.0.path().join("home")),
            environment: Some(Environment::from_iter([])),
            is_lenient: true,
            ..Request::default()
        }
    }

    fn deliver(
        &self,
        door: Door,
        moment: Moment,
    ) -> Result<PendingDelivery<Injection>, NotDelivered> {
        let at = self.at();
        deliver(DeliveryRequest {
            door,
            place: &Place::find(&at).unwrap(),
            session: Session { moment, ..Session::new("s", at, Host::Opencode) },
            wanted: Some(HandoffRequest::First),
            process: Some(Process::this()),
            until: None,
            warm: None,
        })
    }

    fn folder(&self) -> std::path::PathBuf {
        Place::find(&self.at()).unwrap().directories.state
    }

    fn state(&self) -> State {
        State::open(&self.folder(), Duration::from_secs(5)).unwrap()
    }

    fn claim(&self, door: Door) -> SessionClaim {
        let claimed = SessionClaim::take(&self.folder(), "s", &Moment::Start, door, None);
        match claimed.unwrap() {
            Taken::Claimed(claim, _) => claim,
            Taken::Unclaimed { reason } => panic!("{reason}"),
        }
    }

    /// A context that is ready to be sent, with or without a receipt.
    fn pending(&self, door: Door, is_recorded: bool) -> PendingDelivery<Injection> {
        let claim = self.claim(door);
        let receipt: Receipt = serde_json::from_value(serde_json::json!({
            "session": "s", "project": "p", "projectKey": "p-1", "at": "2026-01-31T12:00:00Z",
            "delivered": false, "host": "opencode", "ranking": "frequency",
            "encoding": "o200k_base", "budget": {"tokens": 4_000, "chars": null},
            "used": {"tokens": 10, "chars": 40}, "sha256": "", "parts": [], "found": [],
            "entries": [], "faults": [], "stages": [],
        }))
        .unwrap();
        let id = is_recorded.then(|| self.state().record(&receipt, Some(claim.token)).unwrap());
        let injection = Injection { text: "text".to_owned(), id, good_until: None, receipt };
        PendingDelivery::of(injection, Some(claim), door)
    }

    /// The claim as another process sees it.
    fn standing(&self) -> &'static str {
        match self.state().claim_for(None, "s", &Moment::Start, now_ms(), None).unwrap() {
            Claim::Won(_) => "free",
            Claim::Held => "held",
            Claim::Settled => "settled",
        }
    }
}

#[test]
fn an_early_return_releases_the_claim_at_every_door() {
    for door in DOORS {
        let lab = Lab::new();
        let refusal = lab.deliver(door, Moment::Start).unwrap_err();
        assert!(matches!(refusal, NotDelivered::Nothing(_)), "{door:?}: {refusal}");
        assert_eq!(lab.standing(), "free", "{door:?}");
    }
}

#[test]
fn a_moment_for_a_handoff_that_another_session_got_is_released() {
    let lab = Lab::new();
    let moment = Moment::Handoff("h".to_owned());
    assert!(lab.deliver(Door::Stdout, moment.clone()).is_err());
    assert!(lab.state().is_claimable("s", &moment, now_ms(), None).unwrap());
}

#[test]
fn a_project_that_vanished_meanwhile_releases_the_claim() {
    let lab = Lab::new();
    let mut at = lab.at();
    let place = Place::find(&at).unwrap();
    at.dir = Some(lab.0.path().join("gone"));
    let request = DeliveryRequest {
        door: Door::Http,
        session: Session::new("s", at, Host::Opencode),
        place: &place,
        wanted: Some(HandoffRequest::First),
        process: None,
        until: None,
        warm: None,
    };
    assert!(deliver(request).is_err());
    assert_eq!(lab.standing(), "free");
}

#[test]
fn a_session_counts_as_live_at_every_door() {
    for door in DOORS {
        let lab = Lab::new();
        let _ = lab.deliver(door, Moment::Start);
        let origin = lab.state().session_origin("s").unwrap();
        assert_eq!(origin.unwrap().folder, lab.0.path().join("project"), "{door:?}");
    }
}

#[test]
fn a_session_that_is_switched_off_claims_nothing() {
    let lab = Lab::new();
    let folder = Place::find(&lab.at()).unwrap().directories.config;
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), "enabled = false\n").unwrap();
    assert!(matches!(lab.deliver(Door::Http, Moment::Start), Err(NotDelivered::Off(_))));
    assert!(!lab.folder().join("state.db").exists());
}

#[test]
fn a_panic_releases_the_claim() {
    for door in DOORS {
        let lab = Lab::new();
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let _claim = lab.claim(door);
            panic!("on purpose");
        }));
        assert!(ended.is_err());
        assert_eq!(lab.standing(), "free", "{door:?}");
    }
}

#[test]
fn an_answer_that_misses_its_deadline_releases_the_claim() {
    for door in DOORS {
        let lab = Lab::new();
        let pending = lab.pending(door, true);
        let (sender, receiver) = mpsc::channel();
        drop(receiver);
        thread::spawn(move || drop(sender.send(pending))).join().unwrap();
        assert_eq!(lab.standing(), "free", "{door:?}");
    }
}

#[test]
fn what_was_sent_is_settled_with_a_receipt_or_without() {
    for door in [Door::Stdout, Door::Http] {
        for is_recorded in [true, false] {
            let lab = Lab::new();
            lab.pending(door, is_recorded).sent();
            assert_eq!(lab.standing(), "settled", "{door:?} {is_recorded}");
        }
    }
}

#[test]
fn a_bridge_settles_or_releases_by_the_receipt() {
    for (end, standing) in [
        (settle_receipt as fn(&Path, i64) -> Result<(), _>, "settled"),
        (release_receipt as fn(&Path, i64) -> Result<(), _>, "free"),
    ] {
        let lab = Lab::new();
        let injection = lab.pending(Door::BridgeEvent, true).sent();
        assert_eq!(lab.standing(), "held");
        end(&lab.folder(), injection.id.unwrap()).unwrap();
        assert_eq!(lab.standing(), standing);
    }
}

#[test]
fn over_http_only_a_certain_outcome_ends_a_renewed_claim() {
    let lab = Lab::new();
    drop(lab.pending(Door::Http, true).renewed().unwrap());
    assert_eq!(lab.standing(), "held", "the server may have stored it");
    let lab = Lab::new();
    lab.pending(Door::Http, true).renewed().unwrap().not_sent();
    assert_eq!(lab.standing(), "free");
    let lab = Lab::new();
    lab.pending(Door::Http, true).renewed().unwrap().sent();
    assert_eq!(lab.standing(), "settled");
}

#[test]
fn a_claim_that_was_taken_over_is_neither_renewed_nor_released() {
    let lab = Lab::new();
    let pending = lab.pending(Door::Http, false);
    let late = now_ms() + 60_000;
    let taken_over = lab.state().claim_for(None, "s", &Moment::Start, late, None).unwrap();
    assert!(matches!(taken_over, Claim::Won(_)));
    assert!(matches!(pending.renewed(), Err(NotDelivered::Taken(_))));
    let standing = lab.state().claim_for(None, "s", &Moment::Start, late, None).unwrap();
    assert_eq!(standing, Claim::Held);
}

#[test]
fn who_comes_second_waits_only_with_a_prompt() {
    let lab = Lab::new();
    let first = lab.claim(Door::Stdout);
    for door in DOORS {
        assert!(
            matches!(lab.deliver(door, Moment::Start), Err(NotDelivered::Taken(_))),
            "{door:?}"
        );
    }
    let folder = lab.folder();
    let prompt = thread::spawn(move || {
        let until = Some(Instant::now() + Duration::from_secs(20));
        let door = Door::BridgePrompt { is_undone: false };
        let taken = SessionClaim::take(&folder, "s", &Moment::Start, door, until).unwrap();
        matches!(taken, Taken::Claimed(..))
    });
    thread::sleep(Duration::from_millis(50));
    drop(first);
    assert!(prompt.join().unwrap(), "the prompt has the claim as soon as it is released");
}

#[test]
fn without_a_usable_state_only_hooks_give_a_context() {
    for door in DOORS {
        let lab = Lab::new();
        let folder = lab.0.path().join("state");
        fs::create_dir_all(folder.join("state.db")).unwrap();
        let claimed = SessionClaim::take(&folder, "s", &Moment::Start, door, None);
        match door {
            Door::Http => assert!(matches!(claimed, Err(NotDelivered::State(_)))),
            _ => {
                let Taken::Unclaimed { reason } = claimed.unwrap() else { panic!("{door:?}") };
                assert!(reason.contains("is not a regular file"), "{door:?}: {reason}");
            }
        }
    }
}

#[test]
fn a_project_without_notes_is_not_waited_for_and_a_cold_index_is() {
    let vault = Fault::new(FaultSource::Vault, "no folder of notes found");
    let settings = Fault::new(FaultSource::Settings, "token_limit is no number");
    let index =
        Fault::new(FaultSource::Index, "it was not ready in time, and there was no earlier one");
    for (faults, is_transient) in [
        (vec![], false),
        (vec![vault.clone()], false),
        (vec![settings.clone()], false),
        (vec![vault, settings, index], true),
    ] {
        assert_eq!(nothing_to_say(&faults).is_transient(), is_transient, "{faults:?}");
    }
}

#[test]
fn the_kept_receipt_is_that_of_the_text_that_goes_out() {
    for door in DOORS {
        let lab = Lab::new();
        let docs = lab.0.path().join("project/docs");
        fs::create_dir(&docs).unwrap();
        fs::write(docs.join("wind.md"), "# Wind\n\nThe [[wind]] turns north.\n").unwrap();
        let mut handoffs = Handoffs::open(&lab.at(), None, Some("author")).unwrap();
        let body = "Ship it.".to_owned();
        handoffs.create(Document { body, ..Document::default() }).unwrap();
        drop(handoffs);
        let file = lab.folder().join("state.db");
        rusqlite::Connection::open(file).unwrap().execute_batch("DROP TABLE injections").unwrap();
        let delivered = lab.deliver(door, Moment::Start).unwrap();
        let text = &delivered.content.text;
        let kept = unsaved_receipts::last(&lab.folder(), Some("s"), "").unwrap();
        assert_eq!(kept.handoff.is_some(), text.contains("Ship it."), "{door:?}");
        assert_eq!(kept.sha256, delivered.content.receipt.sha256, "{door:?}");
        assert_eq!(text.contains("Ship it."), !door.is_bridge(), "{door:?}");
        let n_kept = fs::read_dir(lab.folder().join("unsaved")).unwrap().count();
        assert_eq!(n_kept, 1, "{door:?}");
    }
}
