import { expect } from 'vitest';
import MirrorStatus from '../../../src/commands/mirror/status.ts';
import MirrorSync from '../../../src/commands/mirror/sync.ts';
import MirrorVerify from '../../../src/commands/mirror/verify.ts';
import type { World } from '../../cli/runcommand.ts';
import type { TestDatabase } from '../../support/postgres.ts';
import type { TestService } from '../../support/service.ts';
import { mirrorFolder, openServer, runOnline } from './mirroring.ts';
import { TABLES, wrongRowsBy } from './oracle.ts';
import { readPostgres } from './postgresoracle.ts';
import { serverRecords } from './practice.ts';

/** A mirror of our server in a schema of its own. The address has a password, which nobody is to see. */
export class Mirror {
  private constructor(
    readonly service: TestService,
    readonly url: string,
    readonly env: Readonly<Record<string, string>>,
  ) {}

  static async use(database: TestDatabase, work: (mirror: Mirror) => Promise<void>): Promise<void> {
    const { folder } = await mirrorFolder();
    const { service, env } = await openServer();
    const url = new URL(database.url);
    url.password = 'geheim';
    await work(new Mirror(service, url.href, { ...env, MOLAR_CONFIG_DIR: folder }));
  }

  async run(id: string, command: unknown, words: readonly string[], world: World = {}) {
    const ran = await runOnline(id, command, words, { env: this.env, ...world });
    expect(ran.stdout + ran.stderr).not.toContain('geheim');
    return ran;
  }

  sync(words: readonly string[] = [], world: World = {}) {
    return this.run('mirror:sync', MirrorSync, ['--to', this.url, '--json', ...words], world);
  }

  verify(words: readonly string[] = []) {
    return this.run('mirror:verify', MirrorVerify, ['--to', this.url, '--json', ...words]);
  }

  status() {
    return this.run('mirror:status', MirrorStatus, ['--to', this.url, '--json']);
  }

  read(query: string) {
    return readPostgres(this.url, query);
  }

  /** What differs from the service, in any resource. */
  async wrong(): Promise<Record<string, string[]>> {
    const records = await serverRecords(this.service);
    const found: Record<string, string[]> = {};
    for (const name of Object.keys(TABLES)) {
      const problems = await wrongRowsBy((query) => this.read(query), name, records.get(name) ?? []);
      if (problems.length > 0) found[name] = problems.slice(0, 5);
    }
    return found;
  }
}
