import { EXIT, Refusal } from '../../catalog/failures.ts';
import { codeOf, Failure, localFailure, usageFailure } from '../../core/failure.ts';

type ImportRefused = InstanceType<typeof import('../../server/import/lines.ts').ImportRefused>;

/** The Failure of an error of the embedded server, recognized by name: importing its class would load the server. */
export function serverFailureOf(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (error.name === 'AuditFault') return auditFailure(error);
  const { message } = error;
  if (error instanceof Refusal && error.status === 404) {
    return new Failure(message, {
      code: 'record.not_found',
      exitCode: EXIT.notFound,
      items: error.problems,
      cause: error,
    });
  }
  if (error.name === 'ImportRefused') return importFailure(error as ImportRefused);
  if (/^(?:Store|Sqlite|Postgres)Unusable$/.test(error.name)) {
    return localFailure('local.file', message, { hint: (error as Error & { next: string }).next, cause: error });
  }
  const code = codeOf(error);
  const disk = DISK.find(([pattern]) => pattern.test(code ?? ''));
  if (disk !== undefined) return localFailure('local.file', `${disk[1]}: ${message}.`, { hint: disk[2], cause: error });
  if (error.name === 'StoreFault' || error.name === 'FilesUnavailable') {
    const what = error.name === 'StoreFault' ? 'The database' : 'The file storage';
    return localFailure('network.unreachable', `${what} cannot be reached, or took too long to respond.`, {
      hint: 'Check that it runs and can be reached, then run the command again.',
      cause: error,
    });
  }
  if (code === 'EADDRINUSE') {
    return localFailure('network.unreachable', 'The port is in use by another program.', {
      hint: 'Choose another one with --port, or --port 0 for a free one.',
      cause: error,
    });
  }
  if (code === 'ENOENT' && 'path' in error) {
    return usageFailure(`No such file: ${String(error.path)}.`, { hint: 'Check the path.' });
  }
  return error;
}

/** Errors of SQLite on files that it cannot use, most specific first: the code, what happened, and the next step. */
const DISK: readonly (readonly [RegExp, string, string])[] = [
  [
    /^SQLITE_FULL/,
    'The disk of the data folder is full',
    'Free some space and try again; nothing that was stored before has changed.',
  ],
  [
    /^SQLITE_(?:CORRUPT|NOTADB)/,
    'The database is damaged, or is not a database',
    'Keep a copy of the folder, run molar server check, and restore the last backup with molar server restore.',
  ],
  [
    /^SQLITE_(?:READONLY|CANTOPEN|PERM|IOERR)/,
    'The database cannot be read and written',
    'Check the disk, and the permissions of the data folder and its files: molar must be able to write there.',
  ],
];

/** The audit log could not be written: for a reason that other writes have, too, or since its tables were changed. */
function auditFailure(error: Error): unknown {
  const known = serverFailureOf(error.cause);
  if (known instanceof Failure) return known;
  return localFailure('local.file', `The audit log cannot be written: ${error.message}.`, {
    hint: 'Nothing was done. Run molar server check, and find out who could write to the database.',
    cause: error,
  });
}

function importFailure(error: ImportRefused): Failure {
  const { problems, total, message } = error;
  const items = problems.map(({ line, field, message: description }) => ({
    code: 'import.refused',
    source: field === null ? `line ${line}` : `line ${line}, ${field}`,
    description,
  }));
  const more = total > problems.length ? ` The first ${problems.length} are listed.` : '';
  return new Failure(message + more, {
    code: 'import.refused',
    exitCode: EXIT.usage,
    items,
    hint: 'Correct the lines and import the file again; nothing was imported.',
  });
}
