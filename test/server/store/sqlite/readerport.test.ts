import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import sql from 'sql-template-tag';
import { expect, test } from 'vitest';
import type * as sources from '../../../../src/server/store/sqlite/readerport.ts';
import { openConnection } from '../../../../src/sqlite/open.ts';

// As it is built: the sources start no thread.
const { ReaderThread } = createRequire(import.meta.url)(
  '../../../../dist/server/store/sqlite/readerport.js',
) as typeof sources;

test('a reader whose thread has ended while it had nothing to do starts another', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'molar-reader-'));
  const file = join(folder, 'molar.sqlite');
  openConnection(file).close();
  const thread = new ReaderThread(file);
  const read = () => thread.for('near').get(sql`SELECT 1 AS found`);
  try {
    const started = once(process, 'worker');
    expect(await read()).toEqual({ found: 1 });
    const [worker] = (await started) as [Worker];
    await worker.terminate();
    expect(await read()).toEqual({ found: 1 });
  } finally {
    await thread.close();
    await rm(folder, { recursive: true });
  }
});
