import { isOrganizationId } from '../../catalog/fields/composites.ts';
import { type Failure, localFailure, usageFailure } from '../failure.ts';
import { isLoopback } from '../transport/address.ts';

/** What the flags of a command say about the connection. */
export interface ConnectionFlags {
  readonly url?: string | undefined;
  readonly organization?: string | undefined;
  readonly tokenStdin?: boolean | undefined;
  readonly tokenFile?: string | undefined;
  readonly tokenCommand?: string | undefined;
  readonly allowHttp?: boolean | undefined;
  readonly caCert?: string | undefined;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where to, and as whom. Secrets are not here: they are read when they are needed (`credentials.ts`). */
export interface ConnectionSettings {
  /** What stands before `/api/v1`, without a slash at the end. */
  readonly baseUrl: string;
  readonly organization: string;
  readonly tokenUrl: string | undefined;
}

/** Flags beat the environment (contract §3). Throws a Failure with exit code 2 that names what is missing or wrong. */
export function readSettings(flags: ConnectionFlags, env: Environment): ConnectionSettings {
  const address = chosen(flags.url, '--url', env, 'MOLAR_URL');
  const baseUrl = readBaseUrl(address.text, address.source, flags.allowHttp === true);
  const organization = chosen(flags.organization, '--organization', env, 'MOLAR_ORGANIZATION');
  if (!isOrganizationId(organization.text)) {
    throw usageFailure(`${organization.source} must be 1 to 64 letters, digits, hyphens or underscores.`, {
      source: organization.source,
    });
  }
  const tokenUrl = env.MOLAR_TOKEN_URL || undefined;
  if (tokenUrl !== undefined) readUrl(tokenUrl, 'MOLAR_TOKEN_URL', flags.allowHttp === true);
  return { baseUrl, organization: organization.text, tokenUrl };
}

interface Chosen {
  readonly text: string;
  readonly source: string;
}

function chosen(flag: string | undefined, name: string, env: Environment, variable: string): Chosen {
  if (flag !== undefined && flag.trim() !== '') return { text: flag.trim(), source: name };
  const text = env[variable]?.trim();
  if (text !== undefined && text !== '') return { text, source: variable };
  throw localFailure('usage.connection', `${variable} is not set, and ${name} is not given.`, { source: name });
}

/** An address with `/api/v1` at its end is taken for the one before it. */
export function readBaseUrl(text: string, source: string, allowHttp: boolean): string {
  const url = readUrl(text, source, allowHttp);
  if (url.search !== '' || url.hash !== '') throw invalidUrl(source, 'must not have a query or a fragment');
  return (url.origin + url.pathname).replace(/\/+$/, '').replace(/\/api\/v1$/, '');
}

function readUrl(text: string, source: string, allowHttp: boolean): URL {
  if (!URL.canParse(text)) throw invalidUrl(source, 'is not a URL; write it like https://api.example.com');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw invalidUrl(source, 'must begin with https:// or http://');
  // The text itself is not repeated: it holds a password.
  if (url.username !== '' || url.password !== '') throw invalidUrl(source, 'must not hold a user name or password');
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
    const message = `${source} is plain http://, which would send the token unencrypted to ${url.host}.`;
    throw localFailure('usage.insecure', message, { source });
  }
  return url;
}

function invalidUrl(source: string, what: string): Failure {
  return usageFailure(`${source} ${what}.`, { source });
}
