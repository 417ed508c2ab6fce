import { API_PREFIX, allOperations } from '../../catalog/catalog.ts';
import type { Method, Operation, Resource } from '../../catalog/define.ts';
import { isFailureCode } from '../../catalog/failures.ts';
import { Failure, reworded, usageFailure } from '../../core/failure.ts';
import { nearest } from '../../core/nearest.ts';
import { queryText } from '../crud/dryrun.ts';
import { readJsonData } from '../flags/body.ts';
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
  const body = data === undefined ? undefined : { value: await readJsonData(data, stdin) };
  return { method, path, query: [...query, ...fields], body };
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
    throw usageFailure('PATH is the part after /api/v1, not a full URL; the server comes from --url or MOLAR_URL.', {
      source: 'PATH',
    });
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

/** The failure of an unknown path with the path that was probably meant; a bare 404 may also mean a missing record. */
export function withNearestPath(cause: unknown, path: string): unknown {
  if (!(cause instanceof Failure) || cause.status !== 404) return cause;
  if (isFailureCode(cause.code) && cause.code !== 'route.unknown') return cause;
  const near = nearestPath(path);
  const isTyped = `${API_PREFIX}/${near}` === path.split('?')[0];
  return near === undefined || isTyped ? cause : reworded(cause, { hint: `Did you mean ${near}?` });
}

/** The path of the catalog, as it is typed, that is nearest to one that begins with `/api/v1`; ids stay as they are. */
export function nearestPath(path: string): string | undefined {
  const typed = path.slice(API_PREFIX.length + 1).split('/');
  const candidates = allOperations().flatMap(({ operation }) => {
    const parts = operation.path.slice(1).split('/');
    // What is typed where an id stands is one only if it is a number: `patients/calculatd` is no id.
    const fits = parts.length === typed.length && parts.every((part, at) => !isId(part) || isNumber(typed[at]));
    return fits ? [parts.map((part, at) => (isId(part) ? typed[at] : part)).join('/')] : [];
  });
  return nearest(typed.join('/'), [...new Set(candidates)]);
}

function isId(part: string): boolean {
  return part.startsWith('{');
}

function isNumber(part: string | undefined): boolean {
  return /^\d+$/.test(part ?? '');
}
