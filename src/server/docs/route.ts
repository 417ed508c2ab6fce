import type { FastifyInstance } from 'fastify';

interface Page {
  readonly text: string;
  readonly policy: string;
}

/** `GET /docs`: built on the first request, since nobody else needs it, and kept as text. */
export function mountDocs(app: FastifyInstance): void {
  let page: Promise<Page> | undefined;
  app.get('/docs', async (_request, reply) => {
    page ??= build();
    const { text, policy } = await page;
    return reply.header('content-security-policy', policy).type('text/html; charset=utf-8').send(text);
  });
}

async function build(): Promise<Page> {
  const { docsPage, POLICY } = await import('./page.ts');
  return { text: docsPage(), policy: POLICY };
}
