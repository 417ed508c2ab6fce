import { type ImportProblem, ImportRefused } from '../../../src/server/import/lines.ts';
import type { TestService } from '../../support/service.ts';

type Records = Iterable<Readonly<Record<string, unknown>>>;

/** What is wrong with an import that is refused. Throws when it is not. */
export async function refused(service: TestService, records: Records): Promise<readonly ImportProblem[]> {
  try {
    await service.import(records);
  } catch (error) {
    if (error instanceof ImportRefused) return error.problems;
    throw error;
  }
  throw new Error('The import was not refused.');
}

/** The same as `line field`, for comparison. */
export async function places(service: TestService, records: Records): Promise<string[]> {
  return (await refused(service, records)).map(({ line, field }) => `${line} ${field}`);
}
