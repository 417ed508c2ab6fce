import { createHash, createPublicKey, verify } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { appendCheckpoint } from '../../../src/server/audit/checkpoints.ts';
import { exportEntries } from '../../../src/server/audit/export.ts';
import { openAuditKey, readPublicKeys } from '../../../src/server/audit/keys.ts';
import { signNow } from '../../../src/server/audit/signing.ts';
import {
  hashAfter,
  lastNumber,
  minute,
  problemsOf,
  rawEntries,
  rehash,
  WAITING,
  writeEntry,
} from '../../support/evidence.ts';
import { bareRecords } from '../../support/practice.ts';
import { putBack, rawRows, setAside, tamper } from '../../support/rawsql.ts';
import { type TestService, testService } from '../../support/service.ts';

let folder: string;
let service: TestService;
/** Number of the last entry that the first, second and third checkpoint with entries is about. */
let ends: readonly number[];
const file = () => join(folder, 'checkpoints.ndjson');
const lines = async () => (await readFile(file(), 'utf8')).trim().split('\n');
const shipped = async () => {
  await vi.waitFor(async () => expect(await service.keeper.metrics()[0]?.read()).toBe(0), WAITING);
  expect(JSON.parse((await lines()).at(-1) ?? '')).toMatchObject({ number: await lastNumber(service) });
};

interface RawCheckpoint {
  readonly number: number;
  readonly at: string;
  readonly id: number;
  readonly hash: string;
  readonly entries: number;
  readonly reason: string;
  readonly previous: string;
  readonly key: string;
  readonly signature: string;
}
const rawCheckpoints = () => rawRows<RawCheckpoint>(service, 'SELECT * FROM audit_checkpoints ORDER BY number');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-evidence-'));
  service = await testService(bareRecords(), {
    audit: { auditKey: join(folder, 'keys', 'audit.key'), auditCheckpoints: file() },
  });
  const found: number[] = [];
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < 3; n++) await writeEntry(service);
    await minute(service);
    found.push((await rawCheckpoints()).at(-1)?.id ?? 0);
  }
  ends = found;
  await shipped();
  await setAside(service);
  await writeFile(join(folder, 'kept'), await readFile(file()));
});
beforeEach(async () => {
  await putBack(service);
  await writeFile(file(), await readFile(join(folder, 'kept')));
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

describe('a checkpoint', () => {
  it('is signed with the key over all that it says, and the line before it', async () => {
    const key = createPublicKey(await readFile(join(folder, 'keys', 'audit.key'), 'utf8'));
    expect(key.asymmetricKeyType).toBe('ed25519');
    let previous = '';
    for (const [at, line] of (await lines()).entries()) {
      const { signature, ...rest } = JSON.parse(line) as RawCheckpoint;
      expect(verify(null, Buffer.from(JSON.stringify(rest)), key, Buffer.from(signature, 'base64'))).toBe(true);
      expect(rest).toMatchObject({ number: at + 1, previous });
      previous = createHash('sha256').update(line).digest('hex');
    }
    expect(previous).not.toBe('');
  });

  it('has the number and the hash of the last entry at its time, in the database and in the file', async () => {
    const entries = await rawEntries(service);
    const last = (await rawCheckpoints()).at(-1);
    expect(last).toMatchObject({ id: entries.at(-1)?.id, hash: entries.at(-1)?.hash, entries: entries.length });
    expect(last?.reason).toBe('minute');
    expect(JSON.parse((await lines()).at(-1) ?? '')).toMatchObject({ id: last?.id, signature: last?.signature });
  });

  it('is not written for a minute without entries', async () => {
    const before = await rawCheckpoints();
    service.clock.advance(600_000);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(await rawCheckpoints()).toEqual(before);
  });

  it('lies in files of their owner alone, and its key neither in the database nor among them', async () => {
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    const secret = await readFile(join(folder, 'keys', 'audit.key'), 'utf8');
    expect((await stat(join(folder, 'keys', 'audit.key'))).mode & 0o777).toBe(0o600);
    const settings = JSON.stringify(await rawRows(service, 'SELECT * FROM settings'));
    for (const line of secret.split('\n').filter((line) => line !== '' && !line.startsWith('-'))) {
      expect(settings + (await lines()).join()).not.toContain(line);
    }
  });
});

describe('a command that verifies', () => {
  it('signs what is new with the key of the place, else the running server does, which ships it', async () => {
    const sign = (auditKey: string) =>
      signNow(service.service.store, { data: folder, auditKey }, 'verify', service.clock.now());
    const signed = () => rawRows<RawCheckpoint>(service, "SELECT * FROM audit_checkpoints WHERE reason = 'verify'");
    const secret = join(folder, 'keys', 'audit.key');
    expect(await sign(secret)).toBe(false);
    await writeEntry(service);
    expect(await sign(secret)).toBe(true);
    expect(await signed()).toMatchObject([{ id: (await rawEntries(service)).at(-1)?.id }]);
    const half = join(folder, 'half.pem');
    await writeFile(half, createPublicKey(await readFile(secret, 'utf8')).export({ type: 'spki', format: 'pem' }));
    for (const [at, without] of [half, join(folder, 'nothing')].entries()) {
      await writeEntry(service);
      expect(await sign(without)).toBe(false);
      await vi.waitFor(async () => expect(await signed()).toHaveLength(at + 2), WAITING);
    }
    await shipped();
    expect(await problemsOf(service, { shipped: file() })).toEqual([]);
    expect(await rawRows(service, "SELECT * FROM settings WHERE name LIKE '%wanted'")).toEqual([]);
  });
});

describe('an untouched log', () => {
  it('has no problems, with the key, its public half, and the file', async () => {
    const secret = join(folder, 'keys', 'audit.key');
    const half = join(folder, 'half.pem');
    const pem = createPublicKey(await readFile(secret, 'utf8')).export({ type: 'spki', format: 'pem' });
    await writeFile(half, pem);
    expect(await problemsOf(service)).toEqual([]);
    expect(await problemsOf(service, { shipped: file() })).toEqual([]);
    expect(await problemsOf(service, { shipped: file(), keys: await readPublicKeys(half) })).toEqual([]);
  });
});

/** What is done to the database, and the problems that are found; `end`: the entries that checkpoints are about. */
const ATTACKS: readonly (readonly [
  name: string,
  attack: (end: readonly number[]) => Promise<void>,
  found: (end: readonly number[]) => string[],
])[] = [
  [
    'the first entries deleted, and the anchor moved',
    async () => {
      const [, , third] = await rawEntries(service);
      await tamper(
        service,
        `DELETE FROM audit_entries WHERE id < ${third?.id}`,
        `INSERT INTO settings (name, value) VALUES ('audit_anchor', '2:${(await rawEntries(service))[0]?.hash}')`,
      );
    },
    () => ['audit.missing entry 1'],
  ],
  [
    'every entry deleted, and the head set back',
    () =>
      tamper(service, 'DELETE FROM audit_entries', "UPDATE log_heads SET last_id = 0, hash = '' WHERE name = 'audit'"),
    () => ['audit.missing entry 1'],
  ],
  [
    'an entry altered',
    ([first]) => tamper(service, `UPDATE audit_entries SET who = 'token nobody' WHERE id = ${first}`),
    ([first]) => [`audit.altered entry ${first}`],
  ],
  [
    'a column altered that came later',
    ([first]) => tamper(service, `UPDATE audit_entries SET patients = '5' WHERE id = ${first}`),
    ([first]) => [`audit.altered entry ${first}`],
  ],
  [
    'an entry deleted in the middle',
    ([first]) => tamper(service, `DELETE FROM audit_entries WHERE id = ${first}`),
    ([first]) => [`audit.missing entry ${first}`],
  ],
  [
    'an entry inserted, those behind it moved up',
    async ([first = 0]) => {
      const top = (await rawEntries(service)).length;
      for (let id = top; id >= first; id--)
        await tamper(service, `UPDATE audit_entries SET id = ${id + 1} WHERE id = ${id}`);
      await tamper(
        service,
        `INSERT INTO audit_entries (id, at, who, operation, hash) VALUES (${first}, '2026-03-02T12:00:00.000Z', 'token nobody', 'patients.get', 'x')`,
        "UPDATE log_heads SET last_id = last_id + 1 WHERE name = 'audit'",
      );
    },
    ([first]) => [`audit.inserted entry ${first}`],
  ],
  [
    'an entry inserted before the first',
    () => tamper(service, `INSERT INTO audit_entries (id, at, who, operation, hash) VALUES (0, 'then', 'x', 'x', 'x')`),
    () => ['audit.inserted entry 0'],
  ],
  [
    'the last entries deleted, and the head set back',
    async ([, second]) => {
      const end = (await rawEntries(service)).find(({ id }) => id === second);
      await tamper(
        service,
        `DELETE FROM audit_entries WHERE id > ${second}`,
        `UPDATE log_heads SET last_id = ${second}, hash = '${end?.hash}' WHERE name = 'audit'`,
      );
    },
    ([, second = 0]) => [`audit.missing entry ${second + 1}`],
  ],
  [
    'the last entries deleted, the head as it was',
    ([, second]) => tamper(service, `DELETE FROM audit_entries WHERE id > ${second}`),
    ([, second = 0]) => [`audit.missing entry ${second + 1}`],
  ],
  [
    'the head altered',
    () => tamper(service, `UPDATE log_heads SET hash = '${'0'.repeat(64)}' WHERE name = 'audit'`),
    () => ['audit.altered head'],
  ],
  [
    'an entry altered, and every hash behind it made anew',
    async ([, second = 0]) => {
      await tamper(service, `UPDATE audit_entries SET who = 'token nobody' WHERE id = ${second + 1}`);
      await rehash(service, second + 1);
    },
    ([, second = 0]) => [`audit.altered entry ${second + 1}`],
  ],
  [
    'an entry deleted, those behind it moved down, and every hash made anew',
    async ([, second = 0]) => {
      const top = (await rawEntries(service)).length;
      await tamper(service, `DELETE FROM audit_entries WHERE id = ${second + 1}`);
      for (let id = second + 2; id <= top; id++)
        await tamper(service, `UPDATE audit_entries SET id = ${id - 1} WHERE id = ${id}`);
      await rehash(service, second + 1);
    },
    ([, , third]) => [`audit.missing entry ${third}`],
  ],
  [
    'a checkpoint altered',
    () => tamper(service, 'UPDATE audit_checkpoints SET entries = entries + 1 WHERE number = 3'),
    () => ['audit.checkpoint checkpoint 3'],
  ],
  [
    'a checkpoint deleted',
    () => tamper(service, 'DELETE FROM audit_checkpoints WHERE number = 2'),
    () => ['audit.checkpoint checkpoint 2'],
  ],
  [
    'the first checkpoints deleted',
    () => tamper(service, 'DELETE FROM audit_checkpoints WHERE number <= 2'),
    () => ['audit.checkpoint checkpoint 1'],
  ],
  ['every checkpoint deleted', () => tamper(service, 'DELETE FROM audit_checkpoints'), () => ['audit.checkpoint head']],
  [
    'every checkpoint deleted, the first entries, too, and the anchor moved',
    async () => {
      await tamper(
        service,
        `INSERT INTO settings (name, value) VALUES ('audit_anchor', '1:${(await rawEntries(service))[0]?.hash}')`,
        'DELETE FROM audit_entries WHERE id = 1',
        'DELETE FROM audit_checkpoints',
      );
    },
    () => ['audit.checkpoint head'],
  ],
  [
    'checkpoints of another key in the place of all',
    async () => {
      const key = await openAuditKey(join(folder, 'foreign.key'));
      await tamper(service, 'DELETE FROM audit_checkpoints');
      await service.service.store.write((tx) =>
        appendCheckpoint(tx, { key, now: service.clock.now(), reason: 'start' }),
      );
    },
    () => ['audit.checkpoint checkpoint 1'],
  ],
  [
    'a restore that another key signed in the place of all',
    async () => {
      const key = await openAuditKey(join(folder, 'foreign.key'));
      await tamper(service, 'DELETE FROM audit_checkpoints');
      await service.service.store.write((tx) =>
        appendCheckpoint(tx, { key, now: service.clock.now(), reason: 'restore' }),
      );
    },
    () => ['audit.checkpoint checkpoint 1'],
  ],
];

describe('is found', () => {
  it.each(ATTACKS)('%s', async (_name, attack, found) => {
    await attack(ends);
    expect(await problemsOf(service)).toEqual(found(ends));
  });
});

describe('a row behind the end of the log', () => {
  const forge = async () => {
    const end = (await rawEntries(service)).at(-1) as { id: number; hash: string };
    const row = { ...(await rawEntries(service)).at(-1), id: end.id + 1, who: 'token nobody' } as never;
    const columns = Object.entries({ ...(row as object), hash: hashAfter(end.hash, row) });
    const values = columns.map(([, value]) => (value === null ? 'NULL' : `'${String(value)}'`));
    await tamper(
      service,
      `INSERT INTO audit_entries (${columns.map(([name]) => name).join(', ')}) VALUES (${values.join(', ')})`,
    );
    return end.id + 1;
  };

  it('is found, and not exported', async () => {
    const forged = await forge();
    expect(await problemsOf(service)).toEqual([`audit.above-head entry ${forged}`]);
    for await (const { who } of exportEntries(service.service.store.read, {})) expect(who).not.toBe('token nobody');
  });

  it('neither keeps entries from being written nor becomes one, and is still found', async () => {
    const forged = await forge();
    await tamper(
      service,
      `INSERT INTO audit_entries (id, at, who, operation, hash) VALUES (9007199254740991, 'then', 'token nobody', 'x', 'x')`,
    );
    await writeEntry(service);
    expect((await service.call('GET', '/patients', { query: { lastId: 0 } })).status).toBe(200);
    await service.service.reads.flush();
    const entries = await rawEntries(service);
    expect(entries.find(({ id }) => id === forged)?.operation).toBe('transactiontags.create');
    expect(await problemsOf(service)).toEqual([
      `audit.above-head entry ${forged}`,
      'audit.above-head entry 9007199254740991',
    ]);
    const exported: number[] = [];
    for await (const { id, who } of exportEntries(service.service.store.read, {})) {
      exported.push(id);
      expect(who).not.toBe('token nobody');
    }
    expect(exported).toEqual(entries.map(({ id }) => id).filter((id) => id < 9007199254740991));
  });
});

describe('under a running server', () => {
  it('checkpoints that vanish leave a gap, however often others follow', async () => {
    await writeEntry(service);
    await minute(service);
    await tamper(service, `DELETE FROM audit_checkpoints WHERE number = ${await lastNumber(service)}`);
    const gap = (await lastNumber(service)) + 1;
    await writeEntry(service);
    await minute(service);
    expect(await problemsOf(service)).toEqual([`audit.checkpoint checkpoint ${gap}`]);
  });
});

describe('against shipped checkpoints', () => {
  it('a database that is older than they are is found', async () => {
    await writeEntry(service);
    await minute(service);
    await shipped();
    const last = await lastNumber(service);
    await putBack(service);
    expect(await problemsOf(service)).toEqual([]);
    expect(await problemsOf(service, { shipped: file() })).toEqual([`audit.rolled-back checkpoint ${last}`]);
  });

  it('a database that went on from an older state is found', async () => {
    await writeEntry(service);
    await minute(service);
    await shipped();
    const last = await lastNumber(service);
    await putBack(service);
    await writeEntry(service);
    const key = service.keeper.signing('start').key;
    await service.service.store.write((tx) => appendCheckpoint(tx, { key, now: service.clock.now(), reason: 'start' }));
    expect(await problemsOf(service)).toEqual([]);
    expect(await problemsOf(service, { shipped: file() })).toContain(`audit.rolled-back checkpoint ${last}`);
  });

  it('a file that was shortened is found, whichever end', async () => {
    const all = await lines();
    await writeFile(file(), `${all.slice(0, -1).join('\n')}\n`);
    expect(await problemsOf(service, { shipped: file() })).toEqual([`audit.shortened checkpoint ${all.length}`]);
    await writeFile(file(), `${all.slice(1).join('\n')}\n`);
    expect(await problemsOf(service, { shipped: file() })).toEqual(['audit.shortened checkpoint 1']);
    await writeFile(file(), '');
    expect(await problemsOf(service, { shipped: file() })).toEqual(['audit.shortened checkpoint 1']);
  });

  it('a line of the file that was changed is found', async () => {
    const all = await lines();
    await writeFile(file(), `${all.with(1, (all[1] ?? '').replace(/"entries":\d+/, '"entries":9')).join('\n')}\n`);
    expect(await problemsOf(service, { shipped: file() })).toEqual(['audit.checkpoint checkpoint 2']);
    await writeFile(file(), `${all.with(1, 'nonsense').join('\n')}\n`);
    expect(await problemsOf(service, { shipped: file() })).toEqual([
      'audit.checkpoint checkpoint 2',
      'audit.shortened checkpoint 2',
    ]);
  });

  it('a line that a crash cut short and that stands whole behind it is no damage', async () => {
    const all = await lines();
    await writeFile(file(), `${[...all.slice(0, 2), all[2]?.slice(0, 40), ...all.slice(2)].join('\n')}\n`);
    expect(await problemsOf(service, { shipped: file() })).toEqual([]);
  });
});
