//! A full disk: no key is sent that could not be announced, no handoff is lost, and nobody is disturbed.

use crate::support::full_disk::FullDisk;
use crate::support::rotation_lab::Seat;

fn disk(seat: &Seat) -> Option<FullDisk> {
    FullDisk::at(&seat.lab.scratch.path().join("kgctx-home/state"))
}

#[test]
fn a_full_disk_schedules_nothing_and_sends_no_key() {
    let seat = Seat::new();
    let id = seat.schedule();
    let Some(disk) = disk(&seat) else { return };
    // One clear line, and what was scheduled before is as it was.
    let (code, said) = seat.refused(&["--goal", "ANOTHER"]);
    assert!(code == 2 && said.contains("full"), "{code} {said}");
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    for event in ["post-tool-use", "pre-compact-manual", "user-prompt-submit", "stop"] {
        seat.tell(&seat.lab.event(event, "old"));
    }
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    assert_eq!(seat.keys(), [""; 0]);
    disk.free();
    assert_eq!((seat.state().as_str(), seat.column("handoff")), ("scheduled", Some(id.clone())));
    assert_eq!(seat.lab.status(&id).as_deref(), Some("claimed"));
    seat.stop("old");
    assert!(seat.clear().contains(&id));
    seat.take_up();
    seat.until_state("done");
}

#[test]
fn a_disk_that_is_full_before_the_clearing_lets_no_key_be_sent() {
    // The worker is about to announce the first key.
    let seat = Seat::new();
    seat.schedule();
    let Some(disk) = disk(&seat) else { return };
    disk.free();
    let worker = seat.stop_with_hold("rotate:ready");
    disk.fill();
    worker.end(&seat);
    assert_eq!(seat.keys(), [""; 0]);
    disk.free();
    seat.lab.handoff(&["list"]);
    seat.untouched();
}

#[test]
fn a_disk_that_is_full_after_the_clearing_loses_no_handoff() {
    let seat = Seat::new();
    let id = seat.schedule();
    let Some(disk) = disk(&seat) else { return };
    disk.free();
    seat.stop("old");
    seat.until("/clear is sent", |seat| seat.entered() == ["/clear"]);
    disk.fill();
    // The new session begins, and nothing of that can be written down.
    seat.clear_now();
    std::thread::sleep(std::time::Duration::from_secs(7));
    disk.free();
    let lines = seat.entered();
    seat.stop("old");
    seat.lab.handoff(&["list"]);
    assert!(["stuck", "cleared", "waiting"].contains(&seat.state().as_str()), "{}", seat.state());
    assert_eq!(seat.entered().iter().filter(|line| *line == "/clear").count(), 1, "{lines:?}");
    // Nobody else has it, and a person can let the next session have it.
    if seat.state() == "stuck" {
        assert_eq!(seat.lab.status(&id).as_deref(), Some("claimed"));
        assert!(seat.rotate_as("old", &["--cancel"]).status.success());
        assert_eq!(seat.lab.status(&id).as_deref(), Some("active"));
    }
    assert!(seat.lab.document(&id).exists());
}
