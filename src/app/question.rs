//! Asks about notes: maenifold where its source is named, else the index. Answers hold no secrets.

use crate::core::search::answer::{ContextAnswer, SearchAnswer};
use crate::core::search::masked::Masked;
use crate::sources::context::{ContextQuestion, context};
use crate::sources::maenifold::MaenifoldClient;
use crate::sources::search::search;
use crate::workspace::refresh::Refreshed;
use crate::workspace::{AppError, Request, Workspace};

/// Asks, and passes on what a person may want to know beside the answer: vaults that were left out, what the index lacks.
pub fn ask<Answer: Masked>(
    request: &Request,
    remark: &mut dyn FnMut(String),
    maenifold: impl FnOnce(MaenifoldClient) -> Result<Answer, AppError>,
    index: impl FnOnce(&Workspace) -> Result<(Answer, Refreshed), AppError>,
) -> Result<Answer, AppError> {
    let client = request.source.map(|_| MaenifoldClient::find(request)).transpose()?.flatten();
    let mut answer = if let Some(client) = client {
        client.remark.iter().for_each(|text| remark(text.clone()));
        maenifold(client)?
    } else {
        let here = Request { source: None, ..request.clone() };
        let (workspace, errors) = Workspace::find(&here)?;
        errors.iter().for_each(|error| remark(error.to_string()));
        let (answer, refreshed) = index(&workspace)?;
        refreshed.notice.iter().for_each(|notice| remark(notice.about("the index")));
        answer
    };
    answer.mask();
    Ok(answer)
}

/// Finds the notes that match `query`, best first.
pub fn found(
    request: &Request,
    remark: &mut dyn FnMut(String),
    query: &str,
    limit: usize,
) -> Result<SearchAnswer, AppError> {
    let maenifold = |client: MaenifoldClient| client.search(query, limit);
    ask(request, remark, maenifold, |workspace| search(workspace, query, limit))
}

/// Finds the direct neighbours of a concept.
pub fn around(
    request: &Request,
    remark: &mut dyn FnMut(String),
    concept: &str,
    max_entities: usize,
) -> Result<ContextAnswer, AppError> {
    let question = ContextQuestion { now: None, concept, depth: 1, max_entities };
    let maenifold = |client: MaenifoldClient| client.context(question);
    ask(request, remark, maenifold, |workspace| context(workspace, question))
}
