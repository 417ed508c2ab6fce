import { readFile } from 'node:fs/promises';
import { API_PREFIX, allOperations } from '../../catalog/catalog.ts';
import type { Method, Operation, Resource } from '../../catalog/define.ts';
import { refusal } from '../../catalog/failures.ts';
import { fileFailure, usageFailure } from '../../core/failure.ts';
import { textFlag, textFlags } from '../flags/values.ts';
import type { CommandInput } from '../molarcommand.ts';

/** A request as the user wrote it: `path` begins with `/api/v1` and has no query. */
export interface RawRequest {
  readonly method: Method;
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  /** Undefined where there is none; JSON null is a body. */
  readonly body: { readonly value: unknown } | undefined;
}

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'DELETE'];

/** Reads METHOD, PATH, `--field` and `--data`; throws a Failure or a Refusal (exit 2), or a Failure (exit 9). */
export async function readRawRequest(input: CommandInput, stdin: () => Promise<string>): Promise<RawRequest> {
  const data = textFlag(input.flags, 'data');
  const { method: first, path: second } = input.args as { method?: string; path?: string };
  if (first === undefined) throw usageFailure('PATH is missing.', { source: 'PATH' });
  const address = second ?? first;
  const method = second === undefined ? (data === undefined ? 'GET' : 'POST') : readMethod(first);
  if (second === undefined && METHODS.includes(first.toUpperCase() as Method)) {
    throw usageFailure(`PATH is missing after ${first.toUpperCase()}.`, { source: 'PATH' });
  }
  if (data !== undefined && (method === 'GET' || method === 'DELETE')) {
    throw usageFailure(`--data does not go with ${method}; use POST or PUT.`, { source: '--data' });
  }
  const { path, query } = readPath(address);
  const fields = textFlags(input.flags, 'field').map(readField);
  return { method, path, query: [...query, ...fields], body: await readData(data, stdin) };
}

/** The query as it stands in a URL, without the question mark. */
export function queryText(query: RawRequest['query']): string {
  return query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
}

/** Path and query in one. */
export function targetOf(path: string, query: RawRequest['query']): string {
  const text = queryText(query);
  return text === '' ? path : `${path}?${text}`;
}

/** The operation of the catalog behind a method and a path, and its resource; undefined where it has none. */
export function knownOperation(method: Method, path: string): { resource: Resource; operation: Operation } | undefined {
  return allOperations().find(({ operation }) => {
    const pattern = (API_PREFIX + operation.path).replaceAll('.', '\\.').replace(/\{\w+\}/g, '\\d+');
    return operation.method === method && new RegExp(`^${pattern}$`).test(path.replace(/\/$/, ''));
  });
}

function readMethod(text: string): Method {
  const method = METHODS.find((known) => known === text.toUpperCase());
  if (method !== undefined) return method;
  throw usageFailure(`METHOD must be one of ${METHODS.join(', ')}.`, { source: 'METHOD' });
}

const ANYWHERE = 'https://host.invalid';

function readPath(text: string): Pick<RawRequest, 'path' | 'query'> {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || text.startsWith('//')) {
    throw usageFailure(
      'PATH is what stands after /api/v1, not a whole URL; the server comes from --url or MOLAR_URL.',
      {
        source: 'PATH',
      },
    );
  }
  const below = `/${text.replace(/^\/+/, '')}`;
  const prefixed = /^\/api\/v1(?=[/?#]|$)/.test(below) ? below : API_PREFIX + below;
  const url = new URL(ANYWHERE + prefixed);
  // `..` and its encoded forms are resolved by then.
  if (url.pathname.length <= API_PREFIX.length + 1 || !url.pathname.startsWith(`${API_PREFIX}/`)) {
    throw usageFailure('PATH must lead to something below /api/v1, such as patients or /patients/1001.', {
      source: 'PATH',
    });
  }
  if (url.hash !== '') throw usageFailure('PATH must not have a fragment (#).', { source: 'PATH' });
  return { path: url.pathname, query: [...url.searchParams] };
}

function readField(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw usageFailure('--field is written name=value, such as --field pageSize=10.', { source: '--field' });
}

async function readData(source: string | undefined, stdin: () => Promise<string>): Promise<RawRequest['body']> {
  if (source === undefined) return undefined;
  if (/^\s*[{[]/.test(source)) {
    throw usageFailure('--data takes a file name, or - for standard input; not the JSON itself.', { source: '--data' });
  }
  const reading = source === '-' ? stdin() : readFile(source, 'utf8');
  const text = await reading.catch((cause: unknown) => {
    throw source === '-' ? cause : fileFailure(`read ${source}`, cause);
  });
  try {
    return { value: JSON.parse(text.replace(/^\uFEFF/, '')) };
  } catch {
    // The parser's own message repeats the text, which may be about a patient.
    throw refusal('body.not_json', '--data', '--data is not valid JSON.');
  }
}
