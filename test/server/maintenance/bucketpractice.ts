import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { backUp } from '../../../src/server/maintenance/backup/backup.ts';
import { openDataLocation } from '../../../src/server/maintenance/datalocation.ts';
import { restore } from '../../../src/server/maintenance/restore.ts';
import { preparedTest } from '../../support/preparedschemas.ts';
import type { S3Server } from '../../support/s3.ts';
import { check, filesIn, linesOf, makePractice, own, scratch, WORK } from './practices.ts';

let place: Awaited<ReturnType<typeof scratch>>;
let base: string;
let backup: string;

export function testMaintenanceOfBucket(s3: S3Server): void {
  describe('files in a bucket', () => {
    beforeAll(async () => {
      place = await scratch();
      base = join(place.path, 'base');
      backup = join(place.path, 'backup');
      await makePractice(base);
      await backUp({ data: base }, backup, { ...WORK, version: '1' });
    });
    afterAll(() => place.remove());

    beforeEach(() => {
      for (const [name, value] of Object.entries(s3.env)) vi.stubEnv(name, value);
    });
    afterEach(() => {
      s3.failing();
      vi.unstubAllEnvs();
    });

    it('are restored, checked, and backed up again', async () => {
      const there = { data: join(place.path, 'there'), files: `s3://${s3.bucket}/molar` };
      expect(await restore(backup, there, WORK)).toMatchObject({ problems: [] });
      expect(linesOf(await check(there, { deep: true }))).toEqual([]);
      expect(await filesIn(join(there.data, 'files')).catch(() => [])).toEqual([]);
      // Files come there before the documents of an import, which may be running anywhere.
      const opened = await openDataLocation(there);
      await opened.close();
      expect([opened.served, opened.keepsYoung]).toEqual([false, true]);
      const again = join(place.path, 'again');
      const report = await backUp(there, again, { ...WORK, version: '1' });
      expect(report).toMatchObject({ files: (await filesIn(join(backup, 'files'))).length, problems: [] });
      expect(linesOf(await check({ data: again }, { deep: true }))).toEqual([]);
    });

    preparedTest('may stand there before their documents do, beside a database, too', async (database) => {
      const files = `s3://${s3.bucket}/beside`;
      const opened = await openDataLocation({ data: join(place.path, 'beside'), database: own(database), files });
      await opened.close();
      expect([opened.served, opened.keepsYoung]).toEqual([false, true]);
    });

    it('of a storage that is away are no finding', async () => {
      const there = { data: join(place.path, 'there'), files: `s3://${s3.bucket}/molar` };
      s3.failing((_request, response) => {
        response.writeHead(403).end();
        return true;
      });
      await expect(check(there)).rejects.toThrow();
    });
  });
}
