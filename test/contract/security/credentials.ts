import { SCOPES } from '../../../src/catalog/scopes.ts';
import { revoke } from '../../../src/server/tokens/admin.ts';
import { listTokens, tokenHash } from '../../../src/server/tokens/tokens.ts';
import { ORGANIZATION, OTHER_ORGANIZATION } from '../../support/ids.ts';
import type { TestService } from '../../support/service.ts';
import type { Credential } from './oracle.ts';

const ALL: readonly string[] = SCOPES;
const SCOPE_SETS: readonly (readonly [name: string, scopes: readonly string[]])[] = [
  ['all scopes', ALL],
  ['no scope', []],
  ...ALL.map((scope) => [scope, [scope]] as const),
];

/** A token as an import line, and what the test knows of it. */
interface Minted {
  readonly name: string;
  readonly token: string;
  readonly organizations: readonly string[];
  readonly scopes: readonly string[];
  readonly expiresAt?: string;
  readonly fault?: string;
}

const MINTED: readonly Minted[] = [
  ...SCOPE_SETS.map(([name, scopes]) => mint(`a token with ${name}`, { scopes })),
  mint('a token of the other organization', { organizations: [OTHER_ORGANIZATION] }),
  mint('a token of the other organization with no scope', { organizations: [OTHER_ORGANIZATION], scopes: [] }),
  mint('an expired token', { expiresAt: '2026-03-02T11:59:59.999Z', fault: 'auth.token_expired' }),
  mint('an expired token with no scope', {
    expiresAt: '2020-01-01T00:00:00Z',
    fault: 'auth.token_expired',
    scopes: [],
  }),
  mint('a token that expires now', { expiresAt: '2026-03-02T12:00:00.000Z', fault: 'auth.token_expired' }),
  mint('a token that expires soon', { expiresAt: '2026-03-02T12:00:00.001Z' }),
  mint('a revoked token', { fault: 'auth.token_unknown' }),
  mint('a revoked token with no scope', { fault: 'auth.token_unknown', scopes: [] }),
];

function mint(name: string, more: Partial<Minted>): Minted {
  return { name, token: `token-of-${name.replaceAll(' ', '-')}`, organizations: [ORGANIZATION], scopes: ALL, ...more };
}

const CLIENTS = SCOPE_SETS.filter(([, scopes]) => scopes.length !== 1).map(([name, scopes]) => ({
  clientId: `client with ${name}`,
  clientSecret: `secret of ${name}`,
  organizations: [ORGANIZATION],
  scopes,
}));

/** Lines of the tokens and clients, for the import of the service that is tested. */
export function credentialLines() {
  return [
    ...MINTED.map(({ token, organizations, scopes, expiresAt }) => ({
      type: 'AccessToken',
      token,
      organizations,
      scopes,
      ...(expiresAt !== undefined && { expiresAt }),
    })),
    ...CLIENTS.map((client) => ({ type: 'ApiClient', ...client })),
  ];
}

const NOBODY = { organizations: [], scopes: [] };
const GOOD = MINTED[0]?.token ?? '';

/** Headers that hold no token that was ever issued. */
const HEADERS: readonly Credential[] = [
  { name: 'no header', fault: 'auth.token_missing', ...NOBODY },
  { name: 'an empty header', authorization: '', fault: 'auth.token_missing', ...NOBODY },
  ...[
    ['the token alone', GOOD],
    ['Basic', `Basic ${GOOD}`],
    ['Bearer alone', 'Bearer'],
    ['a comma', `Bearer,${GOOD}`],
    ['two tokens', `Bearer ${GOOD} ${GOOD}`],
    ['a letter beyond ASCII', `Bearer ${GOOD}\u00e9`],
  ].map(([what, authorization]) => ({
    name: `a malformed header: ${what}`,
    authorization: authorization ?? '',
    fault: 'auth.token_malformed',
    ...NOBODY,
  })),
  ...[
    ['nobody has', 'nosuch'],
    ['is one letter longer', `${GOOD}x`],
    ['is one letter shorter', GOOD.slice(0, -1)],
    ['is the hash of one', tokenHash(GOOD)],
    ['is the id of one', tokenHash(GOOD).slice(0, 12)],
    ['is a piece of SQL', `'OR'1'='1`],
    ['matches anything in a pattern', '%'],
  ].map(([what, token]) => ({
    name: `a token that ${what}`,
    authorization: `Bearer ${token}`,
    fault: 'auth.token_unknown',
    ...NOBODY,
  })),
];

/** Every credential that requests are tried with: revokes what is to be revoked, and lets the clients ask for theirs. */
export async function credentialsOf({ service, call }: TestService): Promise<Credential[]> {
  for (const { token, fault } of MINTED) {
    if (fault === 'auth.token_unknown') await revoke(service, tokenHash(token).slice(0, 12));
  }
  const rows = await listTokens(service.store.read);
  if (rows.length < MINTED.length - 2) throw new Error('Too many tokens were revoked.');
  const issued: Credential[] = [];
  for (const { clientId, clientSecret, organizations, scopes } of CLIENTS) {
    const { text } = await call('POST', '//oauth/client_credential/accesstoken', {
      token: null,
      organization: null,
      body: { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret },
    });
    const { access_token } = JSON.parse(text) as { access_token: string };
    issued.push({ name: `the token of a ${clientId}`, authorization: `Bearer ${access_token}`, organizations, scopes });
  }
  const minted = MINTED.map(({ token, ...known }) => ({ ...known, authorization: `Bearer ${token}` }));
  return [...HEADERS, ...minted, ...issued];
}
