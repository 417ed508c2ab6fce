import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import MirrorStatus from '../../../src/commands/mirror/status.ts';
import MirrorSync from '../../../src/commands/mirror/sync.ts';
import MirrorVerify from '../../../src/commands/mirror/verify.ts';
import { runCommand, type World } from '../../cli/runcommand.ts';
import { TestClock } from '../../support/clock.ts';
import type { TestDatabase } from '../../support/postgres.ts';
import { type TestService, testService } from '../../support/service.ts';
import { TABLES, wrongRowsBy } from './oracle.ts';
import { readPostgres } from './postgresoracle.ts';
import { disturbed, listening, serverRecords } from './practice.ts';

const clock = { now: Date.now, sleep: async () => {} };

/** A mirror of our server in a schema of its own. The address has a password, which nobody is to see. */
export class Mirror {
  private constructor(
    readonly service: TestService,
    readonly url: string,
    readonly env: Readonly<Record<string, string>>,
  ) {}

  static async use(database: TestDatabase, work: (mirror: Mirror) => Promise<void>): Promise<void> {
    const service = await testService(undefined, { clock: new TestClock(Date.now()) });
    const folder = await mkdtemp(join(tmpdir(), 'molar-mirror-'));
    try {
      const env = await listening(service);
      const url = new URL(database.url);
      url.password = 'geheim';
      await work(new Mirror(service, url.href, { ...env, MOLAR_CONFIG_DIR: folder }));
    } finally {
      await service.close();
      await rm(folder, { recursive: true, force: true });
    }
  }

  async run(id: string, command: unknown, words: readonly string[], world: World = {}) {
    const { env } = this;
    const ran = await runCommand(id, command, words, { clock, env, openNetwork: disturbed(async () => {}), ...world });
    expect(ran.stdout + ran.stderr).not.toContain('geheim');
    return { ...ran, json: ran.stdout.startsWith('{') ? JSON.parse(ran.stdout) : undefined };
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
