//! What sessions would be given, built in a temporary checkout.

pub(crate) mod sandbox;
pub(crate) mod session;
pub(crate) mod temp_checkout;
