import { createClient } from '../../src/server/tokens/clientadmin.ts';
import { ORGANIZATION, PATIENTS } from '../support/ids.ts';
import type { TestService } from '../support/service.ts';

type Request = Parameters<typeof createClient>[1];

/** Makes API clients of a service, and calls it as they do. */
export function clientsOf(service: TestService) {
  const create = (request: Partial<Request> = {}) =>
    createClient(service.service, {
      organizations: [ORGANIZATION],
      scopes: ['model:read', 'model:write'],
      readOnly: false,
      ...request,
    });

  /** Asks for a token; its text, or the status of the refusal. */
  async function ask(id: string, secret: string): Promise<{ token: string; seconds: string } | number> {
    const { status, text } = await service.call('POST', '//oauth/client_credential/accesstoken', {
      token: null,
      organization: null,
      body: { grant_type: 'client_credentials', client_id: id, client_secret: secret },
    });
    if (status !== 200) return status;
    const { access_token, expires_in } = JSON.parse(text) as { access_token: string; expires_in: string };
    return { token: access_token, seconds: expires_in };
  }

  async function tokenOf({ clientId, clientSecret }: { clientId: string; clientSecret: string }): Promise<string> {
    const asked = await ask(clientId, clientSecret);
    if (typeof asked === 'number') throw new Error(`${asked}`);
    return asked.token;
  }

  const status = async (token: string, method = 'GET') =>
    (await service.call(method, `/patients/${PATIENTS.ann}`, { token, ...(method === 'PUT' && { body: {} }) })).status;
  const accepts = async (id: string, secret: string) => typeof (await ask(id, secret)) !== 'number';
  return { create, ask, tokenOf, status, accepts };
}
