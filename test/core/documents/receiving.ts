import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { downloadTo } from '../../../src/core/documents/downloads/downloadfile.ts';
import { cut, DownloadServer, fileAnswer, type Held, sha256 } from './downloads/downloadserver.ts';

export const CONTENT = Buffer.from(Array.from({ length: 1000 }, (_, index) => (index * 7) % 251));
export const OTHER = Buffer.from(CONTENT).reverse();

/** A folder, and a server with document 5, `scan.pdf`, for each test. */
export class Receiving {
  folder = '';
  server = new DownloadServer();
  held: Held = this.server.add(5, 'scan.pdf', CONTENT);

  readonly download = (overwrite = false) =>
    downloadTo(this.place, this.server.row(this.held), this.server.downloading(), overwrite);

  readonly stored = () => readFile(join(this.folder, 'scan.pdf'));

  /** Status and bytes, or exit code and message. The hash that is told is always that of the file. */
  readonly outcome = () =>
    this.download().then(
      async ({ status, bytes, sha256: told }) => {
        expect(told).toBe(sha256(await this.stored()));
        return [status, bytes];
      },
      ({ exitCode, message }) => [exitCode, message],
    );

  /** A run that is cut after some bytes and gives up, as a run that is killed leaves it. */
  readonly interrupted = async (after = 400): Promise<void> => {
    const { server } = this;
    server.specials = [(held, request) => cut(fileAnswer(held, request, server.extra(held)), after)];
    const fetching = server.fetching({ retry: { ...server.fetching().retry, maxRetries: 0 } });
    const run = downloadTo(this.place, server.row(this.held), server.downloading({ fetching }), false);
    await expect(run).rejects.toMatchObject({ exitCode: 8 });
    server.requests.length = 0;
  };

  private get place() {
    return { path: join(this.folder, 'scan.pdf'), label: 'scan.pdf' };
  }
}

export function receiving(): Receiving {
  const it = new Receiving();
  beforeEach(async () => {
    it.folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
    it.server = new DownloadServer();
    it.held = it.server.add(5, 'scan.pdf', CONTENT);
  });
  afterEach(() => rm(it.folder, { recursive: true }));
  return it;
}

export function base64(content: Buffer, algorithm = 'sha256'): string {
  return createHash(algorithm).update(content).digest('base64');
}
