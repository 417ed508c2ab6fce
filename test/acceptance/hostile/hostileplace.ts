import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { workplace } from '../molar.ts';
import { HostileServer } from './hostileserver.ts';

/** A folder for the tests of a file, gone after them. */
export class TestPlace {
  private folder: Awaited<ReturnType<typeof workplace>> | undefined;

  constructor() {
    beforeAll(async () => {
      this.folder = await workplace();
    });
    afterAll(async () => this.folder?.remove());
  }

  get path(): string {
    if (this.folder === undefined) throw new Error('Its folder is made before the first test.');
    return this.folder.path;
  }

  /** A folder in it for one case, by the case's name. */
  async folderOf(name: string): Promise<string> {
    const folder = join(this.path, name.replace(/\W+/g, '-'));
    await mkdir(folder, { recursive: true });
    return folder;
  }
}

/** A hostile server for the tests of a file. */
export function hostileServer(): HostileServer {
  const server = new HostileServer();
  beforeAll(() => server.listen());
  afterAll(() => server.close());
  return server;
}
