import type { FastifyInstance } from 'fastify';
import { sendCompressed } from '../http/compression.ts';

/** `GET /openapi.json` and `GET /docs`: each built on its first request, since few need it, and cached as text. */
export function mountDocs(app: FastifyInstance): void {
  let document: Promise<string> | undefined;
  app.get('/openapi.json', async (request, reply) => {
    document ??= buildDocument();
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

async function buildDocument(): Promise<string> {
  const { openApiDocument } = await import('../openapi/document.ts');
  return JSON.stringify(openApiDocument());
}

async function buildPage() {
  const { docsPage, POLICY } = await import('./page.ts');
  return { text: docsPage(), policy: POLICY };
}
