import { type ReaderRequest, SqliteReader } from '../../core/query/sqlitereader.ts';

// The process that reads a query from SQLite (`openSqliteQuery`), which ends it when it takes too long: the driver does
// nothing else until it has a row.
const reader = new SqliteReader();
process.on('disconnect', () => process.exit());
process.on('message', (request: ReaderRequest) => process.send?.(reader.answer(request)));
