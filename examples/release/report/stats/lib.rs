//! What a run's events add up to.

use events::Run;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// Outcome word -> how many nodes.
    pub outcomes: BTreeMap<String, usize>,
    /// Slowest first: name, seconds, CPU seconds.
    pub slowest: Vec<(String, f64, f64)>,
    pub wall_s: f64,
    pub cpu_s: f64,
    pub peak_mib: f64,
    pub critical_path: Vec<String>,
}

pub fn summarize(run: &Run, most: usize) -> Summary {
    let mut summary = Summary::default();
    for node in &run.nodes {
        *summary.outcomes.entry(node.outcome.clone()).or_default() += 1;
        let cpu = (node.user_ns + node.sys_ns) as f64 / 1e9;
        summary.cpu_s += cpu;
        summary.peak_mib = summary.peak_mib.max(node.max_rss_bytes as f64 / (1024.0 * 1024.0));
        if node.wall_ns > 0 {
            summary.slowest.push((node.node.clone(), node.wall_ns as f64 / 1e9, cpu));
        }
    }
    summary.slowest.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    summary.slowest.truncate(most);
    if let Some(end) = &run.end {
        summary.wall_s = end.wall_ns as f64 / 1e9;
        summary.critical_path = end.critical_path.split(" > ").filter(|s| !s.is_empty()).map(String::from).collect();
    }
    summary
}
