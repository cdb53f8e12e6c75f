//! Claims on a real database: one winner, settled, released, expired.

use std::thread;

use super::*;

const PATIENCE: Duration = Duration::from_secs(5);

fn state() -> (tempfile::TempDir, State) {
    let folder = tempfile::tempdir().unwrap();
    let state = State::open(folder.path(), PATIENCE).unwrap();
    (folder, state)
}

fn claim(state: &mut State, now_ms: i64) -> Claim {
    state.claim_for(None, "s", &Moment::Start, now_ms, None).unwrap()
}

fn won(state: &mut State, now_ms: i64) -> Token {
    match claim(state, now_ms) {
        Claim::Won(token) => token,
        other => panic!("{other:?}"),
    }
}

#[test]
fn of_many_who_claim_at_once_exactly_one_wins() {
    let (folder, _) = state();
    for n in 0..10 {
        let session = format!("ses_{n}");
        let claims: Vec<Claim> = thread::scope(|scope| {
            let claim = || {
                let mut state = State::open(folder.path(), PATIENCE).unwrap();
                state.claim_for(None, &session, &Moment::Start, 1_000, None).unwrap()
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(claim)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let n_won = claims.iter().filter(|claim| matches!(claim, Claim::Won(_))).count();
        assert_eq!(n_won, 1, "{claims:?}");
    }
}

#[test]
fn a_claim_is_held_until_its_time_is_up_and_settled_for_good() {
    let (_folder, mut state) = state();
    won(&mut state, 0);
    assert_eq!(claim(&mut state, 4_000), Claim::Held);
    assert!(!state.is_claimable("s", &Moment::Start, 4_000, None).unwrap());
    assert!(state.is_claimable("s", &Moment::Start, 15_000, None).unwrap());
    let token = won(&mut state, 15_000);
    // Another moment has its own claim.
    let moment = Moment::Compaction("msg_1".to_owned());
    assert!(matches!(state.claim_for(None, "s", &moment, 15_000, None).unwrap(), Claim::Won(_)));
    state.settle_claim(token, 16_000).unwrap();
    assert_eq!(claim(&mut state, 99_000), Claim::Settled);
    let long = Some(Duration::from_secs(5));
    let mut again = |now| state.claim_for(None, "s", &Moment::Start, now, long).unwrap();
    assert_eq!(again(17_000), Claim::Settled);
    assert!(matches!(again(99_000), Claim::Won(_)), "the session no longer has it");
}

#[test]
fn nobody_can_release_renew_or_link_the_claim_of_another() {
    let (_folder, mut state) = state();
    let lapsed = won(&mut state, 0);
    let token = won(&mut state, 20_000);
    assert!(!state.renew_claim(lapsed, 21_000).unwrap());
    state.release_claim(lapsed, 21_000).unwrap();
    assert_eq!(claim(&mut state, 21_000), Claim::Held);
    assert!(state.renew_claim(token, 30_000).unwrap());
    assert_eq!(claim(&mut state, 44_000), Claim::Held, "it stands longer now");
    state.release_claim(token, 46_000).unwrap();
    let token = won(&mut state, 45_000);
    state.settle_claim(token, 46_000).unwrap();
    state.release_claim(token, 46_000).unwrap();
    assert_eq!(claim(&mut state, 47_000), Claim::Settled, "given is given");
}

#[test]
fn who_asks_with_a_time_before_the_claim_finds_it_held() {
    let (_folder, mut state) = state();
    won(&mut state, 1_000_000);
    assert_eq!(claim(&mut state, 1_000_000 - 5_000), Claim::Held);
}

#[test]
fn a_clock_that_was_set_back_frees_what_it_claimed() {
    let (_folder, mut state) = state();
    won(&mut state, 1_000_000_000);
    won(&mut state, 0);
}
