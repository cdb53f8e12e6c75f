//! maenifold as a source of what a session is told: its database or its program, asked the three questions.
