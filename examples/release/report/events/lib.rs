//! The events of a run that a report is made of.

use derive::FromJson;
use json::FromJson;

/// A node is settled. Times in nanoseconds, memory in bytes.
#[derive(Debug, Clone, Default, FromJson)]
pub struct NodeEnd {
    pub node: String,
    pub outcome: String,
    pub wall_ns: u64,
    pub user_ns: u64,
    pub sys_ns: u64,
    pub max_rss_bytes: u64,
}

/// A run is over.
#[derive(Debug, Clone, Default, FromJson)]
pub struct RunEnd {
    pub exit: u64,
    pub wall_ns: u64,
    pub critical_path: String,
}

#[derive(Debug, Clone, Default)]
pub struct Run {
    pub nodes: Vec<NodeEnd>,
    pub end: Option<RunEnd>,
}

/// Read a stream of JSON lines; the error names the line, from 1.
pub fn read(text: &str) -> Result<Run, String> {
    let mut run = Run::default();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let value = json::parse(line).map_err(|error| format!("line {}: {error}", index + 1))?;
        let bad = || format!("line {}: a field has another type than expected", index + 1);
        match value.get("event") {
            Some(json::Value::Text(kind)) if kind == "node_end" => {
                run.nodes.push(NodeEnd::from_json(Some(&value)).ok_or_else(bad)?);
            }
            Some(json::Value::Text(kind)) if kind == "run_end" => {
                run.end = Some(RunEnd::from_json(Some(&value)).ok_or_else(bad)?);
            }
            _ => {}
        }
    }
    Ok(run)
}
