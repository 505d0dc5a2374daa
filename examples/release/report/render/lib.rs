//! A summary as text.

use stats::Summary;
use std::fmt::Write;

pub fn text(summary: &Summary) -> String {
    let mut out = String::new();
    let width = summary.slowest.iter().map(|row| row.0.chars().count()).max().unwrap_or(0);
    for (outcome, count) in &summary.outcomes {
        let _ = writeln!(out, "{count:>6} {outcome}");
    }
    let _ = writeln!(
        out,
        "{:.2} s wall, {:.2} s CPU, {:.0} MiB at the peak",
        summary.wall_s, summary.cpu_s, summary.peak_mib
    );
    for (name, wall, cpu) in &summary.slowest {
        let bar = if summary.wall_s > 0.0 { (wall / summary.wall_s * 40.0).round() as usize } else { 0 };
        let _ = writeln!(out, "{name:<width$} {wall:>9.2}s {cpu:>9.2}s CPU {}", "#".repeat(bar.min(40)));
    }
    if !summary.critical_path.is_empty() {
        let _ = writeln!(out, "critical path: {}", summary.critical_path.join(" > "));
    }
    out
}
