//! A small JSON reader: enough for event streams, strict about syntax, no dependencies.

use std::collections::BTreeMap;
use std::fmt;

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Value>),
    Map(BTreeMap<String, Value>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    pub offset: usize,
    pub what: &'static str,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.what, self.offset)
    }
}

impl std::error::Error for Error {}

/// A type that can be made from a JSON value; `derive::FromJson` writes it for structs with named fields.
pub trait FromJson: Sized {
    fn from_json(value: Option<&Value>) -> Option<Self>;
}

impl FromJson for String {
    fn from_json(value: Option<&Value>) -> Option<Self> {
        match value {
            Some(Value::Text(text)) => Some(text.clone()),
            None => Some(String::new()),
            _ => None,
        }
    }
}

impl FromJson for u64 {
    fn from_json(value: Option<&Value>) -> Option<Self> {
        match value {
            Some(Value::Number(n)) if *n >= 0.0 => Some(*n as u64),
            None => Some(0),
            _ => None,
        }
    }
}

impl Value {
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Map(map) => map.get(key),
            _ => None,
        }
    }
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: usize,
}

/// Parse one value; nothing but white space may follow it.
pub fn parse(text: &str) -> Result<Value, Error> {
    let mut parser = Parser { bytes: text.as_bytes(), at: 0, depth: 0 };
    let value = parser.value()?;
    parser.space();
    if parser.at == parser.bytes.len() {
        Ok(value)
    } else {
        Err(parser.error("something follows the value"))
    }
}

impl Parser<'_> {
    fn error(&self, what: &'static str) -> Error {
        Error { offset: self.at, what }
    }

    fn space(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        self.space();
        let found = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, Error> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(value)
        } else {
            Err(self.error("not a value"))
        }
    }

    fn value(&mut self) -> Result<Value, Error> {
        self.space();
        self.depth += 1;
        if self.depth > 128 {
            return Err(self.error("nested too deeply"));
        }
        let value = match self.bytes.get(self.at) {
            Some(b'{') => self.map(),
            Some(b'[') => self.list(),
            Some(b'"') => self.text().map(Value::Text),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.error("a value is missing")),
        };
        self.depth -= 1;
        value
    }

    fn map(&mut self) -> Result<Value, Error> {
        let mut map = BTreeMap::new();
        self.at += 1;
        if self.take(b'}') {
            return Ok(Value::Map(map));
        }
        loop {
            self.space();
            let key = self.text()?;
            if !self.take(b':') {
                return Err(self.error("a ':' is missing"));
            }
            map.insert(key, self.value()?);
            if self.take(b'}') {
                return Ok(Value::Map(map));
            }
            if !self.take(b',') {
                return Err(self.error("a ',' or '}' is missing"));
            }
        }
    }

    fn list(&mut self) -> Result<Value, Error> {
        let mut list = Vec::new();
        self.at += 1;
        if self.take(b']') {
            return Ok(Value::List(list));
        }
        loop {
            list.push(self.value()?);
            if self.take(b']') {
                return Ok(Value::List(list));
            }
            if !self.take(b',') {
                return Err(self.error("a ',' or ']' is missing"));
            }
        }
    }

    fn number(&mut self) -> Result<Value, Error> {
        let start = self.at;
        while matches!(self.bytes.get(self.at), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
            self.at += 1;
        }
        std::str::from_utf8(&self.bytes[start..self.at])
            .ok()
            .and_then(|text| text.parse().ok())
            .map(Value::Number)
            .ok_or(Error { offset: start, what: "not a number" })
    }

    fn text(&mut self) -> Result<String, Error> {
        if self.bytes.get(self.at) != Some(&b'"') {
            return Err(self.error("a string is missing"));
        }
        self.at += 1;
        let mut out = Vec::new();
        loop {
            match self.bytes.get(self.at) {
                None => return Err(self.error("the string does not end")),
                Some(b'"') => {
                    self.at += 1;
                    return String::from_utf8(out).map_err(|_| self.error("not UTF-8"));
                }
                Some(b'\\') => self.escape(&mut out)?,
                Some(&byte) => {
                    out.push(byte);
                    self.at += 1;
                }
            }
        }
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        let byte = *self.bytes.get(self.at + 1).ok_or(self.error("the string does not end"))?;
        self.at += 2;
        match byte {
            b'"' | b'\\' | b'/' => out.push(byte),
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'u' => {
                let mut code = self.hex4()?;
                if (0xD800..0xDC00).contains(&code) && self.bytes[self.at..].starts_with(b"\\u") {
                    self.at += 2;
                    let low = self.hex4()?;
                    code = 0x10000 + ((code - 0xD800) << 10) + (low.wrapping_sub(0xDC00) & 0x3FF);
                }
                let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            _ => return Err(self.error("unknown escape")),
        }
        Ok(())
    }

    fn hex4(&mut self) -> Result<u32, Error> {
        let digits = self.bytes.get(self.at..self.at + 4).ok_or(self.error("four hex digits are missing"))?;
        let code = std::str::from_utf8(digits).ok().and_then(|text| u32::from_str_radix(text, 16).ok());
        self.at += 4;
        code.ok_or(self.error("not four hex digits"))
    }
}
