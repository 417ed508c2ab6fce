import sql from 'sql-template-tag';
import { describe, expect, it } from 'vitest';
import { refusalOf, rowOf, type WireRecord } from '../../support/calls.ts';
import { PNG } from '../../support/files.ts';
import { ELSEWHERE, ORGANIZATION, OTHER_ORGANIZATION, TOKENS } from '../../support/ids.ts';
import { bareRecords } from '../../support/practice.ts';
import { sharedService, type TestService, testService } from '../../support/service.ts';

const service = sharedService(bareRecords);
const THERE = { token: TOKENS.other, organization: OTHER_ORGANIZATION } as const;

/** The links of a picture that has a thumbnail and a crop, made here or in the other practice. */
async function linksOf(at: Pick<typeof service, 'call'>, options = {}): Promise<Record<string, string>> {
  const file = { content: PNG, fromX: 0, fromY: 0, width: 1, height: 1, ratio: 1 };
  const made = await at.call('POST', '/documents', { ...options, body: { name: 'scan', mimeType: 'PNG', file } });
  const { storage } = rowOf(made) as { storage: WireRecord };
  return Object.fromEntries(Object.entries(storage).map(([variant, url]) => [variant, String(url)]));
}

const open = async (url: string) => service.call('GET', url, { token: null, organization: null });
const opens = async (url: string) => (await open(url)).status;

/** The parts that a link is bound to, in the order of its text. */
function partsOf(url: string): { origin: string; parts: string[]; build(parts: readonly string[]): string } {
  const { origin, pathname, searchParams } = new URL(url);
  const [, , organization = '', , document = '', variant = ''] = pathname.split('/');
  const asked = ['expires', 'signature', 'key', 'holder'].map((name) => searchParams.get(name));
  const parts = [organization, document, variant, ...asked];
  return {
    origin,
    parts: parts.map(String),
    build: ([org, id, kind, expires, signature, key, holder]) =>
      `${origin}/files/${org}/documents/${id}/${kind}?expires=${expires}&key=${key}&holder=${holder}&signature=${signature}`,
  };
}

/** A character that a URL leaves alone, and not the one given. */
function other(character: string): string {
  const inOtherCase = character === character.toLowerCase() ? character.toUpperCase() : character.toLowerCase();
  if (inOtherCase !== character) return inOtherCase;
  return character === '1' ? '2' : '1';
}

describe('a signed link', () => {
  it('is refused when any one character is another, is missing or stands twice', async () => {
    const { original = '' } = await linksOf(service);
    const { parts, build } = partsOf(original);
    expect(build(parts)).toBe(new URL(original).href);
    expect(await opens(original)).toBe(200);
    const open: string[] = [];
    for (const [which, part] of parts.entries()) {
      for (let at = 0; at < part.length; at++) {
        const [before, here, after] = [part.slice(0, at), part.charAt(at), part.slice(at + 1)];
        const others = [other(here), here === '3' ? '4' : '3', '', here + here].map((text) => before + text + after);
        for (const text of others.filter((candidate) => candidate !== part)) {
          const called = await service.call('GET', build(parts.with(which, text)), { token: TOKENS.both });
          if (called.status !== 403) open.push(build(parts.with(which, text)));
          expect(called.text).not.toContain('PNG');
        }
      }
    }
    expect(open).toEqual([]);
  });

  it('opens its own file alone: a part of another link is refused', async () => {
    const links = [await linksOf(service), await linksOf(service), await linksOf(service, THERE)];
    service.clock.advance(1000);
    links.push(await linksOf(service));
    const all = links.flatMap((each) => Object.values(each)).map(partsOf);
    expect(all.length).toBeGreaterThan(8);
    for (const one of all) {
      for (const [which, part] of one.parts.entries()) {
        const others = new Set(all.map(({ parts }) => parts[which] ?? '').filter((other) => other !== part));
        for (const other of others) {
          const mixed = one.build(one.parts.with(which, other));
          expect(refusalOf(await open(mixed)), mixed).toEqual({ status: 403, errors: ['file.signature signature'] });
        }
      }
    }
  });

  it.each([
    ['an empty signature', (parts: readonly string[]) => parts.with(4, '')],
    ['padding', (parts: readonly string[]) => parts.with(4, `${parts[4]}=`)],
    ['the letters of plain base64', (parts: readonly string[]) => parts.with(4, `+/${parts[4]?.slice(2)}`)],
    ['a NUL', (parts: readonly string[]) => parts.with(4, `${parts[4]}%00`)],
    ['a second end', (parts: readonly string[]) => parts.with(3, `${parts[3]}&expires=99999999999`)],
    ['no end', (parts: readonly string[]) => parts.with(3, 'Infinity')],
    ['a negative end', (parts: readonly string[]) => parts.with(3, '-1')],
    ['a line break in the variant', (parts: readonly string[]) => parts.with(2, `${parts[2]}%0A`)],
    ['another way up', (parts: readonly string[]) => parts.with(2, '..%2F..%2Fmolar.db')],
    ['a folder above', (parts: readonly string[]) => parts.with(0, '%2E%2E')],
  ])('is refused with %s', async (_name, change) => {
    const { original = '' } = await linksOf(service);
    const { parts, build } = partsOf(original);
    expect([403, 404]).toContain(await opens(build(change(parts))));
  });

  it('ends by the clock of the service, whatever the caller says of the time', async () => {
    const { original = '' } = await linksOf(service);
    service.clock.advance(15 * 60_000);
    expect(await opens(original)).toBe(200);
    service.clock.advance(1000);
    const headers = { date: 'Mon, 02 Mar 2026 12:00:00 GMT', 'if-modified-since': 'Mon, 02 Mar 2026 12:00:00 GMT' };
    expect(refusalOf(await service.call('GET', original, { headers }))).toEqual({
      status: 403,
      errors: ['file.signature expires'],
    });
  });

  it('is of one service: its key is made at random and is in no answer', async () => {
    const [a, b] = [await testService(bareRecords()), await testService(bareRecords())];
    const secretOf = async ({ service }: TestService) =>
      (await service.store.read.get<{ secret: string }>(sql`SELECT secret FROM link_keys`))?.secret ?? '';
    const [secret, another] = [await secretOf(a), await secretOf(b)];
    expect(Buffer.from(secret, 'base64')).toHaveLength(32);
    expect(secret).not.toBe(another);
    const { original = '' } = await linksOf(a);
    expect((await a.call('GET', original)).status).toBe(200);
    await linksOf(b);
    expect((await b.call('GET', original)).status).toBe(403);
    await Promise.all([a.close(), b.close()]);
  });

  it('is told to the organization of the document alone', async () => {
    const { original = '' } = await linksOf(service, THERE);
    const [, , organization, , id] = new URL(original).pathname.split('/');
    expect(organization).toBe(OTHER_ORGANIZATION);
    expect(ORGANIZATION).not.toBe(organization);
    const document = {
      name: 'x',
      mimeType: 'PDF',
      file: { content: 'JVBERi0=' },
      ownerPatient: { id: ELSEWHERE.patient },
    };
    expect((await service.call('POST', '/documents', { body: document })).status).toBe(400);
    const listed = await service.call('GET', '/documents', { query: { responseFields: 'storage' } });
    expect(listed.text).not.toContain(`/files/${OTHER_ORGANIZATION}/`);
    expect(Number(id)).toBeGreaterThan(0);
  });
});
