import type { FastifyInstance } from 'fastify';
import { MAX_TEXT } from '../../catalog/fields/text.ts';
import { sendCompressed } from '../http/compression.ts';

/** `GET /openapi.json` and `GET /docs`: each built on its first request, since few need it, and cached as text. `maxText`: code points of a free text. */
export function mountDocs(app: FastifyInstance, maxText: number): void {
  let document: Promise<string> | undefined;
  app.get('/openapi.json', async (request, reply) => {
    document ??= buildDocument(maxText);
    return sendCompressed(request, reply.type('application/json; charset=utf-8'), await document);
  });
  let page: Promise<{ text: string; policy: string }> | undefined;
  app.get('/docs', async (request, reply) => {
    page ??= buildPage();
    const { text, policy } = await page;
    reply.header('content-security-policy', policy).type('text/html; charset=utf-8');
    return sendCompressed(request, reply, text);
  });
}

async function buildDocument(maxText: number): Promise<string> {
  const { openApiDocument } = await import('../openapi/document.ts');
  return JSON.stringify(openApiDocument(), (name, value) =>
    // The only limit of the catalog that whoever runs the server may set.
    name === 'maxLength' && value === MAX_TEXT ? maxText : value,
  );
}

async function buildPage() {
  const { docsPage, POLICY } = await import('./page.ts');
  return { text: docsPage(), policy: POLICY };
}
