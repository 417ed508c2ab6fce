import fc from 'fast-check';
import { API_PREFIX, allOperations } from '../../../src/catalog/catalog.ts';
import { ORGANIZATION, OTHER_ORGANIZATION, TOKENS } from '../ids.ts';
import { pathId, urlOf } from './queries.ts';
import type { FuzzRequest } from './requests.ts';

const ANY = ['', ' ', 'x', '\u00e9\u00ff', '"', ',', 'x'.repeat(8000), '__proto__', '*/*', '0', '-1', 'a;b=c;;'];

/** Values by header: right ones, and ones wrong in the way of that header. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  authorization: [
    `bearer ${TOKENS.full}`,
    `Bearer  ${TOKENS.full} `,
    `Basic ${TOKENS.full}`,
    'Bearer',
    `Bearer ${'x'.repeat(9000)}`,
    `Bearer ${TOKENS.expired}`,
    `Bearer ${TOKENS.none}`,
    `Bearer ${TOKENS.full},Bearer x`,
  ],
  'organization-id': [
    OTHER_ORGANIZATION,
    ` ${ORGANIZATION} `,
    `${ORGANIZATION}, ${ORGANIZATION}`,
    'constructor',
    "' OR 1=1",
  ],
  'idempotency-key': ['k', 'k k', 'x'.repeat(255), 'x'.repeat(256)],
  'content-type': [
    'application/json;charset=latin1',
    'application/json;',
    'json',
    'application/json; charset="',
    'text/html',
  ],
  'content-length': ['1', '0', '-1', '99999999999', '1e3', '0x10'],
  'content-encoding': ['gzip', 'br', 'deflate, gzip', 'nosuch'],
  accept: ['application/x-ndjson', 'text/html', 'application/xml;q=nan'],
  'accept-encoding': ['gzip', 'nosuch;q=1'],
  'x-request-id': ['caller-1', 'x'.repeat(201), 'a b'],
  'last-event-id': ['-1', 'x'],
  'x-forwarded-for': ['1.2.3.4', 'x'.repeat(500)],
  'x-forwarded-host': ['evil.example'],
  'x-forwarded-proto': ['javascript'],
  'x-http-method-override': ['DELETE'],
  host: ['', 'evil.example', '[::1', 'a b', '"'],
  range: ['bytes=0-', 'bytes=-1', 'bytes=9-1', `bytes=${'0-,'.repeat(1000)}`],
  'if-none-match': ['*', '"x"'],
  'transfer-encoding': ['chunked', 'identity', 'gzip, chunked', 'nosuch'],
  connection: ['close', 'upgrade', 'keep-alive, Upgrade'],
  upgrade: ['websocket', 'h2c'],
  cookie: ['a=b; '.repeat(500)],
};

const NAMES = Object.keys(VALUES);

export const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'TRACE', 'PROPFIND', 'QUERY'];

const PATHS = [
  '/',
  '',
  '*',
  '//',
  `${API_PREFIX}/`,
  `${API_PREFIX}//patients`,
  `${API_PREFIX}/patients/`,
  `${API_PREFIX}/patients/5/`,
  '/api/v1/../v1/patients',
  '/API/V1/patients',
  '/beta/patients',
  '/files/x/documents/1/original?expires=1&signature=x',
  '/files/%00/documents/1/%2e%2e?expires=99999999999&signature[]=x',
  '/oauth/client_credential/accesstoken',
  '/oauth/client_credential/accesstoken?grant_type=client_credentials',
  '/metrics',
  '/healthz',
  '/docs',
  '/openapi.json',
  `${API_PREFIX}/patients;x=1`,
  `${API_PREFIX}/patients#x`,
  `/${'x'.repeat(30_000)}`,
];

/** A header and its value. */
export const header: fc.Arbitrary<readonly [string, string]> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .constantFrom(...NAMES)
      .chain((name) => fc.constantFrom(...(VALUES[name] ?? []), ...ANY).map((value) => [name, value] as const)),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(
      fc.constantFrom('x-odd', '__proto__', 'constructor', 'X-'.repeat(200)),
      fc.constantFrom(...ANY),
    ),
  },
);

export const path: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constantFrom(...allOperations()), pathId).map(([{ operation }, id]) => urlOf(operation, id)),
  },
  { weight: 1, arbitrary: fc.constantFrom(...PATHS) },
);

const BODIES = [
  undefined,
  '',
  '{}',
  '[]',
  'null',
  '{"name":"x"}',
  'grant_type=client_credentials&client_id=%00&client_secret=x',
  'client_id=app&client_id=app&client_secret=%ff',
  'a&&=&b',
];

/** Requests with odd headers, methods and paths, as far as a request in process can hold them. */
export const headerRequest: fc.Arbitrary<FuzzRequest> = fc
  .tuple(fc.constantFrom(...METHODS), path, fc.array(header, { maxLength: 4 }), fc.constantFrom(...BODIES), fc.nat(3))
  .map(([method, url, list, body, right]) => {
    const usual = right === 0 ? {} : { authorization: `Bearer ${TOKENS.full}`, 'organization-id': ORGANIZATION };
    const type =
      body === undefined
        ? {}
        : { 'content-type': body.includes('=') ? 'application/x-www-form-urlencoded' : 'application/json' };
    const headers = { ...usual, ...type, ...Object.fromEntries(list.filter(([name]) => !OF_SOCKETS.has(name))) };
    return { method, url: url.startsWith('/') ? url : `/${url}`, headers, ...(body !== undefined && { body }) };
  });

/** Headers that mean something to a connection only. */
const OF_SOCKETS = new Set(['content-length', 'transfer-encoding', 'connection', 'upgrade', 'host']);
