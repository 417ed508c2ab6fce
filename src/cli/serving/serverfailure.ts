import { EXIT, Refusal } from '../../catalog/failures.ts';
import { codeOf, Failure, localFailure, usageFailure } from '../../core/failure.ts';

interface RefusedImport {
  readonly problems: readonly { readonly line: number; readonly field: string | null; readonly message: string }[];
  readonly total: number;
}

/**
 * Turns what the embedded server throws before it serves into a Failure. Errors are told by name, since commands load
 * the server only when they run it.
 */
export function serverFailureOf(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (error instanceof Refusal && error.status === 404) {
    return new Failure(error.message, {
      code: 'record.not_found',
      exitCode: EXIT.notFound,
      items: error.problems,
      cause: error,
    });
  }
  if (error.name === 'ImportRefused') return importFailure(error, error as Error & RefusedImport);
  if (error.name === 'StoreUnusable') {
    return localFailure('local.file', error.message, { hint: (error as Error & { next: string }).next, cause: error });
  }
  const disk = diskFailure(error);
  if (disk !== undefined) return disk;
  if (error.name === 'StoreFault' || error.name === 'FilesUnavailable') {
    const what = error.name === 'StoreFault' ? 'The database' : 'The storage of the files';
    return localFailure('network.unreachable', `${what} does not answer, or took too long.`, {
      hint: 'Check that it runs and can be reached, then run the command again.',
      cause: error,
    });
  }
  if (codeOf(error) === 'EADDRINUSE') {
    return localFailure('network.unreachable', 'The port is taken by another program.', {
      hint: 'Give another one with --port, or --port 0 for a free one.',
      cause: error,
    });
  }
  if (codeOf(error) === 'ENOENT' && 'path' in error) {
    return usageFailure(`There is no file ${String(error.path)}.`, { hint: 'Check the path.' });
  }
  return error;
}

/** What SQLite says of files that it cannot use, most telling first: what happened, and what to do. */
const DISK: readonly (readonly [RegExp, string, string])[] = [
  [
    /^SQLITE_FULL/,
    'The disk of the data folder is full',
    'Free some space and try again; nothing that was stored before has changed.',
  ],
  [
    /^SQLITE_(?:CORRUPT|NOTADB)/,
    'The database is damaged, or is none',
    'Keep a copy of the folder, run molar server check, and restore the last backup with molar server restore.',
  ],
  [
    /^SQLITE_(?:READONLY|CANTOPEN|PERM|IOERR)/,
    'The database cannot be read and written',
    'Check the disk, and the permissions of the data folder and its files: molar must be able to write there.',
  ],
];

function diskFailure(error: Error): Failure | undefined {
  const found = DISK.find(([code]) => code.test(codeOf(error) ?? ''));
  if (found === undefined) return undefined;
  const [, message, hint] = found;
  return localFailure('local.file', `${message}: ${error.message}.`, { hint, cause: error });
}

function importFailure(error: Error, { problems, total }: RefusedImport): Failure {
  const items = problems.map(({ line, field, message }) => ({
    code: 'import.refused',
    source: field === null ? `line ${line}` : `line ${line}, ${field}`,
    description: message,
  }));
  const more = total > problems.length ? ` The first ${problems.length} are listed.` : '';
  return new Failure(error.message + more, {
    code: 'import.refused',
    exitCode: EXIT.usage,
    items,
    hint: 'Correct the lines and import the file again; nothing of it was kept.',
  });
}
