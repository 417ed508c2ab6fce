import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { type TestService, testService } from '../../support/service.ts';
import { syncTo } from './mirroring.ts';
import { listening, serverRecords } from './practice.ts';

/** A practice that no test changes, and a mirror of it: what tests damage are copies of that file. */
export interface StillPractice {
  readonly service: TestService;
  /** What connects the command line to it. */
  readonly env: Readonly<Record<string, string>>;
  /** Its records, as `serverRecords` reads them. */
  readonly records: Awaited<ReturnType<typeof serverRecords>>;
  copyTo(file: string): Promise<void>;
}

/** Such a practice for all tests of a file, made before them and removed after; it is there only while tests run. */
export function stillPractice(): () => StillPractice {
  let made: StillPractice | undefined;
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'molar-mirror-'));
    const file = join(folder, 'practice.db');
    const service = await testService();
    const env = await listening(service);
    const { exitCode, stderr } = await syncTo(file, [], { env });
    expect(exitCode, stderr).toBe(0);
    made = { service, env, records: await serverRecords(service), copyTo: (to) => copyFile(file, to) };
  });
  afterAll(async () => {
    await made?.service.close();
    await rm(folder, { recursive: true, force: true });
  });
  return () => {
    if (made === undefined) throw new Error('The practice is there only while tests run.');
    return made;
  };
}
