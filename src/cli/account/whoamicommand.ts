import * as Flags from '@oclif/core/flags';
import { SCOPES } from '../../catalog/scopes.ts';
import { type Credential, findCredential } from '../../core/connection/credentials.ts';
import { type ConnectionSettings, readSettings } from '../../core/connection/settings.ts';
import { momentText, spanText } from '../../core/count.ts';
import { clockAhead, rateLeft } from '../../core/doctor/lastresponse.ts';
import { type ProbeResult, probeScopes } from '../../core/doctor/probes.ts';
import { reworded } from '../../core/failure.ts';
import { terminalText } from '../../core/output/terminaltext.ts';
import { ApiFailure } from '../../core/transport/apifailure.ts';
import { Connections, type Observed, observe } from '../connections.ts';
import { connectionFlags, readConnectionFlags, talkFlags } from '../flags/connection.ts';
import { isOn } from '../flags/values.ts';
import { MolarCommand } from '../molarcommand.ts';
import { labelled } from '../terminal/text.ts';

/** Says which server, organization and token are in use, never the token, and what the server thinks of it. */
export abstract class WhoamiCommand extends MolarCommand {
  static override flags = { json: Flags.boolean({ summary: 'Print JSON' }), ...talkFlags, ...connectionFlags };

  override async run(): Promise<void> {
    const { flags } = await this.input();
    const { env, signal, clock } = this.context;
    const given = readConnectionFlags(flags);
    const settings = readSettings(given, env);
    const credential = findCredential(given, env, settings);
    const connections = new Connections(this.context, flags, this.config.userAgent, this.notes);
    const observed = observe(connections, this.context);
    try {
      const probed = await probeScopes(await connections.client(), signal, clock.now()).catch((cause: unknown) => {
        throw withConnection(cause, settings, credential);
      });
      const facts = whoamiFacts({ settings, credential, probed, observed });
      const { columns } = this.context.streams.stdout;
      const text = () => whoamiText(facts, clock.now(), columns);
      await this.print(isOn(flags, 'json') ? `${JSON.stringify(facts, null, 2)}\n` : text());
    } finally {
      await connections.close();
    }
  }
}

/** A refusal, with the connection in use: it may not be the one that the user expects. */
function withConnection(cause: unknown, settings: ConnectionSettings, credential: Credential): unknown {
  if (!(cause instanceof ApiFailure)) return cause;
  const connection = `Asked ${settings.baseUrl} for organization ${settings.organization} with the token of ${credential.source}.`;
  return reworded(cause, { message: `${cause.message} ${connection}` });
}

interface Findings {
  readonly settings: ConnectionSettings;
  readonly credential: Credential;
  readonly probed: readonly ProbeResult[];
  readonly observed: Observed;
}

/** What `molar whoami` prints as JSON; null for what is unknown. */
function whoamiFacts({ settings, credential, probed, observed }: Findings) {
  const { baseUrl, organization, sources, profile } = settings;
  const { token, lastResponse } = observed;
  const rate = lastResponse && rateLeft(lastResponse);
  const access: Readonly<Record<string, boolean>> = Object.fromEntries(
    probed.map(({ scope, allowed }) => [scope, allowed]),
  );
  return {
    server: baseUrl,
    serverSource: sources?.url ?? null,
    organization,
    organizationSource: sources?.organization ?? null,
    profile: profile?.name ?? null,
    tokenSource: credential.source,
    tokenKeptIn: storeOf(credential, settings),
    clientId: 'clientId' in credential ? (credential.clientId ?? null) : null,
    tokenExpires: token?.expiresAt === undefined ? null : new Date(token.expiresAt).toISOString(),
    // What the token or the response that issued it claims; `access` is what probes found.
    tokenScopes: token?.scopes ?? null,
    access,
    refusals: probed.flatMap(({ failure }) => failure?.problems.map(({ description }) => description) ?? []),
    rateLimit: rate === undefined ? null : { left: rate.left, limit: rate.limit ?? null },
    clockAhead: (lastResponse && clockAhead(lastResponse)) ?? null,
  };
}

type WhoamiFacts = ReturnType<typeof whoamiFacts>;

/** The config file, `keyring`, or null where molar stores nothing. */
function storeOf(credential: Credential, { profile }: ConnectionSettings): string | null {
  if (credential.kind === 'keyring') return 'keyring';
  const fromProfile = profile !== undefined && credential.source === `profile ${profile.name}`;
  return fromProfile && credential.kind !== 'command' ? profile.path : null;
}

const COLUMN = 14;

/** The facts for people; `now` in UTC milliseconds, `width` of the terminal. */
function whoamiText(facts: WhoamiFacts, now: number, width?: number): string {
  const from = (source: string | null) => (source === null ? '' : ` (${source})`);
  const rows: [string, string | undefined][] = [
    ['Server', `${facts.server}${from(facts.serverSource)}`],
    ['Organization', `${facts.organization}${from(facts.organizationSource)}`],
    ['Token', `accepted by the server; from ${facts.tokenSource}`],
    ['Client id', facts.clientId ?? undefined],
    ['Stored in', facts.tokenKeptIn === 'keyring' ? 'the system keyring' : (facts.tokenKeptIn ?? undefined)],
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
  const renewed = clientId === null ? '' : '; renewed automatically';
  if (tokenExpires === null) return `unknown: neither the server nor the token says${renewed}`;
  const at = Date.parse(tokenExpires);
  return `${momentText(at)}, ${at > now ? `in ${spanText(at - now)}` : 'already past'}${renewed}`;
}

/** What the token claims, and what was tried beside it: the server may disagree. */
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
