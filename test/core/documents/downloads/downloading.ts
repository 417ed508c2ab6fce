import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import {
  type DocumentRef,
  type DownloadTarget,
  downloadAll,
} from '../../../../src/core/documents/downloads/downloadall.ts';
import { JOURNAL } from '../../../../src/core/documents/downloads/downloadjournal.ts';
import { DownloadTally } from '../../../../src/core/documents/downloads/downloadoutcome.ts';
import type { Downloading } from '../../../../src/core/documents/links/documentlink.ts';
import { DownloadServer } from './downloadserver.ts';

/** A process that holds journals. */
export const OWNER = {
  pid: process.pid,
  host: 'here',
  clock: { now: () => 0, sleep: async () => undefined },
  lifeOf: () => ({ alive: true }),
};

export async function* each(wanted: readonly DocumentRef[]): AsyncGenerator<DocumentRef> {
  yield* wanted;
}

/** A folder and a server of its own for each test. */
export class DownloadPlace {
  folder = '';
  server = new DownloadServer();

  /** One line for each document: what became of it. */
  async download(
    wanted: readonly DocumentRef[],
    target: Partial<DownloadTarget> = {},
    more: Partial<Downloading> = {},
    atOnce = 3,
  ) {
    const lines: string[] = [];
    const tally = new DownloadTally();
    const whole = { folder: this.folder, overwrite: false, ...target };
    for await (const result of downloadAll(each(wanted), whole, this.server.downloading(more), atOnce)) {
      tally.note(result);
      if ('file' in result) lines.push(`${result.id} ${result.file.status} ${result.file.file}`);
      else if ('failure' in result) lines.push(`${result.id} ${result.failure.exitCode} ${result.failure.message}`);
      else lines.push(`${result.id} absent`);
    }
    return { lines, tally };
  }

  readonly lines = async (...args: Parameters<DownloadPlace['download']>) => (await this.download(...args)).lines;

  readonly files = async () => (await readdir(this.folder)).filter((name) => name !== JOURNAL).sort();

  readonly read = (name: string) => readFile(join(this.folder, name), 'utf8');
}

export function downloadPlace(): DownloadPlace {
  const place = new DownloadPlace();
  beforeEach(async () => {
    place.folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
    place.server = new DownloadServer();
  });
  afterEach(() => rm(place.folder, { recursive: true }));
  return place;
}
