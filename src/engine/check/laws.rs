//! Laws that hold for any repository.
