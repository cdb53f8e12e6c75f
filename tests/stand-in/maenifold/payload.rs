//! What a tool is asked, read as maenifold reads it.

use serde_json::Value;

use crate::Thrown;

/// How deep a payload may nest.
const MAX_DEPTH: usize = 32;

pub(crate) struct Payload(Value);

impl Payload {
    pub(crate) fn parse(json: &str) -> Result<Payload, Thrown> {
        let value = parsed(json)?;
        if depth(&value) > MAX_DEPTH {
            return Err(Thrown::payload(
                "The maximum configured depth of 32 has been exceeded. Cannot read next JSON array. Path: $.",
            ));
        }
        Ok(Payload(value))
    }

    /// The files of an edge, which the database keeps as a list. What is none is thrown as if the payload were at fault.
    pub(crate) fn strings(json: &str) -> Result<Vec<String>, Thrown> {
        serde_json::from_value(parsed(json)?).map_err(|_| {
            Thrown::payload("The JSON value could not be converted to System.Collections.Generic.List`1[System.String].")
        })
    }

    fn get(&self, name: &str) -> Result<Option<&Value>, Thrown> {
        match &self.0 {
            Value::Object(fields) => Ok(fields.get(name)),
            other => Err(Thrown::internal(&format!(
                "The requested operation requires an element of type 'Object', but the target element has type '{}'.",
                kind(other)
            ))),
        }
    }

    /// A text that must be there.
    pub(crate) fn required(&self, name: &str) -> Result<String, Thrown> {
        match self.get(name)? {
            None => Err(Thrown::argument(&format!(
                "Required property '{name}' is missing from payload."
            ))),
            Some(Value::String(text)) if text.trim().is_empty() => Err(Thrown::argument(&format!(
                "Required property '{name}' cannot be empty or whitespace."
            ))),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(other) => Err(Thrown::argument(&format!(
                "Property '{name}' must be a string, but found {}.",
                kind(other)
            ))),
        }
    }

    /// A text that may be missing, or null.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, Thrown> {
        match self.get(name)? {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(Thrown::internal(&format!(
                "The requested operation requires an element of type 'String', but the target element has type '{}'.",
                kind(other)
            ))),
        }
    }

    pub(crate) fn whole(&self, name: &str, default: i64) -> Result<i64, Thrown> {
        Ok(match self.get(name)? {
            Some(Value::Number(number)) => {
                match number.as_i64().filter(|n| i32::try_from(*n).is_ok()) {
                    Some(number) => number,
                    None => {
                        return Err(Thrown::internal(
                            "One of the identified items was in an invalid format.",
                        ));
                    }
                }
            }
            Some(Value::String(text)) => text.trim().parse().unwrap_or(default),
            _ => default,
        })
    }

    pub(crate) fn fraction(&self, name: &str, default: f64) -> Result<f64, Thrown> {
        Ok(match self.get(name)? {
            Some(Value::Number(number)) => number.as_f64().unwrap_or(default),
            Some(Value::String(text)) => text.trim().parse().unwrap_or(default),
            _ => default,
        })
    }

    pub(crate) fn flag(&self, name: &str) -> Result<bool, Thrown> {
        Ok(match self.get(name)? {
            Some(Value::Bool(flag)) => *flag,
            Some(Value::String(text)) => text.trim().eq_ignore_ascii_case("true"),
            _ => false,
        })
    }
}

fn parsed(json: &str) -> Result<Value, Thrown> {
    if json.trim().is_empty() {
        return Err(Thrown::payload(
            "The input does not contain any JSON tokens. Expected the input to start with a valid JSON token, \
             when isFinalBlock is true. Path: $ | LineNumber: 0 | BytePositionInLine: 0.",
        ));
    }
    serde_json::from_str(json).map_err(|error| {
        let first = json.trim_start().chars().next().unwrap_or_default();
        Thrown::payload(&format!(
            "'{first}' is an invalid start of a value. Path: $ | LineNumber: {} | BytePositionInLine: {}.",
            error.line().saturating_sub(1),
            error.column().saturating_sub(1),
        ))
    })
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "Null",
        Value::Bool(true) => "True",
        Value::Bool(false) => "False",
        Value::Number(_) => "Number",
        Value::String(_) => "String",
        Value::Array(_) => "Array",
        Value::Object(_) => "Object",
    }
}
