import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { ListMultipartUploadsCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Files } from '../../../../src/server/files/files.ts';
import { FilesUnavailable } from '../../../../src/server/files/files.ts';
import { openFiles } from '../../../../src/server/files/open.ts';
import { leftOpenBelow } from '../../../support/descriptors.ts';
import type { S3Server } from '../../../support/s3.ts';
import { NAME, namesIn, staged, store } from '../storedfiles.ts';

const MEGABYTE = 1024 * 1024;

let data: string;
let files: Files;
let used = 0;

const stage = async (name: string, content: Buffer) => (await staged(files, name, content)).path;

async function unavailable(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => new Error('It was done.'),
    (failed: unknown) => failed,
  );
  if (!(error instanceof FilesUnavailable)) throw error;
  expect([error.status, error.problems.map((problem) => problem.code)]).toEqual([503, ['server.unavailable']]);
  return error.code;
}

/** A fault in requests that `where` finds: the connection ends without an answer. */
const cut = (where: RegExp) => (asked: IncomingMessage) => {
  const found = where.test(`${asked.method} ${asked.url}`);
  if (found) asked.socket.destroy();
  return found;
};

const answering = (where: RegExp, answer: (response: ServerResponse) => void) => {
  return (asked: IncomingMessage, response: ServerResponse) => {
    const found = where.test(`${asked.method} ${asked.url}`);
    if (found) answer(response);
    return found;
  };
};

const listed = () => namesIn(files);

async function unfinished({ client, bucket }: S3Server): Promise<number> {
  const list = new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: `${used}/` });
  return (await client.send(list)).Uploads?.length ?? 0;
}

export function testFilesOfBucket(s3: S3Server): void {
  describe('a bucket', () => {
    beforeEach(async () => {
      data = await mkdtemp(join(tmpdir(), 'molar-bucket-'));
      used += 1;
      files = await openFiles(`s3://${s3.bucket}/${used}`, data);
      s3.requests.length = 0;
    });
    afterEach(async () => {
      s3.failing();
      await files.close();
      await rm(data, { recursive: true });
    });

    const prefix = () => `${s3.bucket}/${used}/3f/${NAME}`;
    const local = () => readdir(join(data, 'uploads'));

    it('gets a small file in one request, and nothing before it is secured; nothing of it is here then', async () => {
      const path = await stage(NAME, Buffer.from('x'));
      expect(s3.requests).toEqual([]);
      await files.persist([NAME]);
      expect(s3.requests).toEqual([`PUT ${prefix()}`, `HEAD ${prefix()}`]);
      expect([(await stat(path)).size, leftOpenBelow(data)]).toEqual([0, []]);
    });

    it('gets a large file in parts, each signed with its hash', async () => {
      const sizes: number[] = [];
      s3.failing(({ method, headers }) => {
        if (method === 'PUT') sizes.push(Number(headers['content-length']));
        if (method === 'PUT') expect(headers['x-amz-content-sha256']).toMatch(/^[0-9a-f]{64}$/);
        return false;
      });
      await store(files, NAME, randomBytes(17 * MEGABYTE));
      expect(sizes).toEqual([8 * MEGABYTE, 8 * MEGABYTE, MEGABYTE]);
      expect(s3.requests).toEqual([
        `POST ${prefix()}?uploads`,
        `PUT ${prefix()}?partNumber`,
        `PUT ${prefix()}?partNumber`,
        `PUT ${prefix()}?partNumber`,
        `POST ${prefix()}?uploadId`,
        `HEAD ${prefix()}`,
      ]);
    });

    it('is asked again when one request gets lost', async () => {
      let lost = 0;
      s3.failing((asked) => {
        if (asked.method !== 'PUT' || lost > 0) return false;
        lost += 1;
        asked.socket.destroy();
        return true;
      });
      await store(files, NAME, Buffer.from('arrives'));
      expect([lost, (await buffer(await files.open(NAME))).toString()]).toEqual([1, 'arrives']);
    });

    it.each([
      ['of a small file', 1, /^PUT/],
      ['of the second part', 9 * MEGABYTE, /partNumber=2/],
      ['before the last request', 9 * MEGABYTE, /^POST .*uploadId=/],
    ])('has nothing of an upload that broke off %s', async (_where, size, where) => {
      await stage(NAME, randomBytes(size));
      s3.failing(cut(where));
      expect(await unavailable(files.persist([NAME]))).toBe('ECONNRESET');
      s3.failing();
      expect([await files.size(NAME), await listed(), await unfinished(s3)]).toEqual([undefined, [], 0]);
      expect(leftOpenBelow(data)).toEqual([]);
      await files.discard(NAME);
      expect(await local()).toEqual([]);
    });

    it('keeps the parts of an upload that could not be aborted, but shows no file', async () => {
      await stage(NAME, randomBytes(9 * MEGABYTE));
      s3.failing(cut(/partNumber=2|^DELETE/));
      expect(await unavailable(files.persist([NAME]))).toBe('ECONNRESET');
      s3.failing();
      expect([await listed(), await unfinished(s3)]).toEqual([[], 1]);
    });

    it('gets nothing of a staged file that is not what arrived', async () => {
      for (const size of [10, 9 * MEGABYTE]) {
        await writeFile(await stage(`${size}-original`, randomBytes(size)), randomBytes(size));
        expect(await unavailable(files.persist([`${size}-original`]))).toBe('UPLOAD_DAMAGED');
      }
      expect([await listed(), await unfinished(s3)]).toEqual([[], 0]);
    });

    it('is not believed when it has fewer bytes than were sent', async () => {
      await stage(NAME, Buffer.from('0123456789'));
      s3.failing(answering(/^HEAD/, (response) => response.writeHead(200, { 'content-length': 9 }).end()));
      expect(await unavailable(files.persist([NAME]))).toBe('UPLOAD_DAMAGED');
    });

    it('keeps the others from being discarded too early when one of several files fails', async () => {
      await stage('aa11-original', Buffer.from('1'));
      await stage('bb22-original', randomBytes(9 * MEGABYTE));
      s3.failing(cut(/aa11/));
      await unavailable(files.persist(['aa11-original', 'bb22-original']));
      s3.failing();
      // By now the other one has arrived: discarding finds it.
      expect(await listed()).toEqual(['bb22-original']);
      for (const name of ['aa11-original', 'bb22-original']) await files.discard(name);
      expect([await listed(), await local()]).toEqual([[], []]);
    });

    it('that ignores a range is not believed', async () => {
      const whole = Buffer.from('0123456789');
      s3.failing(answering(/^GET/, (response) => response.writeHead(200, { 'content-length': 10 }).end(whole)));
      expect(await unavailable(files.open(NAME, { start: 2, end: 4 }))).toBe('RangeNotGiven');
    });

    it('that breaks off breaks the reading off, too', async () => {
      const part = answering(/^GET/, (response) => {
        response.writeHead(200, { 'content-length': 10 }).write('01234', () => response.destroy());
      });
      s3.failing(part);
      await expect(buffer(await files.open(NAME))).rejects.toThrow('aborted');
    });

    it('is listed over several pages, without what is not ours', async () => {
      const names = Array.from({ length: 12 }, (_, at) => `${at + 10}ab-original`);
      for (const name of names) await store(files, name, Buffer.from('x'));
      for (const foreign of ['README', '10/else', 'incoming/10ab-original', '10/10ab-original/x']) {
        await s3.client.send(new PutObjectCommand({ Bucket: s3.bucket, Key: `${used}/${foreign}`, Body: 'x' }));
      }
      s3.requests.length = 0;
      expect(await listed()).toEqual(names);
      expect(s3.requests.length).toBeGreaterThan(2);
    });

    it('that is away is told as such, and what was staged is ended when it is back', async () => {
      await store(files, 'aa11-original', Buffer.from('kept'));
      for (const name of ['bb22-original', 'cc33-original', 'dd44-original']) await stage(name, Buffer.from(name));
      await files.persist(['bb22-original', 'cc33-original']);
      await s3.away();
      try {
        const works = [
          files.persist(['dd44-original']),
          files.size('aa11-original'),
          files.open('aa11-original'),
          files.remove('aa11-original'),
          listed(),
        ];
        expect(await Promise.all(works.map(unavailable))).toEqual(Array(5).fill('ECONNREFUSED'));
        await files.finalize('bb22-original');
        await files.discard('cc33-original');
        await (await files.stage('ee55-original')).finish();
      } finally {
        await s3.back();
      }
      expect((await local()).sort()).toEqual(['cc33-original', 'dd44-original', 'ee55-original']);
      for (const name of await files.leftovers()) await files.discard(name);
      expect([await listed(), await local()]).toEqual([['aa11-original', 'bb22-original'], []]);
    });
  });
}
