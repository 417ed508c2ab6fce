import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Problem, Refusal, refusal } from '../../catalog/failures.ts';
import { parseJson } from '../body/jsonbody.ts';
import { issueToken } from '../tokens/clients.ts';
import type { AuthContext } from './identity.ts';
import { nameSender } from './sender.ts';

const PATH = '/oauth/client_credential/accesstoken';

/** The client-credentials endpoint (D4): form body in, a bearer token out; 429 for an address that failed too often. */
export async function mountTokens(app: FastifyInstance, { service, attempts }: AuthContext): Promise<void> {
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addHook('onRequest', async (request) => refusePages(request));
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
      const succeeded = attempts.beginClient(request.ip, clientId);
      const from = { address: request.ip, requestId: request.id };
      const issue = async () => {
        // Whoever has left while others were checked gets no token.
        if (request.raw.socket.destroyed) throw refusal('request.timeout', null, 'The caller has left.');
        return issueToken(service, clientId, clientSecret, from);
      };
      const issued = await attempts.inTurn(request.ip, issue).catch((error: unknown) => {
        if (!(error instanceof Refusal)) succeeded();
        throw error;
      });
      succeeded();
      // A string, as clients in the wild expect (D4).
      return { access_token: issued.token, token_type: 'Bearer', expires_in: String(issued.seconds) };
    });
  });
}

/**
 * Refuses (403) what a browser sends for a page of another site (contract §8): it would try secrets from the address of
 * whoever looks at that page.
 */
function refusePages({ headers, host }: FastifyRequest): void {
  const { origin } = headers;
  const own = origin === undefined || (URL.canParse(origin) && isSameHost(new URL(origin), host));
  if (own && headers['sec-fetch-site'] !== 'cross-site') return;
  throw refusal('auth.origin', own ? 'Sec-Fetch-Site' : 'Origin', 'Tokens are not given to pages of another site.');
}

/** Whether a host is that of an origin; a port may be left out where the protocol has it. */
function isSameHost({ protocol, host }: URL, other: string): boolean {
  return URL.canParse(`${protocol}//${other}`) && new URL(`${protocol}//${other}`).host === host && host !== '';
}

function credentials(form: Record<string, unknown>): { clientId: string; clientSecret: string } {
  const problems: Problem[] = ['client_id', 'client_secret']
    .filter((name) => typeof form[name] !== 'string' || form[name] === '')
    .map((name) => ({ code: 'field.missing', source: name, description: `${name} is required in the form body.` }));
  if (problems.length > 0) throw new Refusal(problems);
  return { clientId: String(form.client_id), clientSecret: String(form.client_secret) };
}
