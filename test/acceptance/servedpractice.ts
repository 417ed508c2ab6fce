import { afterAll, beforeAll } from 'vitest';
import { TestClock } from '../support/clock.ts';
import { type TestService, testService } from '../support/service.ts';
import { fixtureRecords, type Served, serve, workplace, writeFixture } from './molar.ts';

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

type Records = ReturnType<typeof fixtureRecords>;

/**
 * A folder for the tests of a file, and the address of a server in this process, for those that ask only something of clients:
 * it takes a tenth of the time of one that is started. Real time is its time.
 */
export function practiceHere(patients: number, more: Records = [], options: Parameters<typeof testService>[1] = {}) {
  const practice = {} as { path: string; url: string };
  let service: TestService | undefined;
  let remove = async () => {};
  beforeAll(async () => {
    ({ path: practice.path, remove } = await workplace());
    const clock = Object.assign(new TestClock(), { now: Date.now });
    service = await testService([...fixtureRecords(patients), ...more], { store: 'sqlite', clock, ...options });
    practice.url = await service.app.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(async () => {
    await service?.close();
    await remove();
  });
  return practice;
}
