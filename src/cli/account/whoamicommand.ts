import * as Flags from '@oclif/core/flags';
import { type Credential, findCredential } from '../../core/connection/credentials.ts';
import { type ConnectionSettings, readSettings } from '../../core/connection/settings.ts';
import type { TokenFacts } from '../../core/connection/tokenfacts.ts';
import { probeScopes } from '../../core/doctor/probes.ts';
import { reworded } from '../../core/failure.ts';
import { ApiFailure } from '../../core/transport/apifailure.ts';
import { Connections } from '../connections.ts';
import { connectionFlags, readConnectionFlags, talkFlags } from '../flags/connection.ts';
import { isOn } from '../flags/values.ts';
import { MolarCommand } from '../molarcommand.ts';
import { listening } from './listening.ts';
import { whoamiFacts, whoamiText } from './whoamifacts.ts';

export const whoamiFlags = { json: Flags.boolean({ summary: 'Print JSON' }), ...talkFlags, ...connectionFlags };

/** Says which server, organization and token are in use, never the token, and what the server thinks of it. */
export abstract class WhoamiCommand extends MolarCommand {
  override async run(): Promise<void> {
    const { flags } = await this.input();
    const { env, signal, clock } = this.context;
    const given = readConnectionFlags(flags);
    const settings = readSettings(given, env);
    const credential = findCredential(given, env, settings);
    const ear = listening(this.context);
    const connections = new Connections(ear.context, flags, this.config.userAgent, this.notes);
    let token: TokenFacts | undefined;
    connections.onToken = (latest) => {
      token = latest;
    };
    try {
      const probed = await probeScopes(await connections.client(), signal, clock.now()).catch((cause: unknown) => {
        throw withPlace(cause, settings, credential);
      });
      const facts = whoamiFacts({ settings, credential, token, probed, heard: ear.heard() });
      const { columns } = this.context.streams.stdout;
      const text = () => whoamiText(facts, clock.now(), columns);
      await this.print(isOn(flags, 'json') ? `${JSON.stringify(facts, null, 2)}\n` : text());
    } finally {
      await connections.close();
    }
  }
}

/** A refusal, with what was refused: it may not be what the user thinks is in use. */
function withPlace(cause: unknown, settings: ConnectionSettings, credential: Credential): unknown {
  if (!(cause instanceof ApiFailure)) return cause;
  const place = `Asked ${settings.baseUrl} for organization ${settings.organization} with the token of ${credential.source}.`;
  return reworded(cause, { message: `${cause.message} ${place}` });
}
