import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { API_PREFIX } from '../../../src/catalog/catalog.ts';
import { MAX_PROBLEMS } from '../../../src/catalog/failures.ts';
import { MAX_TERMS } from '../../../src/catalog/filter/grammar.ts';
import { importFile } from '../../../src/server/import/importer.ts';
import type { ImportRefused } from '../../../src/server/import/lines.ts';
import { type Called, refusalOf, sourcesOf } from '../../support/calls.ts';
import { filesOf } from '../../support/fuzz/marks.ts';
import { FuzzedService, type FuzzRequest, RIGHT_HEADERS } from '../../support/fuzz/requests.ts';
import { answersIn, exchange } from '../../support/fuzz/sockets.ts';
import { big, ORGANIZATION, PATIENTS, TOKENS } from '../../support/ids.ts';

const service = new FuzzedService(true);
beforeAll(async () => {
  await service.open();
  await service.app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => service.close());

const read = (path: string, query: string): FuzzRequest => ({
  method: 'GET',
  url: `${API_PREFIX}${path}?${query}`,
  headers: RIGHT_HEADERS,
});

function write(
  method: string,
  path: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): FuzzRequest {
  return {
    method,
    url: API_PREFIX + path,
    headers: { ...RIGHT_HEADERS, 'content-type': 'application/json', ...headers },
    body,
  };
}

const port = () => (service.app.server.address() as AddressInfo).port;
const CREDENTIALS = `authorization: Bearer ${TOKENS.full}\r\norganization-id: ${ORGANIZATION}\r\n`;

/** Answers to bytes on a connection of their own. */
async function sendRaw(text: string): Promise<Called[]> {
  return answersIn(await exchange(port(), Buffer.from(text, 'latin1'), true), false);
}

describe('what fuzzing found in queries', () => {
  const terms = (count: number) => Array(count).fill('lastName==x').join(',');

  it('a filter of too many terms was more than the database takes in one condition', async () => {
    expect((await service.judge(read('/patients', `filter=${terms(MAX_TERMS)}`))).status).toBe(200);
    const called = await service.judge(read('/patients', `filter=${terms(MAX_TERMS + 1)}`));
    expect(refusalOf(called)).toEqual({ status: 400, errors: ['filter.syntax filter'] });
    expect(refusalOf(await service.judge(read('/patients', `filter=${terms(4000)}`)))).toEqual(refusalOf(called));
  });

  it('thousands of unknown fields were each answered with the list of all fields', async () => {
    const called = await service.judge(read('/patients', `responseFields=${'x,'.repeat(9000)}`));
    expect(called.body.errors).toHaveLength(MAX_PROBLEMS);
  });

  it('a value of combining marks took the square of its length', async () => {
    const value = encodeURIComponent(`a${'\u0301\u0323'.repeat(16)}`);
    const called = await service.judge(read('/patients', `filter=lastName==${value}`));
    expect(refusalOf(called)).toEqual({ status: 400, errors: ['filter.value lastName'] });
  });

  it.each([['/patients/%'], ['/patients/%zz'], ['/patients/%c3%28']])(
    '%s was refused without a source',
    async (path) => {
      expect(refusalOf(await service.judge(read(path, '')))).toEqual({
        status: 400,
        errors: ['request.malformed path'],
      });
    },
  );

  it.each([500, 501, 5000])('an id of %i characters is the id of no patient', async (length) => {
    const called = await service.judge(read(`/patients/${'9'.repeat(length)}`, ''));
    expect(refusalOf(called)).toEqual({ status: 404, errors: ['record.not_found id'] });
    expect(called.text.length).toBeLessThan(500);
  });
});

describe('what fuzzing found in bodies', () => {
  it('more ids than a statement takes were a fault', async () => {
    const links = Array.from({ length: 40_000 }, (_, index) => ({ id: index + 1 }));
    const called = await service.judge(write('POST', `/patients/${PATIENTS.ann}/billingtypes`, JSON.stringify(links)));
    expect(called.status).toBe(400);
    expect(sourcesOf(called)).toEqual(Array.from({ length: MAX_PROBLEMS }, (_, index) => `[${index}].id`));
  });

  it('depth exhausted the stack where a body is hashed', async () => {
    const body = `${'['.repeat(500_000)}${']'.repeat(500_000)}`;
    const called = await service.judge(write('POST', '/patients', body, { 'idempotency-key': 'deep' }));
    expect(refusalOf(called)).toEqual({ status: 400, errors: ['body.not_json body'] });
  });

  it('brackets in text are no depth', async () => {
    const body = JSON.stringify({
      isPredefined: false,
      tagType: 'PAYMENT_TAG',
      tagText: `"\\${'['.repeat(20)}`,
      nosuch: '['.repeat(500),
    });
    const called = await service.judge(write('POST', '/transactiontags', body));
    expect(refusalOf(called)).toEqual({ status: 400, errors: ['body.unknown_property nosuch'] });
  });

  it('thousands of unknown properties were each answered with the list of all properties', async () => {
    const body = `{${Array.from({ length: 60_000 }, (_, index) => `"k${index}":0`).join(',')}}`;
    const called = await service.judge(write('POST', '/patients', body));
    expect(called.body.errors).toHaveLength(MAX_PROBLEMS);
  });

  it('a name as long as a body was answered twice as long', async () => {
    const called = await service.judge(write('POST', '/patients', JSON.stringify({ ['x'.repeat(900_000)]: 0 })));
    expect(called.status).toBe(400);
    expect(called.text.length).toBeLessThan(5000);
  });

  it('a property without a name had no source', async () => {
    const called = await service.judge(write('PUT', `/patients/${PATIENTS.ann}`, '{"":1}'));
    expect(refusalOf(called)).toEqual({ status: 400, errors: ['body.unknown_property ""'] });
  });

  it('text of combining marks held up every request for minutes', async () => {
    const preferredName = `a${'\u0301\u0323'.repeat(200_000)}`;
    const called = await service.judge(write('PUT', `/patients/${PATIENTS.ann}`, JSON.stringify({ preferredName })));
    expect(refusalOf(called)).toEqual({ status: 400, errors: ['field.format preferredName'] });
  });

  it('an unknown route was told only after a wrong body (D2)', async () => {
    const called = await service.judge(write('POST', '/nosuch', 'x', { 'content-type': 'text/plain' }));
    expect(refusalOf(called)).toEqual({ status: 404, errors: ['route.unknown null'] });
  });
});

describe('what fuzzing found on connections', () => {
  it('a request without a Host header was answered without a body', async () => {
    const answers = await sendRaw(`GET ${API_PREFIX}/patients HTTP/1.1\r\n\r\n`);
    expect(answers.map(refusalOf)).toEqual([{ status: 400, errors: ['request.malformed Host'] }]);
  });

  it('an expectation that cannot be met was answered without a body', async () => {
    const answers = await sendRaw('GET / HTTP/1.1\r\nhost: a\r\nexpect: nosuch\r\n\r\n');
    expect(answers.map(refusalOf)).toEqual([{ status: 417, errors: ['request.malformed Expect'] }]);
  });

  it('a method that must have a media type was a fault without one', async () => {
    const answers = await sendRaw(`QUERY ${API_PREFIX}/patients HTTP/1.1\r\nhost: a\r\n${CREDENTIALS}\r\n`);
    expect(answers.map(refusalOf)).toEqual([{ status: 405, errors: ['route.method null'] }]);
    service.throwFaults([]);
  });

  it.each([
    ['bytes that are no HTTP', '\u0016\u0003\u0001\r\n\r\n', 400, 'request'],
    ['headers that are too long', `GET / HTTP/1.1\r\nhost: a\r\nx-huge: ${'x'.repeat(70_000)}\r\n\r\n`, 431, 'headers'],
  ])('%s were refused without a source', async (_name, text, status, source) => {
    const answers = await sendRaw(text);
    expect(answers.map(refusalOf)).toEqual([{ status, errors: [`request.malformed ${source}`] }]);
  });

  it('garbage behind a write was answered in place of the write', async () => {
    const body = JSON.stringify({ isPredefined: false, tagType: 'PAYMENT_TAG', tagText: 'Before garbage' });
    const head = `POST ${API_PREFIX}/transactiontags HTTP/1.1\r\nhost: a\r\n${CREDENTIALS}content-type: application/json\r\n`;
    const answers = await sendRaw(`${head}content-length: ${body.length}\r\n\r\n${body}garbage\r\n\r\n`);
    expect(answers.map(({ status }) => status)).toEqual([201, 400]);
    await service.note();
  });

  it('a caller that left in the middle of a document was logged as a fault of the server', async () => {
    const head = `POST ${API_PREFIX}/documents HTTP/1.1\r\nhost: a\r\n${CREDENTIALS}content-type: application/json\r\n`;
    const before = await filesOf(service.current);
    const socket = connect(port(), '127.0.0.1', () => {
      // More than is gathered in memory: then a file is there.
      socket.write(`${head}content-length: 900000\r\n\r\n{"file":{"content":"${'A'.repeat(370_000)}`);
    });
    await vi.waitFor(async () => expect(await filesOf(service.current)).toHaveLength(before.length + 1), 60_000);
    socket.destroy();
    await vi.waitFor(async () => expect(await filesOf(service.current)).toEqual(before), 60_000);
    service.throwFaults([]);
  });
});

describe('what fuzzing found in imports', () => {
  const refusedFor = (...parts: readonly string[]): Promise<ImportRefused> =>
    importFile(service.current.service, Readable.from(parts.map((part) => Buffer.from(part)))).then(
      () => Promise.reject(new Error('The import was taken.')),
      (error: ImportRefused) => error,
    );

  it.each(['a b', '\0', 'x'.repeat(65), '\ud800'])(
    'an organization %j that can have no line was looked up',
    async (organizationId) => {
      const refused = await refusedFor(
        `${JSON.stringify({ type: 'PatientV1', organizationId, id: 1, firstName: 'A', lastName: 'B' })}\n`,
      );
      expect(refused.problems).toEqual([
        { line: 1, field: 'organizationId', message: 'organizationId must be 1 to 64 letters, digits, _ and -.' },
      ]);
      await service.mustBeUnchanged(400);
    },
  );

  it('a line that is too long to be held was a fault, not a problem of the file', async () => {
    const piece = 'x'.repeat(8 * 1024 * 1024);
    const refused = await refusedFor('{}\n{"type":"', ...Array<string>(11).fill(piece));
    expect(refused.problems).toEqual([{ line: 2, field: null, message: 'The line has more than 83886080 bytes.' }]);
    await service.mustBeUnchanged(400);
  });

  it('a line of 50 MB is read and refused like any other', async () => {
    const piece = 'x'.repeat(10 * 1024 * 1024);
    const head = `{"type":"PatientV1","organizationId":"${ORGANIZATION}","id":${big(1)},"lastName":"B","firstName":"`;
    const refused = await refusedFor(head, ...Array<string>(5).fill(piece), '"}\n');
    expect(refused.problems.map(({ line, field }) => [line, field])).toEqual([[1, 'firstName']]);
    await service.mustBeUnchanged(400);
  });
});
