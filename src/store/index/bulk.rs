//! Inserts many rows into one table, several per statement.

use rusqlite::{Connection, Error, Statement};

/// Starting and ending a statement takes half of the time of a single row.
const ROWS_PER_STATEMENT: usize = 32;

/// Inserts `rows` of `N` columns into `table`. `bind` binds one row's values, starting at the given
/// parameter.
pub(super) fn insert_all<T, const N: usize>(
    connection: &Connection,
    table: &str,
    rows: &[T],
    bind: impl Fn(&mut Statement<'_>, usize, &T) -> Result<(), Error>,
) -> Result<(), Error> {
    let places = format!("({})", ["?"; N].join(", "));
    let groups = rows.chunks_exact(ROWS_PER_STATEMENT);
    let rest = groups.remainder();
    if groups.len() > 0 {
        let all_places = vec![places.as_str(); ROWS_PER_STATEMENT].join(", ");
        let mut statement =
            connection.prepare_cached(&format!("INSERT INTO {table} VALUES {all_places}"))?;
        for group in groups {
            for (n, row) in group.iter().enumerate() {
                bind(&mut statement, 1 + n * N, row)?;
            }
            statement.raw_execute()?;
        }
    }
    let mut statement =
        connection.prepare_cached(&format!("INSERT INTO {table} VALUES {places}"))?;
    for row in rest {
        bind(&mut statement, 1, row)?;
        statement.raw_execute()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_arrives_once_and_in_order() {
        for n_rows in [0, 1, 31, 32, 33, 64, 100] {
            let connection = Connection::open_in_memory().unwrap();
            connection.execute_batch("CREATE TABLE t (a, b)").unwrap();
            let rows: Vec<i64> = (0..n_rows).collect();
            insert_all::<_, 2>(&connection, "t (a, b)", &rows, |statement, at, row| {
                statement.raw_bind_parameter(at, row)?;
                statement.raw_bind_parameter(at + 1, -row)
            })
            .unwrap();
            let mut statement = connection.prepare("SELECT a, b FROM t ORDER BY rowid").unwrap();
            let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            let found: Vec<(i64, i64)> = found.map(Result::unwrap).collect();
            assert_eq!(found, rows.iter().map(|&n| (n, -n)).collect::<Vec<_>>());
        }
    }
}
