import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { appendCheckpoint } from '../../../src/server/audit/checkpoints.ts';
import { auditPages, exportEntries } from '../../../src/server/audit/export.ts';
import { openAuditKey } from '../../../src/server/audit/keys.ts';
import { hashAfter, problemsOf, rawEntries, rehash, writeEntry } from '../../support/evidence.ts';
import { tamper } from '../../support/rawsql.ts';
import { signedLog } from '../../support/signedlog.ts';

const log = signedLog();

/** What is done to the database, and the problems that are found; `end`: the entries that checkpoints are about. */
const ATTACKS: readonly (readonly [
  name: string,
  attack: (end: readonly number[]) => Promise<void>,
  found: (end: readonly number[]) => string[],
])[] = [
  [
    'the first entries deleted, and the anchor moved',
    async () => {
      const [, , third] = await rawEntries(log.service);
      await tamper(
        log.service,
        `DELETE FROM audit_entries WHERE id < ${third?.id}`,
        `INSERT INTO settings (name, value) VALUES ('audit_anchor', '2:${(await rawEntries(log.service))[0]?.hash}')`,
      );
    },
    () => ['audit.missing entry 1'],
  ],
  [
    'every entry deleted, and the head set back',
    () =>
      tamper(
        log.service,
        'DELETE FROM audit_entries',
        "UPDATE log_heads SET last_id = 0, hash = '' WHERE name = 'audit'",
      ),
    () => ['audit.missing entry 1'],
  ],
  [
    'an entry altered',
    ([first]) => tamper(log.service, `UPDATE audit_entries SET who = 'token nobody' WHERE id = ${first}`),
    ([first]) => [`audit.altered entry ${first}`],
  ],
  [
    'a column altered that came later',
    ([first]) => tamper(log.service, `UPDATE audit_entries SET patients = '5' WHERE id = ${first}`),
    ([first]) => [`audit.altered entry ${first}`],
  ],
  [
    'an entry deleted in the middle',
    ([first]) => tamper(log.service, `DELETE FROM audit_entries WHERE id = ${first}`),
    ([first]) => [`audit.missing entry ${first}`],
  ],
  [
    'an entry inserted, those behind it moved up',
    async ([first = 0]) => {
      const top = (await rawEntries(log.service)).length;
      for (let id = top; id >= first; id--)
        await tamper(log.service, `UPDATE audit_entries SET id = ${id + 1} WHERE id = ${id}`);
      await tamper(
        log.service,
        `INSERT INTO audit_entries (id, at, who, operation, hash) VALUES (${first}, '2026-03-02T12:00:00.000Z', 'token nobody', 'patients.get', 'x')`,
        "UPDATE log_heads SET last_id = last_id + 1 WHERE name = 'audit'",
      );
    },
    ([first]) => [`audit.inserted entry ${first}`],
  ],
  [
    'an entry inserted before the first',
    () =>
      tamper(log.service, `INSERT INTO audit_entries (id, at, who, operation, hash) VALUES (0, 'then', 'x', 'x', 'x')`),
    () => ['audit.inserted entry 0'],
  ],
  [
    'the last entries deleted, and the head set back',
    async ([, second]) => {
      const end = (await rawEntries(log.service)).find(({ id }) => id === second);
      await tamper(
        log.service,
        `DELETE FROM audit_entries WHERE id > ${second}`,
        `UPDATE log_heads SET last_id = ${second}, hash = '${end?.hash}' WHERE name = 'audit'`,
      );
    },
    ([, second = 0]) => [`audit.missing entry ${second + 1}`],
  ],
  [
    'the last entries deleted, the head as it was',
    ([, second]) => tamper(log.service, `DELETE FROM audit_entries WHERE id > ${second}`),
    ([, second = 0]) => [`audit.missing entry ${second + 1}`],
  ],
  [
    'the head altered',
    () => tamper(log.service, `UPDATE log_heads SET hash = '${'0'.repeat(64)}' WHERE name = 'audit'`),
    () => ['audit.altered head'],
  ],
  [
    'the head deleted',
    () => tamper(log.service, "DELETE FROM log_heads WHERE name = 'audit'"),
    () => ['audit.missing entry 1', 'audit.missing head'],
  ],
  [
    'an entry altered, and every hash behind it made anew',
    async ([, second = 0]) => {
      await tamper(log.service, `UPDATE audit_entries SET who = 'token nobody' WHERE id = ${second + 1}`);
      await rehash(log.service, second + 1);
    },
    ([, second = 0]) => [`audit.altered entry ${second + 1}`],
  ],
  [
    'an entry deleted, those behind it moved down, and every hash made anew',
    async ([, second = 0]) => {
      const top = (await rawEntries(log.service)).length;
      await tamper(log.service, `DELETE FROM audit_entries WHERE id = ${second + 1}`);
      for (let id = second + 2; id <= top; id++)
        await tamper(log.service, `UPDATE audit_entries SET id = ${id - 1} WHERE id = ${id}`);
      await rehash(log.service, second + 1);
    },
    ([, , third]) => [`audit.missing entry ${third}`],
  ],
  [
    'a checkpoint altered',
    () => tamper(log.service, 'UPDATE audit_checkpoints SET entries = entries + 1 WHERE number = 3'),
    () => ['audit.checkpoint checkpoint 3'],
  ],
  [
    'a checkpoint deleted',
    () => tamper(log.service, 'DELETE FROM audit_checkpoints WHERE number = 2'),
    () => ['audit.checkpoint checkpoint 2'],
  ],
  [
    'the first checkpoints deleted',
    () => tamper(log.service, 'DELETE FROM audit_checkpoints WHERE number <= 2'),
    () => ['audit.checkpoint checkpoint 1'],
  ],
  [
    'every checkpoint deleted',
    () => tamper(log.service, 'DELETE FROM audit_checkpoints'),
    () => ['audit.checkpoint head'],
  ],
  [
    'every checkpoint deleted, the first entries, too, and the anchor moved',
    async () => {
      await tamper(
        log.service,
        `INSERT INTO settings (name, value) VALUES ('audit_anchor', '1:${(await rawEntries(log.service))[0]?.hash}')`,
        'DELETE FROM audit_entries WHERE id = 1',
        'DELETE FROM audit_checkpoints',
      );
    },
    () => ['audit.checkpoint head'],
  ],
  [
    'checkpoints of another key in the place of all',
    async () => {
      const key = await openAuditKey(join(log.folder, 'foreign.key'));
      await tamper(log.service, 'DELETE FROM audit_checkpoints');
      await log.service.service.store.write((tx) =>
        appendCheckpoint(tx, { key, now: log.service.clock.now(), reason: 'start' }),
      );
    },
    () => ['audit.checkpoint checkpoint 1'],
  ],
  [
    'a restore that another key signed in the place of all',
    async () => {
      const key = await openAuditKey(join(log.folder, 'foreign.key'));
      await tamper(log.service, 'DELETE FROM audit_checkpoints');
      await log.service.service.store.write((tx) =>
        appendCheckpoint(tx, { key, now: log.service.clock.now(), reason: 'restore' }),
      );
    },
    () => ['audit.checkpoint checkpoint 1'],
  ],
];

describe('is found', () => {
  it.each(ATTACKS)('%s', async (_name, attack, found) => {
    await attack(log.ends);
    expect(await problemsOf(log.service)).toEqual(found(log.ends));
  });
});

describe('a row behind the end of the log', () => {
  const exported = () => {
    const { read } = log.service.service.store;
    return exportEntries(read, auditPages(read));
  };

  const forge = async () => {
    const end = (await rawEntries(log.service)).at(-1) as { id: number; hash: string };
    const row = { ...(await rawEntries(log.service)).at(-1), id: end.id + 1, who: 'token nobody' } as never;
    const columns = Object.entries({ ...(row as object), hash: hashAfter(end.hash, row) });
    const values = columns.map(([, value]) => (value === null ? 'NULL' : `'${String(value)}'`));
    await tamper(
      log.service,
      `INSERT INTO audit_entries (${columns.map(([name]) => name).join(', ')}) VALUES (${values.join(', ')})`,
    );
    return end.id + 1;
  };

  it('is found, and not exported', async () => {
    const forged = await forge();
    expect(await problemsOf(log.service)).toEqual([`audit.above-head entry ${forged}`]);
    for await (const { who } of exported()) expect(who).not.toBe('token nobody');
  });

  it('neither keeps entries from being written nor becomes one, and is still found', async () => {
    const forged = await forge();
    await tamper(
      log.service,
      `INSERT INTO audit_entries (id, at, who, operation, hash) VALUES (9007199254740991, 'then', 'token nobody', 'x', 'x')`,
    );
    await writeEntry(log.service);
    expect((await log.service.call('GET', '/patients', { query: { lastId: 0 } })).status).toBe(200);
    await log.service.service.reads.flush();
    const entries = await rawEntries(log.service);
    expect(entries.find(({ id }) => id === forged)?.operation).toBe('transactiontags.create');
    expect(await problemsOf(log.service)).toEqual([
      `audit.above-head entry ${forged}`,
      'audit.above-head entry 9007199254740991',
    ]);
    const ids: number[] = [];
    for await (const { id, who } of exported()) {
      ids.push(id);
      expect(who).not.toBe('token nobody');
    }
    expect(ids).toEqual(entries.map(({ id }) => id).filter((id) => id < 9007199254740991));
  });
});
