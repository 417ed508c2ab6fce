import { EXIT, Refusal } from '../catalog/failures.ts';
import { codeOf, Failure, localFailure, usageFailure } from '../core/failure.ts';

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
