//! kgctx held against what the real maenifold answered and left behind.

mod calls;
mod links;
mod thinking;
