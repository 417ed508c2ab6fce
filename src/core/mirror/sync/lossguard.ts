import { countText } from '../../count.ts';
import { type Failure, localFailure } from '../../failure.ts';
import type { Proof } from '../../pages/complete.ts';
import type { Finding, MirrorStore } from '../store.ts';
import type { MirrorTable } from '../tables.ts';
import type { ResourceReader } from './reading.ts';

/** Tables with fewer rows may lose any number of them unasked. */
const MIN_CHECKED_ROWS = 100;

/** Missing rows that are looked for one by one when a list cannot be proved. */
const MAX_LOOKED_FOR = 2000;

/**
 * Makes sure that rows which a sweep or a comparison did not find are gone, before they are deleted (D52): at
 * most how many. Throws a Failure (exit 8) when that cannot be confirmed.
 */
export async function checkLoss(
  reader: ResourceReader,
  store: MirrorStore,
  found: Finding,
  { by, unproved }: Proof,
): Promise<number> {
  const { table } = reader;
  const { rows, missing } = await store.missingRows(table, found);
  if (unproved !== null && missing > 0) {
    if (missing > MAX_LOOKED_FOR) throw doubtful(table, rows, missing, unproved);
    await reader.fetch(await store.missingIds(table, found, MAX_LOOKED_FOR));
  } else if (rows >= MIN_CHECKED_ROWS && missing > rows / 2 && by !== 'count') {
    throw doubtful(table, rows, missing, 'It has no count of them.');
  }
  return missing;
}

/** Rows that a sweep or a comparison did not find, and that cannot be confirmed to be gone. */
export function doubtful({ resource }: MirrorTable, rows: number, missing: number, why: string): Failure {
  return localFailure(
    'pages.incomplete',
    `The server no longer lists ${countText(missing)} of ${countText(rows)} ${resource.many}, and this could not be confirmed. ${why}`,
    { hint: 'Nothing was deleted. Run it again later. If it is right, molar mirror reset, then sync anew.' },
  );
}
