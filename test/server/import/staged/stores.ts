import sql from 'sql-template-tag';
import { importAtOnce } from '../../../../src/server/import/atonce.ts';
import { numberRecords } from '../../../../src/server/import/lines.ts';
import { PACE, type PaceLimits } from '../../../../src/server/import/staged/pace.ts';
import { importStaged, resumeImports, waitForClaim } from '../../../../src/server/import/staged/stagedimport.ts';
import type { Service } from '../../../../src/server/service.ts';
import type { Store } from '../../../../src/server/store/store.ts';
import { storedEntries } from '../../../contract/trail.ts';
import type { WireRecord } from '../../../support/calls.ts';
import { dump } from '../../../support/dump.ts';
import { type TestService, testService } from '../../../support/service.ts';
import { allMessages } from '../../stream/told.ts';

/** Publishes three records at a time, and none with the decision. */
export const SMALL_PARTS: PaceLimits = { ...PACE, atOnce: 0, least: 3, most: 3, pause: 0 };

/** Imports in parts, however few the records are. */
export async function importInParts(service: Service, records: Iterable<WireRecord>, limits = SMALL_PARTS) {
  const claim = await waitForClaim(service.store);
  try {
    return await importStaged(service, claim, () => numberRecords(records), true, limits);
  } finally {
    await claim.release();
  }
}

/** What the next server, or the next import, does first. */
export async function resume(service: Service): Promise<void> {
  const claim = await waitForClaim(service.store);
  try {
    await resumeImports(service, claim, { limits: SMALL_PARTS });
  } finally {
    await claim.release();
  }
}

/** What is neither a count of nothing nor random. */
const isCounted = (row: string) => !/"(records|transactions)":0[,}]/.test(row);

/**
 * Everything that a store holds and tells: its rows, its messages without their numbers, which count from 1 without a gap,
 * and what its audit log says was done.
 */
export async function everythingOf(service: TestService): Promise<Record<string, unknown>> {
  // First, so that every entry has its place already.
  const entries = await storedEntries(service);
  const tables = await dump(service.service);
  const messages = await allMessages(service);
  const counted = new Map<string, number>();
  for (const { id, organizationId } of messages) {
    if (id !== (counted.get(organizationId) ?? 0) + 1) throw new Error(`Message ${id} of ${organizationId}`);
    counted.set(organizationId, id);
  }
  const read = service.service.store.read;
  const places = await read.all<{
    places: string;
    record: string | null;
    record_id: number;
    patient_id: number | null;
  }>(sql`SELECT org, routing_key, places, record, record_id, patient_id FROM stream_messages`);
  const uncounted = await read.all(sql`SELECT org FROM ledger_versions WHERE counted <> version`);
  const steady = (value: unknown) =>
    JSON.stringify(value).replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'guid');
  return {
    ...Object.fromEntries(Object.entries(tables).map(([name, rows]) => [name, rows.filter(isCounted)])),
    messages: messages.map(({ id: _, ...message }) => steady(message)).sort(),
    places: places.map(steady).sort(),
    uncounted,
    entries: entries.map(({ id: _, ...entry }) => steady({ ...entry, hash: '' })).sort(),
  };
}

/** A service each of whose transactions is tried twice, the first time for nothing: another one was in its way. */
export function triedTwice(service: Service): Service {
  const { store } = service;
  const conflict = new Error('conflict');
  const write: Store['write'] = async (work, org) => {
    const first = store.write(async (tx) => {
      await work(tx).catch(() => undefined);
      throw conflict;
    }, org);
    await first.catch((error) => error === conflict || Promise.reject(error));
    return store.write(work, org);
  };
  return { ...service, store: { ...store, write } };
}

/** A service whose process is dead to its store once it has decided an import. */
export function killedOnceDecided(service: Service): Service {
  const { store } = service;
  let writes = 0;
  const write: Store['write'] = (work, org) =>
    writes++ === 0 ? store.write(work, org) : Promise.reject(new Error('killed'));
  return { ...service, store: { ...store, write } };
}

/** What is there after the same lines at once and in parts, each into a store of its own, or what is wrong with them. */
export async function bothOutcomes(
  first: readonly WireRecord[],
  lines: readonly WireRecord[],
  limits: PaceLimits = SMALL_PARTS,
) {
  const options = { allowCredentials: true };
  return {
    atOnce: await outcome(first, (service) => importAtOnce(service, () => numberRecords(lines), options)),
    inParts: await outcome(first, (service) => importInParts(service, lines, limits)),
  };
}

async function outcome(first: readonly WireRecord[], work: (service: Service) => Promise<unknown>) {
  const service = await testService(first);
  try {
    service.clock.advance(60_000);
    const result = await work(service.service).catch((error: unknown) => ({
      problems: (error as { problems: unknown }).problems,
    }));
    return { result, ...(await everythingOf(service)) };
  } finally {
    await service.close();
  }
}
