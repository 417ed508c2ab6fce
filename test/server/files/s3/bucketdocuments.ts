import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import sql from 'sql-template-tag';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Files } from '../../../../src/server/files/files.ts';
import { openFiles } from '../../../../src/server/files/open.ts';
import { recoverFiles } from '../../../../src/server/files/recovery.ts';
import { type CallOptions, refusalOf, rowsOf } from '../../../support/calls.ts';
import { PDF } from '../../../support/files.ts';
import { bareRecords, line } from '../../../support/practice.ts';
import type { S3Server } from '../../../support/s3.ts';
import { type TestService, testService } from '../../../support/service.ts';
import { linksOf, post, posted } from '../../resources/documentsof.ts';
import { namesIn } from '../storedfiles.ts';

let data: string;
let files: Files;
let service: TestService;
let used = 0;

const staged = () => readdir(join(data, 'uploads'));

const kept = async () => (await namesIn(files)).sort();

const download = (url: string | undefined, options: CallOptions = {}) =>
  service.call('GET', url ?? '', { token: null, organization: null, ...options });

const AWAY = { status: 503, errors: ['server.unavailable null'] };

export function testDocumentsInBucket(s3: S3Server): void {
  describe('documents in a bucket', () => {
    beforeEach(async () => {
      data = await mkdtemp(join(tmpdir(), 'molar-bucket-'));
      used += 1;
      files = await openFiles(`s3://${s3.bucket}/documents/${used}`, data);
      service = await testService(bareRecords(), { fileRetentionDays: 0 });
      (service.service as { files: Files }).files = files;
      s3.requests.length = 0;
    });
    afterEach(async () => {
      await service.close();
      await files.close();
      await rm(data, { recursive: true });
    });

    it('come back whole, in parts and with their hash', async () => {
      // A little more than one part of an upload.
      const bytes = randomBytes(8_400_000);
      const { guidName, ...document } = await posted(service, { file: { content: bytes.toString('base64') } });
      expect([await kept(), await staged()]).toEqual([[`${guidName}-original`], []]);
      const { original } = linksOf(document);
      const whole = await download(original);
      expect([whole.status, whole.bytes.equals(bytes)]).toEqual([200, true]);
      expect(whole.headers).toMatchObject({
        'content-type': 'application/pdf',
        'content-length': '8400000',
        etag: `"${guidName}-original"`,
        'repr-digest': `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`,
      });
      const headers = { range: 'bytes=8388600-8388700', 'if-range': String(whole.headers.etag) };
      const part = await download(original, { headers });
      expect([part.status, part.headers['content-range']]).toEqual([206, 'bytes 8388600-8388700/8400000']);
      expect(part.bytes).toEqual(bytes.subarray(8388600, 8388701));
    });

    it('have the variants of a cropped image', async () => {
      const image = await sharp({ create: { width: 600, height: 400, channels: 3, background: '#00ff00' } })
        .png()
        .toBuffer();
      const crop = { fromX: 200, fromY: 150, width: 200, height: 100, ratio: 0.5 };
      const file = { content: image.toString('base64'), ...crop };
      const { guidName, ...document } = await posted(service, { mimeType: 'PNG', file });
      const variants = ['cropped', 'original', 'resized', 'thumbnail'];
      expect([await kept(), await staged()]).toEqual([variants.map((variant) => `${guidName}-${variant}`), []]);
      const sizes = variants.map(async (variant) => {
        const { width, height } = await sharp((await download(linksOf(document)[variant])).bytes).metadata();
        return [width, height];
      });
      expect(await Promise.all(sizes)).toEqual([
        [200, 100],
        [600, 400],
        [100, 50],
        [256, 171],
      ]);
    });

    it('that are refused never reach it', async () => {
      const refused = await post(service, { mimeType: 'PNG', file: { content: PDF } });
      expect(refusalOf(refused)).toEqual({ status: 400, errors: ['file.content file.content'] });
      expect([s3.requests, await staged()]).toEqual([[], []]);
    });

    it('go with their records', async () => {
      const { id } = await posted(service);
      await service.call('DELETE', `/documents/${id}`);
      expect([await kept(), await service.service.store.read.all(sql`SELECT * FROM file_removals`)]).toEqual([[], []]);
    });

    it('come and go with an import', async () => {
      const imported = (id: number, content: string) =>
        line('DocumentV1', { id, name: `imported ${id}`, mimeType: 'PDF', file: { content } });
      await service.import([imported(1, PDF), imported(2, PDF)]);
      const before = await kept();
      // The first again, the second with another file.
      await service.import([imported(1, PDF), imported(2, Buffer.from('%PDF-1.4 other').toString('base64'))]);
      const after = await kept();
      expect([before.length, after.length, before.filter((name) => after.includes(name)).length]).toEqual([2, 2, 1]);
      await expect(
        service.import([imported(3, PDF), { ...imported(4, PDF), ownerPatient: { id: 999 } }]),
      ).rejects.toThrow();
      expect([await kept(), await staged()]).toEqual([after, []]);
    });

    it('are refused with 503 while it is away, and stored once when it is back', async () => {
      const body = { name: 'once', mimeType: 'PDF', file: { content: PDF } };
      const send = () => service.call('POST', '/documents', { body, headers: { 'idempotency-key': 'one' } });
      await s3.away();
      try {
        expect(refusalOf(await send())).toEqual(AWAY);
      } finally {
        await s3.back();
      }
      expect([await staged(), rowsOf(await service.call('GET', '/documents'))]).toEqual([[expect.anything()], []]);
      const [first, second] = [await send(), await send()];
      expect([first.status, second.status, second.text]).toEqual([201, 201, first.text]);
      await recoverFiles(service.service.store, files, service.clock.now());
      expect([(await kept()).length, await staged()]).toEqual([1, []]);
    });

    it('are told as away with it, not as files, and deleted with it away are removed later', async () => {
      const { id, ...document } = await posted(service);
      await s3.away();
      try {
        const called = await download(linksOf(document).original);
        expect(refusalOf(called)).toEqual(AWAY);
        expect([called.headers.etag, called.headers['content-disposition']]).toEqual([undefined, undefined]);
        expect((await service.call('DELETE', `/documents/${id}`)).status).toBe(200);
      } finally {
        await s3.back();
      }
      expect((await kept()).length).toBe(1);
      await recoverFiles(service.service.store, files, service.clock.now());
      expect(await kept()).toEqual([]);
    });
  });
}
