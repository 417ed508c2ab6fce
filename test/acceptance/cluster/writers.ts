import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { molarIn } from '../inprocess.ts';
import { connection, ORGANIZATION, TOKEN } from '../molar.ts';
import type { Cluster } from './servers.ts';

/** What a server answered, in the order in which one writer was answered. */
export interface Acknowledged {
  /** Records made: id, and the text that tells them apart. */
  readonly made: { readonly id: number; readonly tagText: string }[];
  /** Values that a patient's city was set to. */
  readonly cities: Map<number, string[]>;
}

/** Milliseconds between two rounds of a writer: how long it writes is a matter of the kills, not of its speed. */
const PAUSE = 20;

/**
 * One client: makes tags and changes a patient of its own, one request after another, until as many rounds of both as
 * `isEnough` wants. What is not answered is sent again with the same key, to whichever server is there, until it is.
 */
export async function write(
  cluster: Pick<Cluster, 'url'>,
  place: { readonly writer: number; readonly patient: number; isEnough(rounds: number): boolean },
): Promise<Acknowledged> {
  const { writer, patient } = place;
  const acknowledged: Acknowledged = { made: [], cities: new Map([[patient, []]]) };
  for (let round = 0; !place.isEnough(round); round++) {
    const tagText = `w${writer} r${round}`;
    const made = await request(cluster, writer, 'POST', '/transactiontags', {
      tagText,
      isPredefined: false,
      tagType: 'PAYMENT_TAG',
    });
    acknowledged.made.push({ id: (made as { id: number }).id, tagText });
    const city = `City ${round}`;
    await request(cluster, writer + round, 'PUT', `/patients/${patient}`, { city });
    acknowledged.cities.get(patient)?.push(city);
    await sleep(PAUSE);
  }
  return acknowledged;
}

/** Expects of the service at `url` just the tags that were acknowledged, and of each patient the last city. */
export async function expectRecords(url: string, folder: string, acknowledged: readonly Acknowledged[]): Promise<void> {
  const { stdout } = await molarIn(folder, ['transactiontags', 'list', '--json'], connection(url));
  const pairs = (rows: readonly { id: number; tagText: string }[]) =>
    rows.map(({ id, tagText }) => `${id} ${tagText}`).toSorted();
  expect(pairs(JSON.parse(stdout))).toEqual(pairs(acknowledged.flatMap(({ made }) => made)));
  const headers = { authorization: `Bearer ${TOKEN}`, 'organization-id': ORGANIZATION };
  for (const [patient, values] of acknowledged.flatMap(({ cities }) => [...cities])) {
    const response = await fetch(`${url}/api/v1/patients/${patient}`, { headers });
    expect(((await response.json()) as { data: { city: string } }).data.city).toBe(values.at(-1));
  }
}

async function request(
  cluster: Pick<Cluster, 'url'>,
  preferred: number,
  method: 'POST' | 'PUT',
  path: string,
  body: object,
): Promise<unknown> {
  const key = randomUUID();
  for (let attempt = 0; ; attempt++) {
    const url = await cluster.url(preferred + attempt);
    const answer = await send(`${url}/api/v1${path}`, method, key, body);
    if (answer !== undefined && answer.status < 300) return answer.data;
    if (answer !== undefined && ![409, 503].includes(answer.status)) {
      throw new Error(`${method} ${path} was answered ${answer.status}: ${JSON.stringify(answer.errors)}`);
    }
    await sleep(50);
  }
}

/** Undefined when no whole answer came. */
async function send(url: string, method: string, key: string, body: object) {
  try {
    const response = await fetch(url, {
      method,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'organization-id': ORGANIZATION,
        'content-type': 'application/json',
        ...(method === 'POST' && { 'idempotency-key': key }),
      },
      body: JSON.stringify(body),
    });
    const { data, errors } = (await response.json()) as { data: unknown; errors: unknown };
    return { status: response.status, data, errors };
  } catch {
    return undefined;
  }
}
