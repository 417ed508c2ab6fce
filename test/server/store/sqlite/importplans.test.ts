import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { waitForClaim } from '../../../../src/server/import/staged/stagedimport.ts';
import { StagedLines } from '../../../../src/server/import/staged/stagedlines.ts';
import { Statements } from '../../../../src/server/store/sqlite/statements.ts';
import type { StagingArea } from '../../../../src/server/store/store.ts';
import { openConnection } from '../../../../src/sqlite/open.ts';
import { PATIENTS } from '../../../support/ids.ts';
import { type TestService, testService } from '../../../support/service.ts';

/*
 * What every part of an import asks for is found by an index that ends at what it wants: a part of an import of a million
 * records must not read those of all others.
 */

let service: TestService;
let data: string;

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'molar-plans-'));
  service = await testService(undefined, { data });
});
afterEach(async () => {
  await service.close();
  await rm(data, { recursive: true });
});

it.each<[string, (staged: StagedLines) => Promise<unknown>, string]>([
  ['the next lines', (staged) => staged.after({ org: 1, step: 2, seq: 3 }, 5, { from: 1, to: 6 }), '>'],
  ['a line', (staged) => staged.find(1, 'PatientV1', PATIENTS.ann), 'id=?'],
  ['lines', (staged) => staged.named(1, 'PatientV1', [1, 2, 3]), 'id=?'],
  ['lines that lead to some', (staged) => staged.linkedTo(1, 'Transaction', [1, 2, 3]), 'link=?'],
  ['a twin', (staged) => staged.twinOf(1, 'PatientV1', 4, 'twin'), 'twin=?'],
])('%s', async (_, ask, by) => {
  const claim = await waitForClaim(service.service.store);
  const name = '00000000-0000-4000-8000-000000000001';
  await (await claim.open(name)).close();
  const connection = openConnection(join(data, `import-${name}.sqlite`));
  const statements = new Statements(connection);
  const plans: string[] = [];
  const explained: StagingArea['read'] = {
    async all(statement) {
      const plan = connection.prepare(`EXPLAIN QUERY PLAN ${statement.sql}`).all(...statement.values);
      plans.push(...(plan as { detail: string }[]).map(({ detail }) => detail));
      return statements.all(statement);
    },
    async get(statement) {
      return (await this.all(statement))[0] as never;
    },
  };
  const area = { read: explained, write: async () => {}, sync: async () => {}, close: async () => {} };
  await ask(new StagedLines(area, name));
  connection.close();
  await claim.remove(name);
  await claim.release();
  expect(plans.length).toBeGreaterThan(0);
  for (const plan of plans) expect(plan).toMatch(/^SEARCH import_lines USING (COVERING )?INDEX /);
  expect(plans[0]).toContain(by);
});
