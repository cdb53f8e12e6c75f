//! A markdown text as the simplest code that is right sees it: what is left of it without code and HTML, and the links in there.

/// What stands inside of the `[[links]]` of a markdown text: takes away what is no text, then looks for brackets.
pub(crate) fn wiki_links(text: &str) -> Vec<String> {
    let mut links = Vec::new();
    for text in plain_texts(text) {
        let mut rest = text.as_str();
        while let Some(open) = rest.find("[[") {
            let before = &rest[..open];
            let inner_on = &rest[open + 2..];
            let Some(close) = inner_on.find(['[', ']']) else { break };
            let after = &inner_on[close..];
            let closes = after.starts_with("]]") && !after.starts_with("]]]");
            if close > 0 && closes && !before.ends_with('[') {
                links.push(inner_on[..close].to_owned());
                rest = &after[2..];
            } else {
                rest = &rest[open + 1..];
            }
        }
    }
    links
}

/// The paragraphs of a markdown text, without code and HTML.
pub(crate) fn plain_texts(text: &str) -> Vec<String> {
    let mut body = text.replace("\r\n", "\n");
    if let Some(rest) = body.strip_prefix("---\n")
        && let Some(end) = format!("\n{rest}").find("\n---\n")
    {
        body = rest[(end + 4).min(rest.len())..].to_owned();
    }
    paragraphs(&body).iter().map(|paragraph| without_code_and_html(paragraph)).collect()
}

/// The text between blank lines, without fenced and indented code and HTML blocks.
fn paragraphs(body: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    let mut fence: Option<String> = None;
    let mut html_until: Option<&str> = None;
    let mut in_list = false;
    for line in body.lines() {
        let quoted = line.trim_start_matches(['>', ' ']);
        let content = if line.trim_start().starts_with('>') { quoted } else { line };
        let trimmed = content.trim();
        let indent = content.len() - content.trim_start().len();
        if let Some(open) = &fence {
            if trimmed.starts_with(open.as_str()) && trimmed.trim_matches(['`', '~']).is_empty() {
                fence = None;
            }
            continue;
        }
        if let Some(end) = html_until {
            if (end.is_empty() && trimmed.is_empty()) || (!end.is_empty() && trimmed.contains(end))
            {
                html_until = None;
            }
            continue;
        }
        let item = trimmed
            .trim_start_matches(['-', '*', '+'])
            .trim_start_matches(|c: char| c.is_ascii_digit());
        let item = item.trim_start_matches(['.', ')']);
        let after_marker =
            if item.starts_with(' ') && item.len() < trimmed.len() { item.trim() } else { trimmed };
        let mark = after_marker.chars().next().unwrap_or(' ');
        let run: String = after_marker.chars().take_while(|&c| c == mark).collect();
        if matches!(mark, '`' | '~')
            && run.len() >= 3
            && !(mark == '`' && after_marker[run.len()..].contains('`'))
        {
            fence = Some(run);
            paragraphs.push(String::new());
            continue;
        }
        let at_paragraph_start = paragraphs.last().is_some_and(String::is_empty);
        if is_html_block(trimmed) && (at_paragraph_start || trimmed.starts_with("<!--")) {
            let end = if trimmed.starts_with("<!--") { "-->" } else { "" };
            if end.is_empty() || !trimmed.contains(end) {
                html_until = Some(end);
            }
            continue;
        }
        if trimmed.is_empty() {
            paragraphs.push(String::new());
            continue;
        }
        if at_paragraph_start && !in_list && (line.starts_with("    ") || line.starts_with('\t')) {
            continue;
        }
        if item.starts_with(' ') && item.len() < trimmed.len() {
            in_list = true;
            paragraphs.push(String::new());
        } else if indent == 0 && at_paragraph_start {
            in_list = false;
        }
        if trimmed.starts_with('#') {
            paragraphs.push(String::new());
        }
        let paragraph = paragraphs.last_mut().unwrap();
        paragraph.push_str(content);
        paragraph.push('\n');
    }
    paragraphs
}

fn is_html_block(line: &str) -> bool {
    const TAGS: &[&str] =
        &["div", "details", "summary", "table", "p", "iframe", "center", "section", "figure", "ul"];
    line.starts_with("<!--")
        || TAGS.iter().any(|tag| {
            let rest = line.strip_prefix("</").or_else(|| line.strip_prefix('<'));
            rest.and_then(|rest| rest.strip_prefix(tag))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '>', '/']))
        })
}

/// Blanks code spans, comments and tags.
fn without_code_and_html(paragraph: &str) -> String {
    let mut text = String::new();
    let mut rest = paragraph;
    while let Some(at) = rest.find(['`', '<', '\\']) {
        text.push_str(&rest[..at]);
        let from = &rest[at..];
        let end = if let Some(after) = from.strip_prefix('\\') {
            // An escaped mark begins nothing.
            let escaped = usize::from(after.starts_with(['`', '<', '\\']));
            text.push_str(&from[..=escaped]);
            Some(1 + escaped)
        } else if from.starts_with('`') {
            let run = from.len() - from.trim_start_matches('`').len();
            let mut search = run;
            let mut end = None;
            while let Some(found) = from[search..].find('`') {
                let start = search + found;
                let length = from[start..].len() - from[start..].trim_start_matches('`').len();
                if length == run {
                    end = Some(start + length);
                    break;
                }
                search = start + length;
            }
            if end.is_none() {
                text.push_str(&from[..run]);
            }
            end.or(Some(run))
        } else if from.starts_with("<!--") {
            from.find("-->").map(|end| end + 3)
        } else if from[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') {
            from.find('>').map(|end| end + 1)
        } else {
            None
        };
        rest = &from[end.unwrap_or(1)..];
        match end {
            None => text.push('<'),
            Some(_) if from.starts_with('\\') => {}
            Some(_) => text.push(' '),
        }
    }
    text.push_str(rest);
    text
}

/// The name of a concept.
pub(crate) fn normal_form(name: &str) -> String {
    let lower = name.trim().to_lowercase().replace([' ', '_', '/'], "-");
    let parts: Vec<&str> = lower.split('-').filter(|part| !part.is_empty()).collect();
    parts.join("-")
}
