import { describe, expect, it } from 'vitest';
import { ORGANIZATION, PATIENTS, TOKENS } from '../support/ids.ts';
import { sharedService } from '../support/service.ts';
import { entriesOf } from './trail.ts';

const service = sharedService();

/** A GET as a client that keeps responses sends it; without the envelope's reader, since a 304 has none. */
async function get(path: string, known?: string) {
  const { statusCode, headers, body } = await service.app.inject({
    url: `/api/v1${path}`,
    headers: {
      authorization: `Bearer ${TOKENS.full}`,
      'organization-id': ORGANIZATION,
      ...(known !== undefined && { 'if-none-match': known }),
    },
  });
  return { status: statusCode, tag: headers.etag as string | undefined, headers, body };
}

const ANN = `/patients/${PATIENTS.ann}`;
const WHOLE = '/patients?pageSize=500';

describe('a response that has not changed', () => {
  it.each([[ANN], ['/patients?pageSize=3'], ['/patients/totalcount'], ['/transactiontags']])(
    'is not sent again: %s',
    async (path) => {
      const first = await get(path);
      expect(first).toMatchObject({ status: 200, tag: expect.stringMatching(/^W\/"[\w+/=]+"$/) });
      const again = await get(path, first.tag);
      expect(again).toMatchObject({ status: 304, tag: first.tag, body: '' });
      expect(again.headers['x-request-id']).toBeDefined();
      expect(again.headers['content-type']).toBeUndefined();
      // One of several that a client has, and the strong form of a client that knows no other.
      expect((await get(path, `"x", ${first.tag}`)).status).toBe(304);
      expect((await get(path, first.tag?.slice(2))).status).toBe(304);
      expect((await get(path, '"x"')).body).toBe(first.body);
    },
  );

  it('has a tag where it is large, too, if that is asked for', async () => {
    const plain = await get(WHOLE);
    expect(plain.body.length).toBeGreaterThan(8 * 1024);
    expect([plain.status, plain.tag]).toEqual([200, undefined]);
    const asked = await get(WHOLE, '""');
    expect(asked).toMatchObject({ status: 200, tag: expect.any(String), body: plain.body });
    expect((await get(WHOLE, asked.tag)).status).toBe(304);
  });

  it('is an entry of the audit log as the response is', async () => {
    const first = await get(ANN);
    const [entry, ...others] = await entriesOf(service, async () => {
      expect((await get(ANN, first.tag)).status).toBe(304);
    });
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ operation: 'patients.get', patients: [PATIENTS.ann] });
  });
});

describe('a response that has changed', () => {
  it('is sent, with another tag', async () => {
    const [one, list] = [await get(ANN), await get(WHOLE, '""')];
    await service.call('PUT', ANN, { body: { city: 'Elsewhere' } });
    const [newOne, newList] = [await get(ANN, one.tag), await get(WHOLE, list.tag)];
    expect([newOne.status, newList.status]).toEqual([200, 200]);
    expect([newOne.tag === one.tag, newList.tag === list.tag]).toEqual([false, false]);
    expect(newOne.body).toContain('Elsewhere');
  });

  it('is sent to who may see less, or asked for other fields', async () => {
    const { tag } = await get('/patients?pageSize=3&responseFields=id,lastName');
    expect((await get('/patients?pageSize=3&responseFields=id', tag)).status).toBe(200);
  });
});

it('a refusal has no tag, and none lets anybody in', async () => {
  const missing = await get('/patients/1', '*');
  expect([missing.status, missing.tag]).toEqual([404, undefined]);
  const { tag } = await get(ANN);
  const url = `/api/v1${ANN}`;
  const stranger = await service.app.inject({ url, headers: { 'if-none-match': String(tag) } });
  expect(stranger.statusCode).toBe(401);
});

it('responses with download links, which end, have no tag', async () => {
  const listed = await get('/documents?pageSize=1', '*');
  expect([listed.status, listed.tag]).toEqual([200, undefined]);
});
