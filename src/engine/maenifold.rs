//! What maenifold's program says, understood: text for people, JSON, and failures that end with success.
