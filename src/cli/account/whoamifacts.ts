import { SCOPES } from '../../catalog/scopes.ts';
import type { Credential } from '../../core/connection/credentials.ts';
import type { ConnectionSettings } from '../../core/connection/settings.ts';
import type { TokenFacts } from '../../core/connection/tokenfacts.ts';
import { momentText, spanText } from '../../core/count.ts';
import { clockAhead, type LastResponse, type RateLeft, rateLeft } from '../../core/doctor/lastresponse.ts';
import type { ProbeResult } from '../../core/doctor/probes.ts';
import { terminalText } from '../../core/output/terminaltext.ts';
import { labelled } from '../terminal/labelled.ts';

/** What `molar whoami` found out. Null stands for what nobody tells. */
export interface WhoamiFacts {
  readonly server: string;
  readonly serverSource: string | null;
  readonly organization: string;
  readonly organizationSource: string | null;
  readonly profile: string | null;
  readonly tokenSource: string;
  /** The config file, `keyring`, or null where molar keeps nothing. */
  readonly tokenKeptIn: string | null;
  /** Null for a token that was not got with client id and secret. */
  readonly clientId: string | null;
  /** UTC, ISO 8601. */
  readonly tokenExpires: string | null;
  /** As the token or the answer that gave it out says. */
  readonly tokenScopes: readonly string[] | null;
  /** What was tried: true where the token may. */
  readonly access: Readonly<Record<string, boolean>>;
  /** What the server said where the token may not. */
  readonly refusals: readonly string[];
  readonly rateLimit: { readonly left: number; readonly limit: number | null } | null;
  /** Seconds that this computer's clock is ahead of the server's, negative when behind. */
  readonly clockAhead: number | null;
}

interface Known {
  readonly settings: ConnectionSettings;
  readonly credential: Credential;
  readonly token: TokenFacts | undefined;
  readonly probed: readonly ProbeResult[];
  readonly heard: LastResponse | undefined;
}

export function whoamiFacts({ settings, credential, token, probed, heard }: Known): WhoamiFacts {
  const { baseUrl, organization, sources, profile } = settings;
  const rate = heard === undefined ? undefined : rateLeft(heard);
  return {
    server: baseUrl,
    serverSource: sources?.url ?? null,
    organization,
    organizationSource: sources?.organization ?? null,
    profile: profile?.name ?? null,
    tokenSource: credential.source,
    tokenKeptIn: placeOf(credential, settings),
    clientId: 'clientId' in credential ? (credential.clientId ?? null) : null,
    tokenExpires: token?.expiresAt === undefined ? null : new Date(token.expiresAt).toISOString(),
    tokenScopes: token?.scopes ?? null,
    access: Object.fromEntries(probed.map(({ scope, allowed }) => [scope, allowed])),
    refusals: probed.flatMap(({ failure }) => failure?.problems.map(({ description }) => description) ?? []),
    rateLimit: rate === undefined ? null : rateJson(rate),
    clockAhead: (heard === undefined ? undefined : clockAhead(heard)) ?? null,
  };
}

function rateJson({ left, limit }: RateLeft) {
  return { left, limit: limit ?? null };
}

function placeOf(credential: Credential, { profile }: ConnectionSettings): string | null {
  if (credential.kind === 'keyring') return 'keyring';
  const fromProfile = profile !== undefined && credential.source === `profile ${profile.name}`;
  return fromProfile && credential.kind !== 'command' ? profile.path : null;
}

const COLUMN = 14;

/** The facts for people; `now` in UTC milliseconds, `width` of the terminal. */
export function whoamiText(facts: WhoamiFacts, now: number, width?: number): string {
  const from = (source: string | null) => (source === null ? '' : ` (${source})`);
  const rows: [string, string | undefined][] = [
    ['Server', `${facts.server}${from(facts.serverSource)}`],
    ['Organization', `${facts.organization}${from(facts.organizationSource)}`],
    ['Token', `accepted by the server; from ${facts.tokenSource}`],
    ['Client id', facts.clientId ?? undefined],
    ['Kept in', facts.tokenKeptIn === 'keyring' ? 'the keyring of this system' : (facts.tokenKeptIn ?? undefined)],
    ['Expires', expiryText(facts, now)],
    ...scopeRows(facts),
    ...facts.refusals.map((refusal): [string, string] => ['Server says', refusal]),
    ['Rate limit', facts.rateLimit === null ? undefined : rateText(facts.rateLimit)],
    ['Clock', clockText(facts.clockAhead)],
  ];
  return rows
    .filter((row): row is [string, string] => row[1] !== undefined)
    .map(([name, value]) => labelled(name, terminalText(value), COLUMN, width))
    .join('');
}

function expiryText({ tokenExpires, clientId }: WhoamiFacts, now: number): string {
  const renewed = clientId === null ? '' : '; renewed by itself';
  if (tokenExpires === null) return `not told by the server or the token${renewed}`;
  const at = Date.parse(tokenExpires);
  return `${momentText(at)}, ${at > now ? `in ${spanText(at - now)}` : 'by its own account past'}${renewed}`;
}

/** What is told, and what was tried beside it: a server may see it otherwise than the token. */
function scopeRows({ tokenScopes, access }: WhoamiFacts): [string, string][] {
  const tried = SCOPES.map((scope) => `${scope} ${triedText(access[scope])}`).join(', ');
  if (tokenScopes === null) return [['Scopes', tried]];
  return [
    ['Scopes', tokenScopes.length === 0 ? 'none' : tokenScopes.join(' ')],
    ['Tried', tried],
  ];
}

function triedText(allowed: boolean | undefined): string {
  if (allowed === undefined) return 'not tried (it would write)';
  return allowed ? 'yes' : 'no';
}

function rateText({ left, limit }: NonNullable<WhoamiFacts['rateLimit']>): string {
  return `${left}${limit === null ? '' : ` of ${limit}`} requests left`;
}

function clockText(ahead: number | null): string | undefined {
  if (ahead === null) return undefined;
  if (Math.abs(ahead) <= 2) return "that of this computer agrees with the server's";
  return `that of this computer is ${spanText(Math.abs(ahead) * 1000)} ${ahead < 0 ? 'behind' : 'ahead of'} the server's`;
}
