import type { FastifyInstance } from 'fastify';
import { type Problem, Refusal, refusal } from '../../catalog/failures.ts';
import { parseJson } from '../body/jsonbody.ts';
import { issueToken, TOKEN_SECONDS } from '../tokens/tokens.ts';
import { type AuthContext, nameSender } from './identity.ts';

const PATH = '/oauth/client_credential/accesstoken';

/** The client-credentials endpoint (D4): form body in, a bearer token out; 429 for an address that failed too often. */
export async function mountTokens(app: FastifyInstance, { service, attempts }: AuthContext): Promise<void> {
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser<string>(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      async (_request: unknown, text: string) => Object.fromEntries(new URLSearchParams(text)),
    );
    scope.addContentTypeParser<Buffer>(
      'application/json',
      { parseAs: 'buffer' },
      async (_request: unknown, bytes: Buffer) => parseJson(bytes),
    );
    scope.post(PATH, async (request) => {
      const form = { ...((request.body ?? {}) as Record<string, unknown>) };
      const query = request.query as Record<string, unknown>;
      const grantType = query.grant_type ?? form.grant_type;
      if (grantType !== 'client_credentials') {
        throw refusal('auth.grant_type', 'grant_type', 'grant_type must be client_credentials.');
      }
      const { clientId, clientSecret } = credentials(form);
      nameSender(request, { client: clientId });
      const succeeded = attempts.begin('client', request.ip);
      const from = { address: request.ip, requestId: request.id };
      const token = await issueToken(service, clientId, clientSecret, from).catch((error: unknown) => {
        if (!(error instanceof Refusal)) succeeded();
        throw error;
      });
      succeeded();
      // A string, as clients in the wild expect (D4).
      return { access_token: token, token_type: 'Bearer', expires_in: String(TOKEN_SECONDS) };
    });
  });
}

function credentials(form: Record<string, unknown>): { clientId: string; clientSecret: string } {
  const problems: Problem[] = ['client_id', 'client_secret']
    .filter((name) => typeof form[name] !== 'string' || form[name] === '')
    .map((name) => ({ code: 'field.missing', source: name, description: `${name} is required in the form body.` }));
  if (problems.length > 0) throw new Refusal(problems);
  return { clientId: String(form.client_id), clientSecret: String(form.client_secret) };
}
