import { createServer } from 'node:http';
import { listen, shut, type Violation } from './origin.ts';
import { hashOf } from './random.ts';
import type { Practice } from './store.ts';

/** Where the contents of documents are downloaded: another origin, that knows no ranges, digests or tokens. */
export interface Files {
  readonly link: (guidName: string) => string;
  readonly close: () => Promise<void>;
}

/** Opens the origin of downloads. The token of the service must never come here. */
export async function openFiles(practice: Practice, onViolation: (violation: Violation) => void): Promise<Files> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const leaked = ['authorization', 'organization-id'].find((name) => name in request.headers);
    if (leaked) onViolation({ method: request.method ?? '', path: pathname, what: `${leaked} sent to another origin` });
    const guidName = decodeURIComponent(pathname.slice(1));
    const bytes = practice.files.get(guidName);
    const signed = searchParams.get('signature') === signatureOf(guidName);
    response.statusCode = !signed ? 403 : bytes ? 200 : 404;
    response.setHeader('connection', 'close');
    response.end(response.statusCode === 200 ? bytes : undefined);
  });
  const origin = await listen(server);
  return {
    link: (guidName) => `${origin}/${encodeURIComponent(guidName)}?signature=${signatureOf(guidName)}`,
    close: () => shut(server),
  };
}

function signatureOf(guidName: string): string {
  return hashOf(`signature ${guidName}`).toString(16);
}
