import * as Flags from '@oclif/core/flags';
import type { Grant } from '../core/connection/clientcredentials.ts';
import { type Credential, findCredential } from '../core/connection/credentials.ts';
import { type ConnectionSettings, readSettings } from '../core/connection/settings.ts';
import { type Probed, probeScopes } from '../core/doctor/probes.ts';
import { Failure } from '../core/failure.ts';
import { ApiFailure } from '../core/transport/apifailure.ts';
import { connectionFlags, readConnectionFlags, talkFlags } from './flags/connection.ts';
import { isOn } from './flagvalues.ts';
import { MolarCommand } from './molarcommand.ts';

export const whoamiFlags = { json: Flags.boolean({ summary: 'Print JSON' }), ...talkFlags, ...connectionFlags };

/** Says which server, organization and token are in use, never the token, and what the server thinks of it. */
export abstract class WhoamiCommand extends MolarCommand {
  override async run(): Promise<void> {
    const { flags } = await this.input();
    const { env, signal } = this.context;
    const given = readConnectionFlags(flags);
    const settings = readSettings(given, env);
    const credential = findCredential(given, env, settings);
    const connections = this.connections(flags);
    let grant: Grant | undefined;
    connections.onGrant = (latest) => {
      grant = latest;
    };
    const probed = await probeScopes(await connections.client(), signal).catch((cause: unknown) => {
      throw withPlace(cause, settings, credential);
    });
    const facts = factsOf(settings, credential, grant, probed);
    await this.print(isOn(flags, 'json') ? `${JSON.stringify(facts, null, 2)}\n` : textOf(facts));
  }
}

/** A refusal, with what was refused: it may not be what the user thinks is in use. */
function withPlace(cause: unknown, settings: ConnectionSettings, credential: Credential): unknown {
  if (!(cause instanceof ApiFailure)) return cause;
  const place = `Asked ${settings.baseUrl} for organization ${settings.organization} with the token of ${credential.source}.`;
  const { code, exitCode, status, requestId, items, hint } = cause;
  return new Failure(`${cause.message} ${place}`, { code, exitCode, status, requestId, items, hint, cause });
}

interface Facts {
  readonly server: string;
  readonly serverSource: string | null;
  readonly organization: string;
  readonly organizationSource: string | null;
  readonly profile: string | null;
  readonly tokenSource: string;
  readonly tokenKeptIn: string | null;
  readonly tokenExpires: string | null;
  readonly tokenScopes: readonly string[] | null;
  /** What was tried: true where the token may. */
  readonly access: Readonly<Record<string, boolean>>;
}

function factsOf(
  settings: ConnectionSettings,
  credential: Credential,
  grant: Grant | undefined,
  probed: readonly Probed[],
): Facts {
  const { baseUrl, organization, sources, profile } = settings;
  const fromProfile = profile !== undefined && credential.source === `profile ${profile.name}`;
  return {
    server: baseUrl,
    serverSource: sources?.url ?? null,
    organization,
    organizationSource: sources?.organization ?? null,
    profile: profile?.name ?? null,
    tokenSource: credential.source,
    tokenKeptIn: fromProfile && credential.kind !== 'command' ? profile.path : null,
    tokenExpires: grant === undefined ? null : new Date(grant.expiresAt).toISOString(),
    tokenScopes: grant?.scopes ?? null,
    access: Object.fromEntries(probed.map(({ scope, allowed }) => [scope, allowed])),
  };
}

function textOf(facts: Facts): string {
  const from = (source: string | null) => (source === null ? '' : ` (${source})`);
  const kept = facts.tokenKeptIn === null ? '' : `, kept in ${facts.tokenKeptIn}`;
  const access = Object.entries(facts.access).map(([scope, allowed]) => `${scope} ${allowed ? 'yes' : 'no'}`);
  const lines = [
    ['Server', `${facts.server}${from(facts.serverSource)}`],
    ['Organization', `${facts.organization}${from(facts.organizationSource)}`],
    ['Token', `accepted; from ${facts.tokenSource}${kept}`],
    ['Expires', facts.tokenExpires ?? 'not known'],
    ['Scopes', facts.tokenScopes?.join(' ') ?? 'not told by the server'],
    ['Tried', `${access.join(', ')}; writing is not tried`],
  ];
  return lines.map(([name = '', value = '']) => `${name.padEnd(14)}${value}\n`).join('');
}
