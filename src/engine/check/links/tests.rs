//! Tests of where links lead.
