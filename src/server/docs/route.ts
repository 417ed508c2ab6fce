import type { FastifyInstance } from 'fastify';
import { sendCompressed } from '../http/compression.ts';

interface Page {
  readonly text: string;
  readonly policy: string;
}

/** `GET /docs`: built on the first request, since nobody else needs it, and kept as text. */
export function mountDocs(app: FastifyInstance): void {
  let page: Promise<Page> | undefined;
  app.get('/docs', async (request, reply) => {
    page ??= build();
    const { text, policy } = await page;
    reply.header('content-security-policy', policy).type('text/html; charset=utf-8');
    return sendCompressed(request, reply, text);
  });
}

async function build(): Promise<Page> {
  const { docsPage, POLICY } = await import('./page.ts');
  return { text: docsPage(), policy: POLICY };
}
