import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { testPostgres } from '../../support/services.ts';
import { PATIENT } from '../molar.ts';
import { type Practice, practice, type Store } from './audited.ts';

const STORES: readonly Store[] = ['SQLite', ...((await testPostgres()) === undefined ? [] : (['PostgreSQL'] as const))];

const opened: Practice[] = [];
const open = async (store: Store) => {
  const made = await practice(store);
  opened.push(made);
  return made;
};
afterEach(async () => {
  for (const made of opened.splice(0)) await made.end();
});

/** The problems of `molar server audit verify`, as `CODE SOURCE`. */
async function problems(tested: Practice, ...flags: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await tested.server('audit', 'verify', '--json', ...flags);
  if (code === 0) return (JSON.parse(stdout) as { problems: string[] }).problems;
  expect(code).toBe(9);
  const { errors } = (JSON.parse(stderr) as { error: { errors: { code: string; source: string }[] } }).error;
  return errors.map(({ code: what, source }) => `${what} ${source}`);
}

describe('the audit log of one server', () => {
  let tested: Practice;
  beforeAll(async () => {
    tested = await practice('SQLite');
  });
  afterAll(() => tested.end());

  it('has the ids that each answer disclosed, and whose data it was', async () => {
    const { id, token } = await tested.token('--scope', 'model:read', '--scope', 'model:write');
    const list = await tested.call(token, 'GET', '/patients?pageSize=100');
    const one = await tested.call(token, 'GET', `/patients/${PATIENT + 3}`);
    const count = await tested.call(token, 'GET', '/patients/totalcount');
    const same = await tested.call(token, 'PUT', `/patients/${PATIENT + 4}`, {});
    const found = await tested.entries();
    const of = (answer: { requestId: string }) => found.filter(({ requestId }) => requestId === answer.requestId);
    const all = [[PATIENT, PATIENT + 99]];
    const who = `token ${id}`;
    expect(of(list)).toMatchObject([{ operation: 'patients.list', who, ids: all, patients: all }]);
    expect(of(one)).toMatchObject([{ operation: 'patients.get', who, ids: [PATIENT + 3], patients: [PATIENT + 3] }]);
    expect(of(count)).toMatchObject([{ ids: [], patients: [] }]);
    expect(of(same)).toMatchObject([
      { operation: 'patients.update', who, ids: [PATIENT + 4], patients: [PATIENT + 4] },
    ]);
    const { stdout } = await tested.server('audit', 'patient', String(PATIENT + 4), '--json');
    const seen = (JSON.parse(stdout) as { entries: { requestId: string }[] }).entries.map(({ requestId }) => requestId);
    expect(seen).toEqual(expect.arrayContaining([list.requestId, same.requestId]));
    expect(seen).not.toContain(one.requestId);
    expect(await problems(tested)).toEqual([]);
  });

  it('has what a write-only token did, which learns no more than the id', async () => {
    const { token } = await tested.token('--scope', 'model:write');
    for (const body of [{}, { city: 'Newtown' }]) {
      const { status, body: answer } = await tested.call(token, 'PUT', `/patients/${PATIENT}`, body);
      expect({ status, data: answer.data }).toEqual({ status: 200, data: { id: PATIENT } });
    }
    const tag = { tagText: 'New', tagType: 'PAYMENT_TAG', isPredefined: false };
    const key = { 'idempotency-key': 'a-key' };
    const first = await tested.call(token, 'POST', '/transactiontags', tag, key);
    const again = await tested.call(token, 'POST', '/transactiontags', tag, key);
    expect(Object.keys(first.body.data)).toEqual(['id']);
    expect(again.body.data).toEqual(first.body.data);
    const { requestId } = again;
    expect((await tested.entries()).filter((entry) => entry.requestId === requestId)).toHaveLength(1);
  });

  it('has refusals, with what was named and never the secret', async () => {
    const { id, token } = await tested.token('--scope', 'model:read');
    const unknown = await tested.call('no-such-token-of-ours', 'GET', '/patients');
    const unscoped = await tested.call(token, 'DELETE', `/transactiontags/1`);
    const form = { grant_type: 'client_credentials', client_id: 'nobody', client_secret: 'no-secret-of-ours' };
    const { headers } = await fetch(`${tested.served.url}/oauth/client_credential/accesstoken`, {
      method: 'POST',
      body: new URLSearchParams(form),
    });
    const own = [unknown.requestId, unscoped.requestId, headers.get('x-request-id')];
    const entries = async () => (await tested.entries()).filter(({ requestId }) => own.includes(requestId));
    // An answer does not wait for the entry of a refusal.
    await expect.poll(entries).toHaveLength(own.length);
    const refused = await entries();
    expect(refused.map(({ operation }) => operation)).toEqual(['refused', 'refused', 'refused']);
    expect(refused).toMatchObject([
      { status: 401, address: '127.0.0.1' },
      { status: 403, who: `token ${id}` },
      { status: 401, client: 'nobody' },
    ]);
    expect(JSON.stringify(refused)).not.toMatch(/of-ours/);
  });
});

describe.each(STORES)('the audit log on %s', (store) => {
  it('has every answer given before the server was killed, and shows what is done to it then', async () => {
    const tested = await open(store);
    const { token } = await tested.token('--scope', 'model:read');
    const answered: string[] = [];
    const reading = async (from: number) => {
      for (let n = 0; ; n++) {
        const answer = await tested.call(token, 'GET', `/patients/${PATIENT + ((from + n) % 120)}`);
        answered.push(answer.requestId);
        if (answered.length === 60) tested.served.child.kill('SIGKILL');
      }
    };
    await Promise.allSettled([0, 1, 2, 3].map((n) => reading(n * 10)));
    const noted = new Set((await tested.entries()).map(({ requestId }) => requestId));
    expect(answered.length).toBeGreaterThanOrEqual(60);
    expect(answered.filter((requestId) => !noted.has(requestId))).toEqual([]);
    expect(await problems(tested)).toEqual([]);

    await tested.restart();
    expect(await problems(tested)).toEqual([]);
    const shows = async (first: RegExp, ...attack: string[]) => {
      await tested.sql(...attack);
      expect((await problems(tested))[0]).toMatch(first);
      const after = await tested.call(token, 'GET', `/patients/${PATIENT}`);
      expect(after.status).toBe(200);
      expect((await problems(tested))[0]).toMatch(first);
    };
    // An entry behind the head.
    await shows(
      /^audit\.above-head /,
      `INSERT INTO audit_entries (id, at, who, operation, hash)
        SELECT last_id + 1, '2026-01-01T00:00:00.000Z', 'token nobody', 'patients.get', 'x' FROM log_heads WHERE name = 'audit'`,
    );
    // The first ones are missing, with the anchor moved.
    await shows(
      /^audit\.missing entry 1$/,
      'DELETE FROM audit_entries WHERE id <= 3',
      `INSERT INTO settings (name, value) VALUES ('audit_anchor', '3:' || (SELECT hash FROM log_heads WHERE name = 'audit'))
        ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    );
  });
});
