//! maenifold as a source: a real memory, a database that the stand-in made of it, and the stand-in as the program.

mod choice;
mod database;
mod differences;
mod program;
mod recorded;
mod served;
mod stand_in;
mod traces;
