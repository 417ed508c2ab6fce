import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { appendCheckpoint } from '../../../src/server/audit/checkpoints.ts';
import { readPublicKeys } from '../../../src/server/audit/keys.ts';
import { signNow } from '../../../src/server/audit/signing.ts';
import { lastNumber, minute, problemsOf, rawEntries, WAITING, writeEntry } from '../../support/evidence.ts';
import { putBack, rawRows, tamper } from '../../support/rawsql.ts';
import { type RawCheckpoint, signedLog } from '../../support/signedlog.ts';

const log = signedLog();
const { rawCheckpoints, shipped, lines, file } = log;

describe('a checkpoint', () => {
  it('is signed with the key over all that it says, and the line before it', async () => {
    const key = createPublicKey(await readFile(join(log.folder, 'keys', 'audit.key'), 'utf8'));
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
    const entries = await rawEntries(log.service);
    const last = (await rawCheckpoints()).at(-1);
    expect(last).toMatchObject({ id: entries.at(-1)?.id, hash: entries.at(-1)?.hash, entries: entries.length });
    expect(last?.reason).toBe('minute');
    expect(JSON.parse((await lines()).at(-1) ?? '')).toMatchObject({ id: last?.id, signature: last?.signature });
  });

  it('is not written for a minute without entries', async () => {
    await writeEntry(log.service);
    await minute(log.service);
    const before = await rawCheckpoints();
    log.service.clock.advance(600_000);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(await rawCheckpoints()).toEqual(before);
  });

  it('lies in files of their owner alone, and its key neither in the database nor among them', async () => {
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    const secret = await readFile(join(log.folder, 'keys', 'audit.key'), 'utf8');
    expect((await stat(join(log.folder, 'keys', 'audit.key'))).mode & 0o777).toBe(0o600);
    const settings = JSON.stringify(await rawRows(log.service, 'SELECT * FROM settings'));
    for (const line of secret.split('\n').filter((line) => line !== '' && !line.startsWith('-'))) {
      expect(settings + (await lines()).join()).not.toContain(line);
    }
  });
});

// Where a log was put back, its server knows of a later checkpoint, and leaves a gap for it.
describe('a log that was never put back', () => {
  const log = signedLog();

  it('is signed by a command that verifies with the key of the place, else by the running server, which ships it', async () => {
    const sign = (auditKey: string) =>
      signNow(log.service.service.store, { data: log.folder, auditKey }, 'verify', log.service.clock.now());
    const signed = () => rawRows<RawCheckpoint>(log.service, "SELECT * FROM audit_checkpoints WHERE reason = 'verify'");
    const secret = join(log.folder, 'keys', 'audit.key');
    expect(await sign(secret)).toBe(false);
    await writeEntry(log.service);
    expect(await sign(secret)).toBe(true);
    expect(await signed()).toMatchObject([{ id: (await rawEntries(log.service)).at(-1)?.id }]);
    const half = join(log.folder, 'half.pem');
    await writeFile(half, createPublicKey(await readFile(secret, 'utf8')).export({ type: 'spki', format: 'pem' }));
    for (const [at, without] of [half, join(log.folder, 'nothing')].entries()) {
      await writeEntry(log.service);
      expect(await sign(without)).toBe(false);
      await vi.waitFor(async () => expect(await signed()).toHaveLength(at + 2), WAITING);
    }
    await log.shipped();
    expect(await problemsOf(log.service, { shipped: log.file() })).toEqual([]);
    expect(await rawRows(log.service, "SELECT * FROM settings WHERE name LIKE '%wanted'")).toEqual([]);
  });
});

describe('an untouched log', () => {
  it('has no problems, with the key, its public half, and the file', async () => {
    const secret = join(log.folder, 'keys', 'audit.key');
    const half = join(log.folder, 'half.pem');
    const pem = createPublicKey(await readFile(secret, 'utf8')).export({ type: 'spki', format: 'pem' });
    await writeFile(half, pem);
    expect(await problemsOf(log.service)).toEqual([]);
    expect(await problemsOf(log.service, { shipped: file() })).toEqual([]);
    expect(await problemsOf(log.service, { shipped: file(), keys: await readPublicKeys(half) })).toEqual([]);
  });
});

describe('under a running server', () => {
  it('checkpoints that vanish leave a gap, however often others follow', async () => {
    await writeEntry(log.service);
    await minute(log.service);
    await tamper(log.service, `DELETE FROM audit_checkpoints WHERE number = ${await lastNumber(log.service)}`);
    const gap = (await lastNumber(log.service)) + 1;
    await writeEntry(log.service);
    await minute(log.service);
    expect(await problemsOf(log.service)).toEqual([`audit.checkpoint checkpoint ${gap}`]);
  });
});

describe('against shipped checkpoints', () => {
  it('a database that is older than they are is found', async () => {
    await writeEntry(log.service);
    await minute(log.service);
    await shipped();
    const last = await lastNumber(log.service);
    await putBack(log.service);
    expect(await problemsOf(log.service)).toEqual([]);
    expect(await problemsOf(log.service, { shipped: file() })).toEqual([`audit.rolled-back checkpoint ${last}`]);
  });

  it('a database that went on from an older state is found', async () => {
    await writeEntry(log.service);
    await minute(log.service);
    await shipped();
    const last = await lastNumber(log.service);
    await putBack(log.service);
    await writeEntry(log.service);
    const key = log.service.keeper.signing('start').key;
    await log.service.service.store.write((tx) =>
      appendCheckpoint(tx, { key, now: log.service.clock.now(), reason: 'start' }),
    );
    expect(await problemsOf(log.service)).toEqual([]);
    expect(await problemsOf(log.service, { shipped: file() })).toContain(`audit.rolled-back checkpoint ${last}`);
  });

  it('a file that was shortened is found, whichever end', async () => {
    const all = await lines();
    await writeFile(file(), `${all.slice(0, -1).join('\n')}\n`);
    expect(await problemsOf(log.service, { shipped: file() })).toEqual([`audit.shortened checkpoint ${all.length}`]);
    await writeFile(file(), `${all.slice(1).join('\n')}\n`);
    expect(await problemsOf(log.service, { shipped: file() })).toEqual(['audit.shortened checkpoint 1']);
    await writeFile(file(), '');
    expect(await problemsOf(log.service, { shipped: file() })).toEqual(['audit.shortened checkpoint 1']);
  });

  it('a file to which no server ships must have all of them', async () => {
    await tamper(log.service, "DELETE FROM settings WHERE name LIKE 'audit_shipped%'");
    const all = await lines();
    expect(await problemsOf(log.service, { shipped: file() })).toEqual([]);
    await writeFile(file(), `${all.slice(0, -1).join('\n')}\n`);
    expect(await problemsOf(log.service, { shipped: file() })).toEqual([`audit.shortened checkpoint ${all.length}`]);
  });

  it('a line of the file that was changed is found', async () => {
    const all = await lines();
    await writeFile(file(), `${all.with(1, (all[1] ?? '').replace(/"entries":\d+/, '"entries":9')).join('\n')}\n`);
    expect(await problemsOf(log.service, { shipped: file() })).toEqual(['audit.checkpoint checkpoint 2']);
    await writeFile(file(), `${all.with(1, 'nonsense').join('\n')}\n`);
    expect(await problemsOf(log.service, { shipped: file() })).toEqual([
      'audit.checkpoint checkpoint 2',
      'audit.shortened checkpoint 2',
    ]);
  });

  it('a line that a crash cut short and that stands whole behind it is no damage', async () => {
    const all = await lines();
    await writeFile(file(), `${[...all.slice(0, 2), all[2]?.slice(0, 40), ...all.slice(2)].join('\n')}\n`);
    expect(await problemsOf(log.service, { shipped: file() })).toEqual([]);
  });
});
