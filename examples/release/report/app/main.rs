//! bgc-report FILE [N]: where the time of a run went, from its event stream.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let file = match arguments.next() {
        Some(file) => file,
        None => {
            eprintln!("usage: bgc-report FILE [N]\nFILE is what `bgc run --events FILE` wrote; N rows of the slowest nodes (10).");
            return ExitCode::from(2);
        }
    };
    let most = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(10);
    let run = std::fs::read_to_string(&file)
        .map_err(|error| error.to_string())
        .and_then(|text| events::read(&text));
    match run {
        Ok(run) => {
            print!("{}", render::text(&stats::summarize(&run, most)));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("bgc-report: {file}: {error}");
            ExitCode::from(3)
        }
    }
}
