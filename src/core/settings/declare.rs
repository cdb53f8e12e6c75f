//! The `settings!` macro: generates the effective settings, the form of a settings file, and the parsing of
//! environment variables, from one row per setting.

use std::str::FromStr;

use crate::core::named::Named;
use crate::core::settings::{Origin, Setting};

/// Declares a group of settings. A row is `key: type = default`, followed by any of these:
/// `as T`: the type in a file, if it differs, because files hold paths as text;
/// `env(NAME, reader)`: the environment variable, and what reads it or says which values are valid; of
/// `NAME | OTHER`, the first that is set counts;
/// `not_for_project(why)`: the committed file of a project cannot set it;
/// `project_may(lower)`: it can lower the value, or switch it off, but not raise it above the user's.
///
/// The order of the rows is the order of `kgctx config`. Brackets contain fields that exist only in the file.
macro_rules! settings {
    (
        $(#[$about:meta])*
        $settings:ident { $($(#[$also_about:meta])* $also:ident: $also_type:ty = $initial:expr,)* }
        $(#[$file_about:meta])*
        $file:ident in $section:literal
        $([$($file_only:tt)*] {
            $(
                $(#[doc = $key_about:literal])*
                $key:ident: $type:ty = $default:expr
                $(, as $in_file:ty)?
                $(, env($($variable:literal)|+, $reader:expr))?
                $(, not_for_project($why:literal))?
                $(, project_may($lower:ident))?;
            )*
        })*
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $settings {
            $($(#[$also_about])* pub $also: $also_type,)*
            $($($(#[doc = $key_about])* pub $key: $crate::core::settings::Setting<$type>,)*)*
        }

        impl Default for $settings {
            fn default() -> $settings {
                $settings {
                    $($also: $initial,)*
                    $($($key: $crate::core::settings::Setting::default($default),)*)*
                }
            }
        }

        $(#[$file_about])*
        #[derive(Debug, Default, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $file {
            $($($file_only)* $(pub $key: Option<settings!(@in_file $type $(, $in_file)?)>,)*)*
        }

        impl $settings {
            /// Applies the settings of a file. `resolve` interprets a path as written there.
            pub fn set_from_file(
                &mut self,
                file: &mut $file,
                origin: &$crate::core::settings::Origin,
                resolve: &dyn Fn(&str) -> std::path::PathBuf,
            ) {
                let _ = resolve;
                $($(
                    let value = file.$key.take();
                    let value = value.map(|value| settings!(@read value, resolve $(, $in_file)?));
                    self.$key.set(value, origin.clone());
                )*)*
            }

            /// Applies environment variables. Skips and returns wrong ones, each with what is wrong.
            pub fn set_from_variables(
                &mut self,
                get: &dyn Fn(&str) -> Option<String>,
            ) -> Vec<(&'static str, String)> {
                use $crate::core::settings::declare::set_from_variable;
                let mut wrong = Vec::new();
                $($($(
                    let names = [$($variable),+];
                    wrong.extend(set_from_variable(&mut self.$key, &names, get, $reader));
                )?)*)*
                wrong
            }

            /// Every row of the table as JSON.
            pub(super) fn rows(&self) -> Vec<$crate::core::settings::ListedSetting> {
                use $crate::core::settings::list::{ListedSetting, ProjectMay};
                vec![$($({
                    let $crate::core::settings::Setting { value, origin } = &self.$key;
                    let key = concat!($section, stringify!($key));
                    ListedSetting {
                        about: concat!($($key_about),*).trim(),
                        variables: &[$($($variable),+)?],
                        project: settings!(@project $($why)? $($lower)?),
                        ..ListedSetting::new(key, value, origin)
                    }
                },)*)*]
            }
        }

        impl $file {
            /// Removes the settings that a project cannot set. Returns their keys, each with the reason.
            pub fn remove_forbidden(&mut self) -> Vec<(&'static str, &'static str)> {
                let mut forbidden = Vec::new();
                $($($(
                    if self.$key.take().is_some() {
                        forbidden.push((concat!($section, stringify!($key)), $why));
                    }
                )?)*)*
                forbidden
            }

            /// Removes the values that are above the effective ones, where a project can only lower them. Returns what
            /// was removed, in words.
            pub fn remove_raised(&mut self, settings: &$settings) -> Vec<String> {
                let mut raised = Vec::new();
                $($($(
                    let $crate::core::settings::Setting { value: limit, origin } = &settings.$key;
                    if let Some(value) = self.$key.take_if(|value| *value > *limit) {
                        let (key, may) = (concat!($section, stringify!($key)), stringify!($lower));
                        raised.push(format!("a project may only {may} {key}: {limit} ({origin}) stays, not {value}"));
                    }
                )?)*)*
                raised
            }
        }
    };
    (@project) => { ProjectMay::Set };
    (@project $why:literal) => { ProjectMay::Nothing };
    (@project $lower:ident) => { ProjectMay::Lower };
    (@in_file $type:ty) => { $type };
    (@in_file $type:ty, $in_file:ty) => { $in_file };
    (@read $value:ident, $resolve:ident) => { $value };
    (@read $value:ident, $resolve:ident, $in_file:ty) => {
        $value.iter().map(|path| $resolve(path)).collect()
    };
}
pub(super) use settings;

/// Reads a name. This and the following readers of variables return as an error what they expect.
pub(super) fn named<T: Named>(text: &str) -> Result<T, String> {
    T::parse(text).ok_or_else(T::names)
}

pub(super) fn switch(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        _ => Err("true or false".to_owned()),
    }
}

pub(super) fn number_of<T: FromStr>(unit: &str) -> impl Fn(&str) -> Result<T, String> {
    move |text| text.parse().map_err(|_| format!("a number of {unit}"))
}

pub(super) fn list(text: &str) -> Result<Vec<String>, String> {
    Ok(text.split(',').map(|item| item.trim().to_owned()).collect())
}

/// Applies the first of these environment variables that is set.
pub(super) fn set_from_variable<T>(
    setting: &mut Setting<T>,
    names: &[&'static str],
    get: &dyn Fn(&str) -> Option<String>,
    read: impl Fn(&str) -> Result<T, String>,
) -> Option<(&'static str, String)> {
    let (name, value) = names.iter().find_map(|&name| Some((name, get(name)?)))?;
    match read(value.trim()) {
        Ok(value) => {
            *setting = Setting { value, origin: Origin::Environment(name) };
            None
        }
        Err(expected) => {
            Some((name, format!("{name}={value:?} is not {expected}; fix or unset it")))
        }
    }
}
