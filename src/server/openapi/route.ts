import type { FastifyInstance } from 'fastify';
import { sendCompressed } from '../http/compression.ts';

/** `GET /openapi.json`: built on the first request, since nobody else needs it, and kept as text. */
export function mountOpenApi(app: FastifyInstance): void {
  let text: Promise<string> | undefined;
  app.get('/openapi.json', async (request, reply) => {
    text ??= build();
    return sendCompressed(request, reply.type('application/json; charset=utf-8'), await text);
  });
}

async function build(): Promise<string> {
  const { openApiDocument } = await import('./document.ts');
  return JSON.stringify(openApiDocument());
}
