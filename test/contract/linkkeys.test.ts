import { createHash } from 'node:crypto';
import sql from 'sql-template-tag';
import { describe, expect, it } from 'vitest';
import { listKeys, rotateKeys } from '../../src/server/files/linkkeys.ts';
import { rowOf } from '../support/calls.ts';
import { PDF } from '../support/files.ts';
import { ORGANIZATION, TOKENS } from '../support/ids.ts';
import { forgedLink } from '../support/links.ts';
import { bareRecords } from '../support/practice.ts';
import { sharedService, testService } from '../support/service.ts';

const service = sharedService(bareRecords);
const body = { name: 'scan', mimeType: 'PDF', file: { content: PDF } };

async function link(token: string = TOKENS.full): Promise<string> {
  const { storage } = rowOf(await service.call('POST', '/documents', { body, token }));
  return (storage as { original: string }).original;
}

const opens = async (url: string) => (await service.call('GET', url, { token: null, organization: null })).status;

/** A link with another end, signed with the key itself. */
async function forged(url: string, expires: number): Promise<string> {
  const id = new URL(url).searchParams.get('key');
  const row = await service.service.store.read.get<{ secret: string }>(
    sql`SELECT secret FROM link_keys WHERE id = ${id}`,
  );
  return forgedLink(url, row?.secret ?? '', { expires });
}

const keyOf = (url: string) => new URL(url).searchParams.get('key');

/** A link that is signed by the newest key, once the server has seen that. */
async function currentLink(): Promise<string> {
  const [newest] = await listKeys(service.service.store.read);
  await expect.poll(async () => keyOf(await link()), { interval: 200 }).toBe(newest?.id);
  return link();
}

const rotate = (atOnce: boolean) => service.service.store.write((tx) => rotateKeys(tx, service.clock.now(), atOnce));

describe('a download link', () => {
  it('opens nothing when it claims to live longer than links do, though the true key has signed it', async () => {
    const url = await currentLink();
    const now = service.clock.now() / 1000;
    expect(await opens(await forged(url, now + 900))).toBe(200);
    expect(await opens(await forged(url, now + 960))).toBe(200);
    for (const expires of [now + 961, now + 3600, now + 365 * 86_400, 999_999_999_999]) {
      expect(await opens(await forged(url, expires))).toBe(403);
    }
  });

  it('tells the audit log who it was given to, and its reader nothing', async () => {
    const url = new URL(await currentLink());
    expect(await opens(url.href)).toBe(200);
    await service.service.reads.flush();
    await service.service.store.sequenceEntries();
    const opened = await service.service.store.read.get<{ who: string }>(
      sql`SELECT who FROM audit_entries WHERE via = 'link' ORDER BY id DESC LIMIT 1`,
    );
    const tokenId = createHash('sha256').update(TOKENS.full).digest('hex').slice(0, 12);
    expect(opened).toEqual({ who: `token ${tokenId}` });
    const plain = Buffer.from(url.searchParams.get('holder') ?? '', 'base64url').toString('latin1');
    expect(url.href + plain).not.toContain(tokenId);
    const another = new URL(await link(TOKENS.both));
    expect(another.searchParams.get('holder')).not.toBe(url.searchParams.get('holder'));
  });
});

describe('the keys of links', () => {
  it('are replaced for new links at once; earlier links are good to their own end', async () => {
    const before = await currentLink();
    const [old, ...others] = await listKeys(service.service.store.read);
    const stillGood = others.filter(({ endsAt }) => endsAt === null || endsAt > service.clock.text());
    const id = await rotate(false);
    const [signing, ...ending] = await listKeys(service.service.store.read);
    expect(signing).toEqual({ id, createdAt: service.clock.text(), endsAt: null });
    expect(ending).toContainEqual({ ...old, endsAt: expect.any(String) });
    expect(ending).toHaveLength(1 + stillGood.length);
    const after = await currentLink();
    expect(keyOf(after)).toBe(id);
    service.clock.advance(15 * 60_000);
    expect([await opens(before), await opens(after)]).toEqual([200, 200]);
    service.clock.advance(1000);
    expect([await opens(before), await opens(after)]).toEqual([403, 403]);
    // A key that has ended opens nothing, whatever it signs.
    service.clock.advance(60_000);
    expect(await opens(await forged(before, service.clock.now() / 1000 + 60))).toBe(403);
  });

  it('are withdrawn at once when that is asked for, those that were on their way out, too', async () => {
    const first = await currentLink();
    await rotate(false);
    const second = await currentLink();
    expect(keyOf(second)).not.toBe(keyOf(first));
    expect([await opens(first), await opens(second)]).toEqual([200, 200]);
    await rotate(true);
    expect([await opens(first), await opens(second)]).toEqual([403, 403]);
    expect((await listKeys(service.service.store.read)).filter(({ endsAt }) => endsAt === null)).toHaveLength(1);
  });

  it('are in no list, and in no answer', async () => {
    const rows = await service.service.store.read.all<{ secret: string }>(sql`SELECT secret FROM link_keys`);
    const told = JSON.stringify(await listKeys(service.service.store.read)) + (await link());
    expect(rows.length).toBeGreaterThan(0);
    for (const { secret } of rows) expect(told).not.toContain(secret);
  });
});

it('a link of one service opens nothing in another with the same document', async () => {
  const other = await testService(bareRecords());
  const { storage } = rowOf(await other.call('POST', '/documents', { body }));
  const theirs = (storage as { original: string }).original;
  expect((await other.call('GET', theirs)).status).toBe(200);
  expect(new URL(await link()).pathname.startsWith(`/files/${ORGANIZATION}/`)).toBe(true);
  expect(await opens(theirs)).toBe(403);
  await other.close();
});
