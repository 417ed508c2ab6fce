import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import sql from 'sql-template-tag';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { big, PATIENTS } from '../../../support/ids.ts';
import { line } from '../../../support/practice.ts';
import { testService } from '../../../support/service.ts';
import { importInParts, killedOnceDecided } from './stores.ts';

let data: string;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'molar-limits-'));
});
afterEach(() => rm(data, { recursive: true }));

/** The limits of the server that goes on with an import. */
const SMALL = { budgets: { imagePixels: 100 } };

/** Leaves an import of a cropped image in the data folder, decided and not published; `plan` changes its plan. */
async function leaveImport(plan = sql`plan`): Promise<void> {
  const image = await sharp({ create: { width: 30, height: 20, channels: 3, background: '#00ff00' } })
    .png()
    .toBuffer();
  const file = { content: image.toString('base64'), fromX: 0, fromY: 0, width: 10, height: 10, ratio: 2 };
  const service = await testService(undefined, { data });
  const owner = { ownerPatient: { id: PATIENTS.ann } };
  const records = [line('DocumentV1', { id: big(8300), name: 'image', mimeType: 'PNG', ...owner, file })];
  await expect(importInParts(killedOnceDecided(service.service), records)).rejects.toThrow('killed');
  await service.service.store.write((tx) => tx.run(sql`UPDATE imports SET plan = ${plan}`));
  await service.close();
}

it('an import that is decided is published by a server with smaller limits, too (D58)', async () => {
  await leaveImport();
  const service = await testService([], { data, ...SMALL });
  expect(await service.call('GET', `/documents/${big(8300)}`)).toMatchObject({ status: 200 });
  await service.close();
});

it('a line that cannot be published any more is named, and the import waits (D58)', async () => {
  await leaveImport(sql`replace(plan, '"imagePixels":', '"imagePixels":0.000000')`);
  await expect(testService([], { data, ...SMALL })).rejects.toThrow(
    'Line 1 of an import cannot be published any more: file.content is an image of 30 × 20 pixels',
  );
  expect(await readdir(join(data, 'files', 'incoming'))).toEqual([]);
  // A server with limits that allow it goes on.
  const service = await testService([], { data });
  expect(await service.call('GET', `/documents/${big(8300)}`)).toMatchObject({ status: 200 });
  await service.close();
});
