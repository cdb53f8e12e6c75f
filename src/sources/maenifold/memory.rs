//! Whether maenifold's memory is among the notes of a place.

use crate::core::settings::{LinkPreference, LinkStyle, Origin, Setting, VaultSpec};
use crate::core::source::{SourceChoice, SourcePreference};
use crate::system::maenifold_places::Places;
use crate::workspace::Place;

/// The paths of maenifold if it can answer about its memory, otherwise the reason why only the index answers.
pub(super) fn memory_of(place: &Place) -> Result<Places, String> {
    let settings = &place.settings;
    let mut places = Places::locate(&place.environment).ok_or("there is no home folder")?;
    places.cache = Some(place.directories.cache.clone());
    let mut of_memory = settings.vaults.iter().filter(|vault| vault.value.path == places.memory);
    match of_memory.next_back() {
        Some(vault) if !vault.value.name.is_empty() => {
            let name = &vault.value.name;
            Err(format!(
                "maenifold's memory has the name {name} here, which maenifold does not know"
            ))
        }
        Some(_) if !is_maenifolds(settings.links.value) => {
            let links = settings.links.value;
            Err(format!("links = \"{links}\" names concepts that maenifold does not know"))
        }
        Some(_) => {
            let is_other = |vault: &&Setting<VaultSpec>| {
                vault.value.path != places.memory && !vault.value.is_flat
            };
            let others = settings.vaults.iter().filter(is_other);
            // Two sources would answer about the same notes.
            match others.map(|vault| &vault.value.path).find(|path| places.shares_notes_with(path))
            {
                Some(other) => Err(format!("{} has notes of maenifold's memory", other.display())),
                None => Ok(places),
            }
        }
        // The program creates the folder when it is first called.
        None if settings.source.value == SourcePreference::Cli && has_default_vaults(place) => {
            Ok(places)
        }
        None if has_default_vaults(place) => Err(SourceChoice::NO_MAENIFOLD.to_owned()),
        None => Err("maenifold's memory is not among the vaults".to_owned()),
    }
}

/// Whether maenifold's own memory is read by maenifold's rules.
fn is_maenifolds(links: LinkPreference) -> bool {
    links.style().is_none_or(|style| style == LinkStyle::Maenifold)
}

/// Whether the default vaults are in use and not replaced by others.
fn has_default_vaults(place: &Place) -> bool {
    let is_replaced =
        |origin: &Origin| matches!(origin, Origin::Flag(_) | Origin::Environment("KGCTX_VAULTS"));
    let settings = &place.settings;
    settings.default_vaults.value && !settings.vaults.iter().any(|vault| is_replaced(&vault.origin))
}
