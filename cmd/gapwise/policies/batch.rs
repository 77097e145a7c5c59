// First come, first served: rustc -O policy.rs && gapwise solve -a online:./policy jobs.json
use std::io::{stdin, stdout, BufRead, Write};

/// The text between a key and what ends it.
fn after<'a>(text: &'a str, key: &str) -> &'a str {
    let rest = &text[text.find(key).expect(key) + key.len()..];
    &rest[..rest.find([',', '"', '}']).unwrap_or(rest.len())]
}

fn main() {
    let (mut width, mut head, mut idle) = (vec![0; 1], 1, 0); // width[n]: processors of job n
    for line in stdin().lock().lines().map(Result::unwrap) {
        let now = after(&line, "\"now\":"); // {"now":12.5,"events":[{"timestamp":12.5,"type":...,"data":...},...]}
        for event in line.split("{\"timestamp\":").skip(1) {
            let number = || after(event, "\"job_id\":\"w0!").parse::<usize>().unwrap();
            match after(event, "\"type\":\"") {
                "SIMULATION_BEGINS" => idle = after(event, "\"nb_resources\":").parse::<i64>().unwrap(),
                "JOB_SUBMITTED" => width.push(after(event, "\"res\":").parse().unwrap()),
                "JOB_COMPLETED" => idle += width[number()],
                _ => {}
            }
        }
        let mut starts = Vec::new();
        while head < width.len() && width[head] <= idle {
            idle -= width[head];
            starts.push(format!("{{\"timestamp\":{now},\"type\":\"EXECUTE_JOB\",\"data\":{{\"job_id\":\"w0!{head}\"}}}}"));
            head += 1;
        }
        println!("{{\"now\":{now},\"events\":[{}]}}", starts.join(","));
        stdout().flush().unwrap();
    }
}
