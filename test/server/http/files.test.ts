import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type CallOptions, refusalOf, rowOf, type WireRecord } from '../../support/calls.ts';
import { PATIENTS, TOKENS } from '../../support/ids.ts';
import { bareRecords } from '../../support/practice.ts';
import { sharedService, testService } from '../../support/service.ts';
import { linksOf, posted } from '../resources/documentsof.ts';

const service = sharedService(bareRecords);
const BYTES = Buffer.from('%PDF-1.4 0123456789 abcdefghij');
const DIGEST = `sha-256=:${createHash('sha256').update(BYTES).digest('base64')}:`;
const PUBLIC = { token: null, organization: null } as const;

const made = (body: WireRecord = {}) => posted(service, { file: { content: BYTES.toString('base64') }, ...body });
const fetchLink = (url: string | URL, options: CallOptions = {}) =>
  service.call('GET', String(url), { ...PUBLIC, ...options });

async function linkOf(body: WireRecord = {}): Promise<URL> {
  return new URL(linksOf(await made(body)).original ?? '');
}

describe('a download link (D38)', () => {
  it('is absolute, under /files/, and needs no token', async () => {
    const url = await linkOf({ name: 'first.pdf' });
    expect(url.pathname).toMatch(/^\/files\//);
    const called = await fetchLink(url);
    expect(called.status).toBe(200);
    expect(called.bytes).toEqual(BYTES);
    expect(called.headers).toMatchObject({
      'content-type': 'application/pdf',
      'content-length': String(BYTES.length),
      'accept-ranges': 'bytes',
      'content-disposition': 'attachment; filename=first.pdf',
      'x-content-type-options': 'nosniff',
      'repr-digest': DIGEST,
    });
    expect(called.headers['cache-control']).toContain('no-store');
  });

  it('stands under the origin that the caller used', async () => {
    const { id } = await made();
    const call = (headers: Readonly<Record<string, string>>) => service.call('GET', `/documents/${id}`, { headers });
    const original = async (headers: Readonly<Record<string, string>>) =>
      linksOf(rowOf(await call(headers))).original ?? '';
    expect(await original({ host: '127.0.0.1:4010' })).toMatch(/^http:\/\/127\.0\.0\.1:4010\/files\//);
    expect(
      await original({ host: 'a.example.com', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'b.example.com' }),
    ).toMatch(/^http:\/\/a\.example\.com\//);
  });

  it('stands under the origin that a proxy tells of, when one is trusted', async () => {
    const behind = await testService(bareRecords(), { behindProxy: true });
    const { id } = await posted(behind);
    const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'molar.example.com' };
    const document = rowOf(await behind.call('GET', `/documents/${id}`, { headers }));
    expect(linksOf(document).original).toMatch(/^https:\/\/molar\.example\.com\/files\//);
    await behind.close();
  });

  it('works for 15 minutes and no longer, and every GET makes a fresh one', async () => {
    const document = await made();
    const url = linksOf(document).original ?? '';
    service.clock.advance(15 * 60_000);
    expect((await fetchLink(url)).status).toBe(200);
    service.clock.advance(1000);
    const expired = await fetchLink(url);
    expect(refusalOf(expired)).toEqual({ status: 403, errors: ['file.signature expires'] });
    const fresh = rowOf(await service.call('GET', `/documents/${document.id}`));
    expect((await fetchLink(linksOf(fresh).original ?? '')).status).toBe(200);
  });

  it('is refused when any part of it is altered or missing', async () => {
    const url = await linkOf();
    const other = await linkOf();
    const altered = (change: (url: URL) => void) => {
      const copy = new URL(url);
      change(copy);
      return copy;
    };
    const changes: ((url: URL) => void)[] = [
      (copy) => copy.searchParams.set('expires', String(Number(copy.searchParams.get('expires')) + 1)),
      (copy) => copy.searchParams.set('expires', '99999999999'),
      (copy) => copy.searchParams.set('signature', 'x'.repeat(43)),
      (copy) => copy.searchParams.set('signature', `${copy.searchParams.get('signature')}x`),
      (copy) => copy.searchParams.set('signature', other.searchParams.get('signature') ?? ''),
      (copy) => copy.searchParams.delete('signature'),
      (copy) => copy.searchParams.delete('expires'),
      (copy) => copy.searchParams.append('expires', '99999999999'),
      (copy) => (copy.pathname = copy.pathname.replace('/original', '/thumbnail')),
      (copy) => (copy.pathname = copy.pathname.replace('/original', '/nosuch')),
      (copy) => (copy.pathname = other.pathname),
      (copy) => (copy.pathname = copy.pathname.replace(/\/documents\/\d+/, '/documents/0')),
      (copy) => (copy.pathname = copy.pathname.replace(/\/files\/[^/]+/, '/files/other_practice-2')),
    ];
    for (const change of changes) {
      const called = await fetchLink(altered(change));
      expect(called.status, String(altered(change))).toBe(403);
      expect(called.body.errors[0]?.code).toBe('file.signature');
    }
    // A good token does not help.
    expect((await fetchLink(altered(changes[0] as (url: URL) => void), { token: TOKENS.full })).status).toBe(403);
  });

  it('ends with its document, and shows a new name after a PUT', async () => {
    const document = await made({ name: 'before' });
    const url = linksOf(document).original ?? '';
    await service.call('PUT', `/documents/${document.id}`, { body: { name: 'after' } });
    expect((await fetchLink(url)).headers['content-disposition']).toBe('attachment; filename=after.pdf');
    await service.call('DELETE', `/documents/${document.id}`);
    expect((await fetchLink(url)).status).toBe(404);
  });

  it('works after the server is started again', async () => {
    const first = await testService(bareRecords());
    const { storage } = await posted(first);
    const second = await testService(bareRecords());
    expect((await second.call('GET', String((storage as WireRecord).original), PUBLIC)).status).toBe(403);
    await Promise.all([first.close(), second.close()]);
  });

  it.each([
    ['PDF', 'application/pdf'],
    ['DOC', 'application/msword'],
    ['XLSX', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
    ['MSG', 'application/vnd.ms-outlook'],
  ])('of %s has its media type', async (mimeType, type) => {
    expect((await fetchLink(await linkOf({ mimeType }))).headers['content-type']).toBe(type);
  });

  it.each([
    ['quotes', 'a "b" c', String.raw`attachment; filename="a \"b\" c.pdf"`],
    ['semicolons', 'a; b=c', 'attachment; filename="a; b=c.pdf"'],
    ['letters of Latin-1', 'R\u00e9sum\u00e9', "filename*=UTF-8''R%C3%A9sum%C3%A9.pdf"],
    ['letters beyond', '\u6b6f\u{1f9b7}', "filename*=UTF-8''%E6%AD%AF%F0%9F%A6%B7.pdf"],
    ['a percent sign', '50%41', "filename*=UTF-8''50%2541.pdf"],
  ])('carries names with %s', async (_name, name, header) => {
    const called = await fetchLink(await linkOf({ name }));
    expect(called.headers['content-disposition']).toMatch(/^attachment; filename=/);
    expect(called.headers['content-disposition']).toContain(header);
  });
});

describe('ranges of a download', () => {
  const size = BYTES.length;

  it.each([
    ['bytes=0-3', 0, 3],
    ['bytes=9-', 9, size - 1],
    ['bytes=-5', size - 5, size - 1],
    ['bytes=0-0', 0, 0],
    ['bytes=10-9999', 10, size - 1],
    ['bytes=-9999', 0, size - 1],
    [`bytes=${size - 1}-`, size - 1, size - 1],
  ])('%s', async (range, start, end) => {
    const called = await fetchLink(await linkOf(), { headers: { range } });
    expect(called.status).toBe(206);
    expect(called.headers).toMatchObject({
      'content-range': `bytes ${start}-${end}/${size}`,
      'content-length': String(end - start + 1),
      'repr-digest': DIGEST,
    });
    expect(called.bytes).toEqual(BYTES.subarray(start, end + 1));
  });

  it('goes on with the same file only', async () => {
    const link = await linkOf();
    const { headers } = await fetchLink(link);
    const tag = String(headers.etag);
    expect(tag).toMatch(/^"[\w.-]+"$/);
    const same = await fetchLink(link, { headers: { range: 'bytes=1-', 'if-range': tag } });
    const other = await fetchLink(link, { headers: { range: 'bytes=1-', 'if-range': '"another"' } });
    expect([same.status, other.status, other.headers.etag]).toEqual([206, 200, tag]);
  });

  it.each([`bytes=${size}-`, 'bytes=9999-10000', 'bytes=-0'])('%s cannot be had', async (range) => {
    const called = await fetchLink(await linkOf(), { headers: { range } });
    expect([called.status, called.headers['content-range'], called.text]).toEqual([416, `bytes */${size}`, '']);
    expect(called.headers['repr-digest']).toBeUndefined();
  });

  it.each(['bytes=0-1,3-4', 'lines=0-3', 'bytes', 'bytes=x-y', ''])(
    '%j is answered with the whole file',
    async (range) => {
      const called = await fetchLink(await linkOf(), { headers: { range } });
      expect([called.status, called.bytes]).toEqual([200, BYTES]);
    },
  );
});

describe('links in lists', () => {
  it('are those of each document', async () => {
    const { id } = await made({ ownerPatient: { id: PATIENTS.bob } });
    const called = await service.call('GET', '/documents', {
      query: { filter: `ownerPatient.id==${PATIENTS.bob}`, responseFields: 'storage' },
    });
    const [row] = called.body.data as WireRecord[];
    expect(row?.id).toBe(id);
    expect((await fetchLink(linksOf(row ?? {}).original ?? '')).bytes).toEqual(BYTES);
  });
});
