import { setTimeout as sleep } from 'node:timers/promises';
import { plainUpload } from '../acceptance/torture/contents.ts';
import { FIRST_PATIENT, LOCATION, OPERATORY, PATIENT_VALUES, PROVIDER } from '../acceptance/torture/practice.ts';
import type { Random } from '../acceptance/torture/random.ts';
import type { Asked, Connections } from '../acceptance/torture/request.ts';

/** How long answers took, in milliseconds, and with which status they came; `none` where no whole one came. */
export class Measured {
  readonly times = new Map<string, number[]>();
  readonly statuses = new Map<string, number>();

  note(kind: string, status: number | undefined, ms: number): void {
    const name = String(status ?? 'none');
    this.statuses.set(name, (this.statuses.get(name) ?? 0) + 1);
    if (status === undefined || status >= 300) return;
    const times = this.times.get(kind) ?? [];
    times.push(ms);
    this.times.set(kind, times);
  }

  /** Answers that are neither success nor 429. */
  get wrong(): string[] {
    return [...this.statuses].filter(([status]) => !/^2|^429$/.test(status)).map(([status, n]) => `${status} × ${n}`);
  }

  get text(): string {
    const line = (kind: string, times: readonly number[]) => {
      const sorted = times.toSorted((a, b) => a - b);
      const at = (part: number) =>
        (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0).toFixed(0);
      return `${kind.padEnd(16)} ${String(sorted.length).padStart(6)} answers, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`;
    };
    const all = [...this.times.values()].flat();
    const statuses = [...this.statuses].map(([status, count]) => `${status} × ${count}`).join(', ');
    return [
      line('all', all),
      ...[...this.times].map(([kind, times]) => line(kind, times)),
      `statuses ${statuses}`,
    ].join('\n');
  }
}

type Make = (random: Random, patients: number, word: () => string) => Asked;

const anyPatient = (random: Random, patients: number) => FIRST_PATIENT + random.below(patients);

/** What the clients ask for, by name, and how often of a hundred times. */
const KINDS: readonly (readonly [string, number, Make])[] = [
  ['get patient', 40, (random, patients) => ({ method: 'GET', path: `/patients/${anyPatient(random, patients)}` })],
  [
    'list 100',
    15,
    (random, patients) => ({ method: 'GET', path: `/patients?pageSize=100&lastId=${anyPatient(random, patients)}` }),
  ],
  [
    'filtered list',
    10,
    (random) => ({ method: 'GET', path: `/patients?filter=firstName==First${random.below(1000)}` }),
  ],
  ['count', 4, () => ({ method: 'GET', path: `/patients/totalcount?filter=preferredLocation.id==${LOCATION}` })],
  [
    'openings',
    2,
    () => ({ method: 'GET', path: `/appointments?filter=operatory.id==${OPERATORY}&pageSize=50&lastId=0` }),
  ],
  [
    'create tag',
    6,
    (_, __, word) => ({
      method: 'POST',
      path: '/transactiontags',
      body: { tagText: word(), isPredefined: false, tagType: 'PAYMENT_TAG' },
      key: word(),
    }),
  ],
  [
    'create patient',
    4,
    (_, __, word) => ({
      method: 'POST',
      path: '/patients',
      body: { ...PATIENT_VALUES, firstName: word(), lastName: 'Load' },
      key: word(),
    }),
  ],
  [
    'update patient',
    8,
    (random, patients, word) => ({
      method: 'PUT',
      path: `/patients/${anyPatient(random, patients)}`,
      body: { city: word() },
    }),
  ],
  [
    'appointment',
    5,
    (random, patients, word) => ({
      method: 'POST',
      path: '/appointments',
      body: {
        start: '2031-05-05T15:00:00.000Z',
        patient: { id: anyPatient(random, patients) },
        provider: { id: PROVIDER },
        operatory: { id: OPERATORY },
      },
      key: word(),
    }),
  ],
  [
    'upload',
    4,
    (random, _, word) => {
      const { content: __, ...body } = plainUpload(random);
      return { method: 'POST', path: '/documents', body: { ...body, name: word() }, key: word() };
    },
  ],
  [
    'series',
    2,
    (_, __, word) => ({
      method: 'POST',
      path: '/events',
      body: {
        ...{ title: word(), start: '2030-01-07T09:00:00.000Z', location: { id: LOCATION }, recurrenceType: 'WEEKLY' },
        ...{ recurrenceDays: ['MONDAY'], recurrenceFrequency: 1, recurrenceEnd: '2030-03-25' },
      },
      key: word(),
    }),
  ],
];

/** One client, which thinks for a moment after each answer. */
export async function mixedClient(
  name: string,
  connections: Connections,
  random: Random,
  {
    measured,
    patients,
    stop,
  }: { readonly measured: () => Measured; readonly patients: number; readonly stop: AbortSignal },
): Promise<void> {
  let words = 0;
  const word = () => `${name}-${++words}`;
  while (!stop.aborted) {
    await sleep(random.between(100, 700), undefined, { signal: stop }).catch(() => undefined);
    if (stop.aborted) return;
    let dice = random.below(100);
    const [kind, , make] = KINDS.find(([, share]) => {
      dice -= share;
      return dice < 0;
    }) as (typeof KINDS)[number];
    const began = performance.now();
    const answer = await connections.send(make(random, patients, word));
    measured().note(kind, answer?.status, performance.now() - began);
    if (answer?.status === 429) await sleep(1000, undefined, { signal: stop }).catch(() => undefined);
  }
}
