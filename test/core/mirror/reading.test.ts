import { describe, expect, it } from 'vitest';
import { checkLoss } from '../../../src/core/mirror/sync/lossguard.ts';
import { type ReadContext, ResourceReader } from '../../../src/core/mirror/sync/reading.ts';
import { findTable, type MirrorTable } from '../../../src/core/mirror/tables.ts';
import type { Proof } from '../../../src/core/pages/complete.ts';
import { type Network, type NetworkOptions, openNetwork } from '../../../src/core/transport/network.ts';
import { clientOf, Script, success } from '../transport/script.ts';
import { clock, mirrorFolder, openFaithful, syncTo } from './mirroring.ts';

const tableOf = (name: string) => findTable(name) as MirrorTable;

it.each([{ name: 'scan' }, { id: 8, name: 'scan' }, null])('%j in response to the id 7 is refused', async (data) => {
  const store = { facts: { columns: {} }, stage: () => expect.unreachable() };
  const context = { client: clientOf(new Script(success(data))), store, signal: new AbortController().signal };
  const reader = new ResourceReader(context as unknown as ReadContext, tableOf('documents'));
  await expect(reader.fetch(['7'])).rejects.toMatchObject({ code: 'response.malformed', exitCode: 8 });
});

describe('rows that the service no longer lists', () => {
  const UNPROVED = 'It timed out.';

  /** How many may go, or why none may; and how many ids were asked for. */
  async function lossOf(rows: number, missing: number, by: Proof['by'], unproved: string | null) {
    const asked: string[] = [];
    const reader = { table: tableOf('patients'), fetch: async (ids: string[]) => void asked.push(...ids) };
    const store = {
      missingRows: async () => ({ rows, missing }),
      missingIds: async (_: unknown, __: unknown, limit: number) =>
        Array.from({ length: missing }, String).slice(0, limit),
    };
    const given = [reader, store] as unknown as [ResourceReader, Parameters<typeof checkLoss>[1]];
    const lost = checkLoss(...given, 'ids', { by, counted: null, unproved });
    return [await lost.catch(({ message, exitCode }) => `${exitCode}: ${message}`), asked.length];
  }

  it.each<[number, number, Proof['by'], string | null, unknown]>([
    [1000, 0, 'count', UNPROVED, [0, 0]],
    [1000, 3, 'count', UNPROVED, [3, 3]],
    [9000, 2000, 'count', UNPROVED, [2000, 2000]],
    [9000, 2001, 'count', UNPROVED, [expect.stringMatching(/^8: .* 2,001 of 9,000 patients.* It timed out\.$/), 0]],
    [99, 99, 'walk', null, [99, 0]],
    [100, 50, 'walk', null, [50, 0]],
    [100, 51, 'walk', null, [expect.stringMatching(/^8: .* 51 of 100 patients.* It has no count of them\.$/), 0]],
    [100, 100, 'count', null, [100, 0]],
  ])('of %d, %d are missing, known by %s, unproved %j', async (rows, missing, by, unproved, expected) => {
    expect(await lossOf(rows, missing, by, unproved)).toEqual(expected);
  });
});

it('a service that does not tell its time is asked for the changes of a day more', async () => {
  const { file } = await mirrorFolder();
  const service = await openFaithful({ seed: 'undated' });
  const withoutDate = (options: NetworkOptions): Network => {
    const network = openNetwork(options);
    const send: Network['send'] = async (request) => {
      const { headers, ...others } = await network.send(request);
      return { ...others, headers: Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'date')) };
    };
    return { ...network, send };
  };
  const now = Date.now();
  const world = { env: service.env, clock: { ...clock, now: () => now }, openNetwork: withoutDate };
  expect((await syncTo(file, ['patients'], world)).exitCode).toBe(0);
  const before = service.requests.length;
  expect((await syncTo(file, ['patients'], world)).exitCode).toBe(0);
  const filters = service.requests.slice(before).map(({ query }) => query.filter ?? '');
  const since = filters.flatMap((filter) => /lastModified>=([^,]+Z)/.exec(filter)?.[1] ?? []);
  const DAY = 24 * 60 * 60_000;
  const OVERLAP = 5 * 60_000;
  expect(since.map((time) => Math.floor((now - OVERLAP - DAY - Date.parse(time)) / 1000))).toContain(0);
});
