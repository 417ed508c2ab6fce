import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { testPostgres } from '../../support/services.ts';
import { molarIn } from '../inprocess.ts';
import { type Served, serve, TOKEN, workplace } from '../molar.ts';

const ORGANIZATIONS = ['one', 'two', 'three', 'four'].map((name) => `org-${name}`);

/** Clients of each organization, and what each asks for: every other request is a write. */
const CLIENTS = 2;
const REQUESTS = 40;

let place: Awaited<ReturnType<typeof workplace>>;
let database: TestDatabase | undefined;

beforeEach(async () => {
  place = await workplace();
  const lines = [
    ...ORGANIZATIONS.flatMap((id) => [
      { type: 'Organization', organizationId: id, id, name: id, timezone: 'UTC', createdDate: '2020-01-01' },
      { type: 'PatientV1', organizationId: id, id: 1, firstName: 'Ann', lastName: id },
    ]),
    { type: 'AccessToken', token: TOKEN, organizations: ORGANIZATIONS, scopes: ['model:read', 'model:write'] },
  ];
  await writeFile(join(place.path, 'practice.ndjson'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
});

afterEach(async () => {
  await database?.drop();
  await place.remove();
});

/** Requests by the id that they were sent with: whether they were answered, and for whom. */
type Sent = Map<string, { readonly organization: string; readonly operation: string; answered: boolean }>;

/** One client: a write and a read in turn, each once, to whichever server is still there. */
async function ask(urls: readonly string[], organization: string, sent: Sent, answered: () => void): Promise<void> {
  for (let at = 0; at < REQUESTS; at++) {
    const id = randomUUID();
    const isWrite = at % 2 === 0;
    const request = { organization, operation: isWrite ? 'transactiontags.create' : 'patients.get', answered: false };
    sent.set(id, request);
    const response = await fetch(`${urls[at % urls.length]}/api/v1/${isWrite ? 'transactiontags' : 'patients/1'}`, {
      method: isWrite ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'organization-id': organization,
        'x-request-id': id,
        ...(isWrite && { 'content-type': 'application/json' }),
      },
      body: isWrite ? JSON.stringify({ tagText: id.slice(0, 20), isPredefined: false, tagType: 'PAYMENT_TAG' }) : null,
    }).catch(() => undefined);
    if (response === undefined) continue;
    request.answered = true;
    expect(response.status).toBe(isWrite ? 201 : 200);
    answered();
  }
}

interface Entry {
  readonly id: number;
  readonly organization: string | null;
  readonly requestId: string | null;
  readonly operation: string;
}

test('two servers on one database, killed while they write, keep one whole log with one entry for each answer', {
  timeout: 300_000,
}, async (context) => {
  if ((await testPostgres()) === undefined) return context.skip('needs PostgreSQL');
  database = await testDatabase();
  const store = ['--database', database.url, '--files', 'files'];
  await molarIn(place.path, ['server', 'import', 'practice.ndjson', ...store]);
  const servers: Served[] = [];
  const sent: Sent = new Map();
  try {
    for (const _ of [1, 2]) {
      servers.push(await serve(place.path, [...store, '--rate-limit', '0', '--log-level', 'silent']));
    }
    const urls = servers.map(({ url }) => url);
    const all = ORGANIZATIONS.length * CLIENTS * REQUESTS;
    let count = 0;
    const answered = () => {
      count++;
      // The first is killed in the middle; the second with its last answers, whose entries may have no place yet.
      if (count === Math.floor(all / 3)) void servers[0]?.stop('SIGKILL');
    };
    await Promise.all(
      ORGANIZATIONS.flatMap((organization) =>
        Array.from({ length: CLIENTS }, () => ask(urls, organization, sent, answered)),
      ),
    );
    expect(count).toBeGreaterThan(all / 2);
    expect(count).toBeLessThan(all);
  } finally {
    await Promise.all(servers.map((server) => server.stop('SIGKILL')));
  }

  const lines = (await molarIn(place.path, ['server', 'audit', 'export', ...store])).stdout.trim().split('\n');
  const entries = lines.map((line) => JSON.parse(line) as Entry);
  expect(entries.map(({ id }) => id)).toEqual(entries.map((_, at) => at + 1));
  const byRequest = new Map<string | null, Entry[]>();
  for (const entry of entries) byRequest.set(entry.requestId, [...(byRequest.get(entry.requestId) ?? []), entry]);
  for (const [id, { organization, operation, answered }] of sent) {
    const found = byRequest.get(id) ?? [];
    expect(found.length, `${operation} ${answered ? 'answered' : 'not answered'}`).toBeLessThanOrEqual(1);
    if (answered) expect(found).toMatchObject([{ organization, operation }]);
  }
  const verified = await molarIn(place.path, ['server', 'audit', 'verify', '--json', ...store]);
  expect(verified, verified.stderr).toMatchObject({ code: 0 });
  expect(JSON.parse(verified.stdout)).toMatchObject({ entries: entries.length, first: 1, last: entries.length });
});
