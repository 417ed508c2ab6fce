import { afterAll, beforeAll } from 'vitest';
import { type Served, serve, workplace, writeFixture } from './molar.ts';

/** A folder for the tests of a file, and a server of so many patients whose data is in `d` there, from the first to the last of them. */
export function servedPractice(patients: number, ...flags: readonly string[]) {
  const practice = {} as { path: string; served: Served };
  let remove = async () => {};
  beforeAll(async () => {
    ({ path: practice.path, remove } = await workplace());
    await writeFixture(practice.path, patients);
    practice.served = await serve(practice.path, ['--data', 'd', '--import', 'fixture.ndjson', ...flags]);
  });
  afterAll(async () => {
    await practice.served?.stop();
    await remove();
  });
  return practice;
}
