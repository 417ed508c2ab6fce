import { importAtOnce } from '../../../src/server/import/atonce.ts';
import { type ImportProblem, ImportRefused, numberRecords } from '../../../src/server/import/lines.ts';
import type { TestService } from '../../support/service.ts';

type Records = Iterable<Readonly<Record<string, unknown>>>;

/** What is wrong with an import that is refused. Throws when it is not. */
export function refused(service: TestService, records: Records): Promise<readonly ImportProblem[]> {
  return problemsOf(service.import(records));
}

/** The same, as `line field` for comparison. */
export async function places(service: TestService, records: Records): Promise<string[]> {
  return placesOf(await refused(service, records));
}

/** The same, in one transaction, as it is done for a store without organizations. */
export async function placesAtOnce({ service }: TestService, records: Records): Promise<string[]> {
  return placesOf(await problemsOf(importAtOnce(service, () => numberRecords(records), { allowCredentials: true })));
}

async function problemsOf(importing: Promise<unknown>): Promise<readonly ImportProblem[]> {
  try {
    await importing;
  } catch (error) {
    if (error instanceof ImportRefused) return error.problems;
    throw error;
  }
  throw new Error('The import was not refused.');
}

function placesOf(problems: readonly ImportProblem[]): string[] {
  return problems.map(({ line, field }) => `${line} ${field}`);
}
