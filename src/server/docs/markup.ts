import type { Operation } from '../../catalog/define.ts';
import type { ExampleRequest } from '../openapi/examples.ts';

/** Text that is HTML already. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = Html | string | number | undefined | readonly Part[];

/** HTML from a template: strings put into it are escaped, lists are joined, undefined is nothing. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(texts.map((text, index) => text + render(parts[index])).join(''));
}

function render(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(render).join('');
  return escapeText(String(part));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char);
}

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

/** JSON, indented, names and values marked up differently. */
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
