import type { Warning } from '../../catalog/failures.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import type { FailureItem } from '../failure.ts';
import { jsonOf } from '../jsontext.ts';

/** The response envelope, read leniently: what is missing is empty (specification, Response envelope; D5, D6). */
export interface Envelope {
  readonly data: unknown;
  readonly warnings: readonly Warning[];
  readonly errors: readonly FailureItem[];
  readonly meta: Readonly<Record<string, unknown>> | null;
}

/** The text of a body in valid UTF-8, without the byte order mark that it may begin with. */
export function bodyText(body: Uint8Array): string {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** The envelope in a text; undefined when it holds none: cut off, not JSON, or JSON of another shape. */
export function readEnvelope(text: string): Envelope | undefined {
  const body = jsonOf(text);
  if (!isPlainObject(body) || !('data' in body || 'errors' in body)) return undefined;
  return {
    data: body.data,
    warnings: objects(body.warnings).map(readWarning),
    errors: objects(body.errors).map(readError),
    meta: isPlainObject(body.meta) ? body.meta : null,
  };
}

function readWarning(item: Record<string, unknown>): Warning {
  return {
    title: textOf(item.title) ?? 'Warning',
    description: textOf(item.description) ?? '',
    source: textOf(item.source),
  };
}

function readError(item: Record<string, unknown>): FailureItem {
  const title = textOf(item.title);
  return {
    code: textOf(item.code) ?? 'error',
    ...(title !== null && { title }),
    description: textOf(item.description) ?? textOf(item.message) ?? title ?? 'No description was given.',
    source: textOf(item.source),
  };
}

function objects(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isPlainObject) : [];
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : null;
}
