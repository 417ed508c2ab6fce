import sql from 'sql-template-tag';
import { expect } from 'vitest';
import type { ImportClaim } from '../../../src/server/store/store.ts';
import { preparedSchema } from '../../support/preparedschemas.ts';
import { onBothStores } from './schema/olderpractice.ts';

const lines = (name: string) =>
  sql`INSERT INTO import_lines (import, org, type, id, step, seq, line) VALUES (${name}, 1, 'PatientV1', 5, 0, 1, 1)`;
const links = (name: string) =>
  sql`INSERT INTO import_links (import, target, org, id, line, field) VALUES (${name}, 'PatientV1', 1, 6, 1, 'owner')`;
const deferred = (name: string) =>
  sql`INSERT INTO import_deferred (import, seq, line, record) VALUES (${name}, 1, 1, '{}')`;

onBothStores(
  'What a killed import has staged is found and removed, whatever is left of it, and no other',
  async (home) => {
    const store = await home.open();
    const claim = (await store.claimImports()) as ImportClaim;
    const names = async () => [...(await claim.names())].sort();
    try {
      const staged = { aa11: [lines], bb22: [links], cc33: [deferred], dd44: [lines, links, deferred] };
      for (const [name, kinds] of Object.entries(staged)) {
        const area = await claim.open(name);
        await area.write(kinds.map((of) => of(name)));
        await area.close();
      }
      const left = Object.keys(staged);
      while (left.length > 0) {
        expect(await names()).toEqual(left);
        await claim.remove(left.pop() ?? '');
      }
      expect(await names()).toEqual([]);
    } finally {
      await claim.release();
      await store.close();
    }
  },
  preparedSchema,
);
