import type { FastifyInstance } from 'fastify';

/** `GET /openapi.json`: built on the first request, since nobody else needs it, and kept as text. */
export function mountOpenApi(app: FastifyInstance): void {
  let text: Promise<string> | undefined;
  app.get('/openapi.json', async (_request, reply) => {
    text ??= build();
    return reply.type('application/json; charset=utf-8').send(await text);
  });
}

async function build(): Promise<string> {
  const { openApiDocument } = await import('./document.ts');
  return JSON.stringify(openApiDocument());
}
