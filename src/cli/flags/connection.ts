import type { ConnectionFlags } from '../../core/connection/settings.ts';
import { flagGroup } from './declare.ts';
import { type FlagValues, isOn, textFlag } from './values.ts';

const connection = flagGroup('CONNECTION');
const plain = flagGroup();

/** Flags of every command that talks to the API. None takes a secret: argument lists are open to others. */
export const connectionFlags = {
  url: connection.text('URL', 'Address before /api/v1 (MOLAR_URL)'),
  organization: connection.text('ID', 'Organization id (MOLAR_ORGANIZATION)'),
  profile: connection.text('NAME', 'Profile made by molar login (MOLAR_PROFILE)'),
  'token-stdin': connection.toggle('Read the token from standard input'),
  'token-file': connection.text('FILE', 'Read the token from a file'),
  'token-command': connection.text('COMMAND', 'Run a command that prints the token'),
  'allow-http': connection.toggle('Send the token over plain http:// to other machines too'),
  'ca-cert': connection.text('FILE', 'Trust the certificates in this PEM file as well'),
  'max-retries': connection.text('N', 'Retries after the first attempt, 5 when not given'),
};

/** Flags about what a command says on standard error. */
export const talkFlags = {
  quiet: plain.toggle('Print no notes, warnings or progress'),
  verbose: plain.toggle('Log every request to standard error, without its values'),
};

export function readConnectionFlags(flags: FlagValues): ConnectionFlags {
  return {
    url: textFlag(flags, 'url'),
    organization: textFlag(flags, 'organization'),
    profile: textFlag(flags, 'profile'),
    tokenStdin: isOn(flags, 'token-stdin'),
    tokenFile: textFlag(flags, 'token-file'),
    tokenCommand: textFlag(flags, 'token-command'),
    allowHttp: isOn(flags, 'allow-http'),
    caCert: textFlag(flags, 'ca-cert'),
  };
}
