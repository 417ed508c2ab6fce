import type { Operation } from '../../catalog/define.ts';
import type { ExampleRequest } from '../openapi/requests.ts';
import { escapeText, Html } from './markup.ts';

/** A request as a curl command; address, token and organization come from the environment. */
export function curlOf(operation: Operation, { path, query, body }: ExampleRequest): string {
  const reads = operation.method === 'GET';
  const search = reads ? '' : new URLSearchParams(query).toString();
  const url = `"$MOLAR_URL${path}${search === '' ? '' : `?${search}`}"`;
  const pairs = reads ? Object.entries(query) : [];
  const verb = pairs.length > 0 ? 'curl -G' : reads ? 'curl' : `curl -X ${operation.method}`;
  return [
    `${verb} ${url}`,
    '-H "Authorization: Bearer $MOLAR_TOKEN"',
    '-H "Organization-ID: $MOLAR_ORGANIZATION"',
    ...(operation.method === 'POST' ? ['-H "Idempotency-Key: $(uuidgen)"'] : []),
    ...pairs.map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`),
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `--data ${quoted(JSON.stringify(body, null, 2))}`]),
  ].join(' \\\n  ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** JSON, indented, names and values told apart. */
export function jsonCode(value: unknown): Html {
  const lines = JSON.stringify(value, null, 2).split('\n').map(jsonLine);
  return new Html(lines.join('\n'));
}

function jsonLine(line: string): string {
  const [, indent = '', name, rest = ''] = /^(\s*)(?:("(?:[^"\\]|\\.)*"):\s)?(.*)$/.exec(line) ?? [];
  const named = name === undefined ? '' : `<b>${escapeText(name)}</b>: `;
  const [, text = '', end = ''] = /^(".*")(,?)$/.exec(rest) ?? [];
  return indent + named + (text === '' ? escapeText(rest) : `<i>${escapeText(text)}</i>${end}`);
}
