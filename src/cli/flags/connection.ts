import * as Flags from '@oclif/core/flags';
import type { ConnectionFlags } from '../../core/connection/settings.ts';
import { type FlagValues, isOn, textFlag } from './values.ts';

const helpGroup = 'CONNECTION';

/** Flags of every command that talks to the API. None takes a secret: argument lists are open to others. */
export const connectionFlags = {
  url: Flags.string({ helpGroup, helpValue: 'URL', summary: 'Address before /api/v1 (MOLAR_URL)' }),
  organization: Flags.string({ helpGroup, helpValue: 'ID', summary: 'Organization id (MOLAR_ORGANIZATION)' }),
  profile: Flags.string({ helpGroup, helpValue: 'NAME', summary: 'Profile made by molar login (MOLAR_PROFILE)' }),
  'token-stdin': Flags.boolean({ helpGroup, summary: 'Read the token from standard input' }),
  'token-file': Flags.string({ helpGroup, helpValue: 'FILE', summary: 'Read the token from a file' }),
  'token-command': Flags.string({ helpGroup, helpValue: 'COMMAND', summary: 'Run a command that prints the token' }),
  'allow-http': Flags.boolean({ helpGroup, summary: 'Send the token over plain http:// to other machines too' }),
  'ca-cert': Flags.string({ helpGroup, helpValue: 'FILE', summary: 'Trust the certificates in this PEM file as well' }),
  'max-retries': Flags.string({
    helpGroup,
    helpValue: 'N',
    summary: 'Retries after the first attempt, 5 when not given',
  }),
};

/** Flags about what a command says on standard error. */
export const talkFlags = {
  quiet: Flags.boolean({ summary: 'Print no notes, warnings or progress' }),
  verbose: Flags.boolean({ summary: 'Log every request to standard error, without its values' }),
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
