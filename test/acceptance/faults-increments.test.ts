import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestClock } from '../support/clock.ts';
import { type FaultProxy, openFaultProxy } from '../support/faults/faultproxy.ts';
import { MANY, manyRecords } from '../support/faults/manyrecords.ts';
import { runFaulty } from '../support/faults/runfaulty.ts';
import { seeded, seeds } from '../support/faults/seeded.ts';
import { type TestService, testService } from '../support/service.ts';

const ROUNDS = 4;
const MINUTE = 60_000;
const [PATIENTS] = MANY;

let service: TestService;
let proxy: FaultProxy;
let folder: string;

beforeAll(async () => {
  service = await testService(manyRecords(), { clock: new TestClock() });
  proxy = await openFaultProxy(await service.app.listen({ port: 0, host: '127.0.0.1' }));
  folder = await mkdtemp(join(tmpdir(), 'molar-faults-'));
});

afterAll(async () => {
  await proxy.close();
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

/** Gives a patient another name, a second later than anything before. */
async function change(id: number | undefined, name: string): Promise<void> {
  service.clock.advance(1000);
  const changed = await service.call('PUT', `/patients/${id}`, { body: { firstName: name } });
  expect(changed.status).toBe(200);
}

/** One nightly job with its bookmark, run again until it is done, and what its consumer has after each. */
class Job {
  readonly known = new Map<number, string>();
  readonly changed = new Set<number>();
  private readonly file: string;
  private readonly random: () => number;
  private readonly seed: number;
  private runs = 0;
  /** Files that have been read. */
  private readonly taken = new Set<string>();

  constructor(seed: number) {
    this.seed = seed;
    this.random = seeded(seed);
    this.file = join(folder, `${seed}.ndjson`);
  }

  anyPatient(): number {
    const { ids } = PATIENTS as { ids: readonly number[] };
    const id = ids[Math.floor(this.random() * ids.length)] as number;
    this.changed.add(id);
    return id;
  }

  /** Brings one run to its end; while it lasts, patients change. Resolves with the ids that it brought. */
  async night(quiet: boolean): Promise<number[]> {
    const told: string[] = [];
    for (let again = 0; again < 12; again++) {
      const changes: Promise<void>[] = [];
      const [at, breaksAt] = [1 + Math.floor(this.random() * 5), 2 + Math.floor(this.random() * 8)];
      const name = `run ${this.seed}.${this.runs}`;
      const ran = await runFaulty(this.seed * 1000 + this.runs++, this.line(again > 0), {
        proxy,
        now: service.clock.now,
        share: 0.3,
        env: { MOLAR_CONFIG_DIR: join(folder, `config-${this.seed}`) },
        ...(again < 3 && this.random() < 0.6 && { breaksAt }),
        onRequest: (number) => {
          if (!quiet && number === at) changes.push(change(this.anyPatient(), name));
        },
      });
      await Promise.all(changes);
      told.push(ran.stderr, ran.plan.describe());
      if (ran.exitCode === 0) return this.take();
      expect([7, 8], told.join('\n')).toContain(ran.exitCode);
    }
    throw new Error(`It did not come to its end.\n${told.join('\n')}`);
  }

  private line(again: boolean): string[] {
    const wanted = ['patients', 'list', '--fields', 'id,firstName', '--since-last', 'nightly', '--format', 'ndjson'];
    const resume = again && this.random() < 0.7 ? ['--resume'] : [];
    const parallel = this.random() < 0.5 ? '1' : '4';
    return [...wanted, '--out', this.file, '--page-size', '20', '--parallel', parallel, ...resume];
  }

  /** Reads the file that the run wrote: the whole one, then one of changes, or none. */
  private async take(): Promise<number[]> {
    const isOwn = (name: string) => name.startsWith(`${this.seed}.`) && name.endsWith('.ndjson');
    const fresh = (await readdir(folder)).filter((name) => isOwn(name) && !this.taken.has(name)).toSorted();
    for (const name of fresh) this.taken.add(name);
    const texts = await Promise.all(fresh.map((name) => readFile(join(folder, name), 'utf8')));
    const lines = texts.flatMap((text) => text.split('\n')).filter((text) => text !== '');
    const rows = lines.map((text) => JSON.parse(text) as { id: number; firstName: string });
    for (const { id, firstName } of rows) this.known.set(id, firstName);
    return rows.map(({ id }) => id);
  }
}

async function patientNames(): Promise<[number, string][]> {
  const { stdout } = await runFaulty(0, ['patients', 'list', '--fields', 'id,firstName', '--format', 'json'], {
    proxy,
    share: 0,
  });
  return (JSON.parse(stdout.toString()) as { id: number; firstName: string }[]).map(({ id, firstName }) => [
    id,
    firstName,
  ]);
}

describe('what a job with a bookmark brings, night after night,', () => {
  it.each(seeds(4))('makes up the whole, whatever goes wrong (seed %i)', async (seed) => {
    const job = new Job(seed);
    for (let round = 0; round < ROUNDS; round++) {
      const last = round === ROUNDS - 1;
      const brought = await job.night(last);
      if (round === 0) expect(brought).toEqual(PATIENTS?.ids);
      else expect(brought.filter((id) => !job.changed.has(id))).toEqual([]);
      service.clock.advance(30 * MINUTE);
      if (round < ROUNDS - 2) await change(job.anyPatient(), `between ${seed}.${round}`);
      service.clock.advance(30 * MINUTE);
    }
    expect([...job.known].toSorted(([a], [b]) => a - b)).toEqual(await patientNames());
  });
});
