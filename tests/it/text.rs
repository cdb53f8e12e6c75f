//! Text rules: secrets and token counts.

mod secrets;
mod tokens;
