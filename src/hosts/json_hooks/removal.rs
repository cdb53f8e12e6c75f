//! The removal of kgctx's hooks from a settings file, which brings the user's own hooks back.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{OurHook, SettingsFile, SettingsResult};

impl SettingsFile {
    /// Returns the file without our hooks and without the lists that this leaves empty. Lists that
    /// exist in `before` stay, and hooks of kgctx in it come back: they are the user's own.
    pub fn without_hooks(&self, before: Option<&SettingsFile>) -> SettingsResult<SettingsFile> {
        let own = before.map(SettingsFile::our_hooks).unwrap_or_default();
        let lists = before.and_then(|before| before.json.root.member("hooks"));
        let was_there = |event: Option<&str>| match (lists, event) {
            (Some((_, hooks)), Some(event)) => hooks.member(event).is_some(),
            (hooks, _) => hooks.is_some(),
        };
        let mut file = self.clone();
        loop {
            let ours = file.our_hooks();
            // One hook of ours stays where the user's own hook comes back.
            let keeps = |hook: &OurHook<'_>| {
                let first = ours.iter().find(|other| other.event == hook.event);
                own.iter().any(|own| own.event == hook.event)
                    && first.is_some_and(|first| first.around == hook.around)
            };
            let Some(last) = ours.iter().rfind(|hook| !keeps(hook)) else { break };
            file = file.edited(last.removed(&file.json, was_there))?;
        }
        let file = file.without_status_line(before)?;
        match before {
            Some(before) => file.with_own_hooks(before, &own),
            None => Ok(file),
        }
    }

    /// Returns the file with a user's own hooks in the place of ours.
    fn with_own_hooks(
        &self,
        before: &SettingsFile,
        own: &[OurHook<'_>],
    ) -> SettingsResult<SettingsFile> {
        let mut file = self.clone();
        for (place, hook) in own.iter().enumerate() {
            let raw = before.json.raw(hook.node());
            let is_first = own[..place].iter().all(|earlier| earlier.event != hook.event);
            let Some(ours) = file.our_hooks_at(hook.event).into_iter().next() else {
                // The user has removed the hook since.
                continue;
            };
            let [.., (groups, _), _] = ours.around;
            file = file.edited(match is_first {
                true => file.json.replaced_by(ours.node(), raw),
                false => {
                    let hook: serde_json::Result<Value> = serde_json::from_str(raw);
                    hook.and_then(|hook| {
                        let group = BTreeMap::from([("hooks", [hook])]);
                        file.json.added(groups, None, &group)
                    })
                }
            })?;
        }
        Ok(file)
    }
}
